//! Which addresses do the hosts have, according to the DNS?
//!
//! Just enough of RFC 1035 over UDP: an address for each `hNNNN.test` of the web and NXDOMAIN for
//! anything else, or whatever a test says; one question per message.

use crate::naming::{address, named};
use crate::{Error, Web};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

const HEAD: usize = 12;
const TYPE_A: u8 = 1;
const TYPE_AAAA: u8 = 28;
const CLASS_IN: [u8; 2] = [0, 1];
/// TTL of a web's addresses: an hour.
const HOUR: u32 = 3_600;
const NO_ERROR: u8 = 0;
const FORMAT_ERROR: u8 = 1;
const NO_SUCH_NAME: u8 = 3;
const NOT_IMPLEMENTED: u8 = 4;

/// Returns the addresses of a lower-case name; `None` if it does not exist.
type Book = dyn Fn(&str) -> Option<Vec<IpAddr>> + Send;

#[derive(Debug, Default)]
struct DnsState {
    stopped: AtomicBool,
    queries: AtomicU64,
}

/// A running name server; it stops when dropped.
#[derive(Debug)]
pub struct Dns {
    addr: SocketAddr,
    state: Arc<DnsState>,
    thread: Option<JoinHandle<()>>,
}

impl Dns {
    /// Serves the hosts of a web, on loopback.
    pub fn spawn(web: &Arc<Web>) -> Result<Self, Error> {
        Self::start(of_web(web), HOUR)
    }

    /// Serves what a test says, on loopback: the addresses of a lower-case name, or `None` if it
    /// does not exist. The TTL is 0.
    pub fn answering(book: impl Fn(&str) -> Option<Vec<IpAddr>> + Send + 'static) -> Result<Self, Error> {
        Self::start(Box::new(book), 0)
    }

    fn start(book: Box<Book>, ttl: u32) -> Result<Self, Error> {
        let listen = |source| Error::Listen { addr: "127.0.0.1:0 (UDP)".into(), source };
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(listen)?;
        let addr = socket.local_addr().map_err(listen)?;
        let state = Arc::new(DnsState::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("testweb-dns".into())
            .spawn(move || run(&socket, &*book, ttl, &shared))
            .map_err(Error::Thread)?;
        Ok(Self { addr, state, thread: Some(thread) })
    }

    /// Its address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Number of queries answered.
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

/// The hosts of a web.
fn of_web(web: &Arc<Web>) -> Box<Book> {
    let web = Arc::clone(web);
    Box::new(move |name| {
        let host = named(name).filter(|host| *host < web.hosts())?;
        Some(vec![IpAddr::V4(address(host / web.spec().hosts_per_ip))])
    })
}

fn run(socket: &UdpSocket, book: &Book, ttl: u32, state: &DnsState) {
    let mut buffer = [0; 1_500];
    while !state.stopped.load(Ordering::Relaxed) {
        // An error here belongs to an earlier response that nobody waited for.
        let Ok((length, peer)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        if let Some(answer) = answer(book, ttl, &buffer[..length]) {
            state.queries.fetch_add(1, Ordering::Relaxed);
            let _ = socket.send_to(&answer, peer);
        }
    }
}

/// The response to a message; `None` if it is not a query.
fn answer(book: &Book, ttl: u32, message: &[u8]) -> Option<Vec<u8>> {
    let head = message.get(..HEAD)?;
    if head[2] & 0x80 != 0 {
        return None;
    }
    if head[2] & 0x78 != 0 {
        return Some(reply(head, &[], NOT_IMPLEMENTED, &[]));
    }
    let Some((name, question)) = question(message).filter(|_| head[4..6] == [0, 1]) else {
        return Some(reply(head, &[], FORMAT_ERROR, &[]));
    };
    let Some(found) = book(&name.to_ascii_lowercase()) else {
        return Some(reply(head, question, NO_SUCH_NAME, &[]));
    };
    let records: Vec<Vec<u8>> = match question[question.len() - 4..] {
        [0, kind, high, low] if [high, low] == CLASS_IN => {
            found.iter().filter(|ip| kind == kind_of(**ip)).map(|ip| record(*ip, ttl)).collect()
        }
        _ => Vec::new(),
    };
    Some(reply(head, question, NO_ERROR, &records))
}

fn kind_of(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { TYPE_A } else { TYPE_AAAA }
}

/// One address record; the name points to the question, at offset 12.
fn record(ip: IpAddr, ttl: u32) -> Vec<u8> {
    let octets = match ip {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    let mut out = vec![0xc0, 12, 0, kind_of(ip), CLASS_IN[0], CLASS_IN[1]];
    out.extend(ttl.to_be_bytes());
    out.extend([0, if ip.is_ipv4() { 4 } else { 16 }]);
    out.extend(octets);
    out
}

/// The queried name, and the bytes of the question.
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

fn reply(head: &[u8], question: &[u8], code: u8, records: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + question.len() + 16);
    out.extend_from_slice(&head[..2]);
    // A response, authoritative, with recursion as desired and available.
    out.extend([0x84 | (head[2] & 1), 0x80 | code]);
    let count = u8::try_from(records.len()).unwrap_or(u8::MAX);
    out.extend([0, u8::from(!question.is_empty()), 0, count, 0, 0, 0, 0]);
    out.extend_from_slice(question);
    records.iter().take(count.into()).for_each(|record| out.extend_from_slice(record));
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

    fn answer(web: &Arc<Web>, message: &[u8]) -> Option<Vec<u8>> {
        super::answer(&*of_web(web), HOUR, message)
    }

    #[test]
    fn a_name_has_the_addresses_a_test_gives_it() {
        let book =
            |_: &str| Some(vec!["9.9.9.9".parse().unwrap(), "::1".parse().unwrap(), "10.0.0.1".parse().unwrap()]);
        let reply = super::answer(&book, 0, &query("any.name", 1)).unwrap();
        assert_eq!((reply[7], &reply[reply.len() - 4..]), (2, &[10, 0, 0, 1][..]));
        let reply = super::answer(&book, 0, &query("any.name", 28)).unwrap();
        assert_eq!((reply[7], &reply[reply.len() - 18..reply.len() - 15]), (1, &[0, 16, 0][..]));
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
