//! Where are the hosts, as a resolver is told?
//!
//! Just enough of RFC 1035 over UDP: an address for each `hNNNN.test` of the web, none for anything else, and no more than
//! one question a message.

use crate::naming::{address, named};
use crate::{Error, Web};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

const HEAD: usize = 12;
const TYPE_A: [u8; 2] = [0, 1];
const CLASS_IN: [u8; 2] = [0, 1];
const NO_ERROR: u8 = 0;
const FORMAT_ERROR: u8 = 1;
const NO_SUCH_NAME: u8 = 3;
const NOT_IMPLEMENTED: u8 = 4;

#[derive(Debug, Default)]
struct State {
    stopped: AtomicBool,
    queries: AtomicU64,
}

/// A running responder; it stops when it is dropped.
#[derive(Debug)]
pub struct Dns {
    addr: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Dns {
    /// Answer for the hosts of a web, on loopback.
    pub fn spawn(web: &Arc<Web>) -> Result<Self, Error> {
        let listen = |source| Error::Listen { addr: "127.0.0.1:0 (UDP)".into(), source };
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(listen)?;
        let addr = socket.local_addr().map_err(listen)?;
        let state = Arc::new(State::default());
        let (web, shared) = (Arc::clone(web), Arc::clone(&state));
        let thread = std::thread::Builder::new()
            .name("testweb-dns".into())
            .spawn(move || run(&socket, &web, &shared))
            .map_err(Error::Thread)?;
        Ok(Self { addr, state, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// How many questions it has answered.
    pub fn queries(&self) -> u64 {
        self.state.queries.load(Ordering::Relaxed)
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        // Any message wakes the thread.
        let woken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.send_to(&[0], self.addr));
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

fn run(socket: &UdpSocket, web: &Web, state: &State) {
    let mut buffer = [0; 1_500];
    while !state.stopped.load(Ordering::Relaxed) {
        // An error here is that of an earlier answer nobody waited for.
        let Ok((length, peer)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        if let Some(answer) = answer(web, &buffer[..length]) {
            state.queries.fetch_add(1, Ordering::Relaxed);
            let _ = socket.send_to(&answer, peer);
        }
    }
}

/// The answer to a message; none where it is no question at all.
fn answer(web: &Web, message: &[u8]) -> Option<Vec<u8>> {
    let head = message.get(..HEAD)?;
    if head[2] & 0x80 != 0 {
        return None;
    }
    if head[2] & 0x78 != 0 {
        return Some(reply(head, &[], NOT_IMPLEMENTED, None));
    }
    let Some((name, question)) = question(message).filter(|_| head[4..6] == [0, 1]) else {
        return Some(reply(head, &[], FORMAT_ERROR, None));
    };
    let Some(host) = named(&name).filter(|host| *host < web.hosts()) else {
        return Some(reply(head, question, NO_SUCH_NAME, None));
    };
    let asked = &question[question.len() - 4..];
    let wanted = asked[..2] == TYPE_A && asked[2..] == CLASS_IN;
    let found = address(host / web.spec().hosts_per_ip);
    Some(reply(head, question, NO_ERROR, wanted.then_some(found)))
}

/// The name asked for, and the bytes of the question.
fn question(message: &[u8]) -> Option<(String, &[u8])> {
    let (mut name, mut at) = (String::new(), HEAD);
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        // Labels are shorter than 64; a question has no reason to be compressed.
        let label = message.get(at..at + length).filter(|_| length < 64)?;
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(std::str::from_utf8(label).ok()?);
        at += length;
    }
    Some((name, message.get(HEAD..at + 4)?))
}

fn reply(head: &[u8], question: &[u8], code: u8, found: Option<Ipv4Addr>) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + question.len() + 16);
    out.extend_from_slice(&head[..2]);
    // An answer, authoritative, recursion as desired and available.
    out.extend([0x84 | (head[2] & 1), 0x80 | code]);
    out.extend([0, u8::from(!question.is_empty()), 0, u8::from(found.is_some()), 0, 0, 0, 0]);
    out.extend_from_slice(question);
    if let Some(found) = found {
        // The name is that of the question, at offset 12; an hour to live.
        out.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4]);
        out.extend(found.octets());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use proptest::prelude::*;

    fn query(name: &str, kind: u8) -> Vec<u8> {
        let mut out = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            out.push(label.len() as u8);
            out.extend(label.as_bytes());
        }
        out.extend([0, 0, kind, 0, 1]);
        out
    }

    fn web(hosts_per_ip: u32) -> Arc<Web> {
        Web::new(Spec { hosts: 10, hosts_per_ip, ..Spec::default() }).unwrap()
    }

    #[test]
    fn a_host_has_its_address() {
        let reply = answer(&web(1), &query("h0007.TEST", 1)).unwrap();
        assert_eq!((reply[..2].to_vec(), reply[3] & 15), (vec![0xab, 0xcd], NO_ERROR));
        assert_eq!(reply[reply.len() - 4..], [127, 0, 0, 8]);
        let shared = answer(&web(4), &query("h0007.test", 1)).unwrap();
        assert_eq!(shared[shared.len() - 4..], [127, 0, 0, 2]);
    }

    #[test]
    fn other_names_are_unknown_and_other_types_empty() {
        assert_eq!(answer(&web(1), &query("h0010.test", 1)).unwrap()[3] & 15, NO_SUCH_NAME);
        assert_eq!(answer(&web(1), &query("example.com", 1)).unwrap()[3] & 15, NO_SUCH_NAME);
        let other = answer(&web(1), &query("h0007.test", 28)).unwrap();
        assert_eq!((other[3] & 15, other[7]), (NO_ERROR, 0));
    }

    #[test]
    fn the_responder_answers_over_udp_and_stops() {
        let dns = Dns::spawn(&web(1)).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&query("h0000.test", 1), dns.addr()).unwrap();
        let mut buffer = [0; 512];
        let length = socket.recv(&mut buffer).unwrap();
        assert_eq!((&buffer[length - 4..length], dns.queries()), (&[127, 0, 0, 1][..], 1));
    }

    proptest! {
        #[test]
        fn any_message_is_survived(message in proptest::collection::vec(any::<u8>(), 0..64)) {
            answer(&web(1), &message);
        }
    }
}
