//! A line to the server that can be cut, at the worst moment.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Passes bytes on until it is told otherwise.
pub struct Proxy {
    pub port: u16,
    control: Arc<ProxyControl>,
}

#[derive(Default)]
struct ProxyControl {
    /// Cut every connection once it has passed a COMMIT on, without waiting for the answer.
    cut_after_commit: AtomicBool,
    /// How often that was done.
    cuts: AtomicU64,
    /// Pass the next BEGIN on, and nothing of that connection after it.
    stall_after_begin: AtomicBool,
}

impl Proxy {
    /// A proxy to a port of this machine.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let control = Arc::new(ProxyControl::default());
        let shared = Arc::clone(&control);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", port))) else { continue };
                let control = Arc::clone(&shared);
                let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let control_back = Arc::clone(&control);
                std::thread::spawn(move || pass(client, server, Some(&control)));
                std::thread::spawn(move || {
                    let _ = control_back;
                    pass(from_server, to_client, None);
                });
            }
        });
        Self { port: own, control }
    }

    /// From the next COMMIT on, once: it reaches the server, and its answer reaches nobody.
    pub fn cut_after_next_commit(&self) {
        self.control.cut_after_commit.store(true, Ordering::SeqCst);
    }

    /// From the next BEGIN on, once: it reaches the server, and nothing after it does.
    pub fn stall_after_next_begin(&self) {
        self.control.stall_after_begin.store(true, Ordering::SeqCst);
    }

    /// Whether that has happened.
    pub fn has_stalled(&self) -> bool {
        !self.control.stall_after_begin.load(Ordering::SeqCst)
    }

    /// How many answers were lost.
    pub fn cuts(&self) -> u64 {
        self.control.cuts.load(Ordering::SeqCst)
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, control: Option<&ProxyControl>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        let commits = control.is_some_and(|control| {
            bytes.windows(7).any(|w| w == b"COMMIT\0") && control.cut_after_commit.swap(false, Ordering::SeqCst)
        });
        if commits {
            // The way back first, so that no answer slips through.
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.write_all(bytes);
            if let Some(control) = control {
                control.cuts.fetch_add(1, Ordering::SeqCst);
            }
            // The server reads the COMMIT before it sees the end.
            let _ = to.shutdown(Shutdown::Write);
            let mut rest = Vec::new();
            let _ = to.read_to_end(&mut rest);
            return;
        }
        if to.write_all(bytes).is_err() {
            break;
        }
        if control.is_some_and(|control| {
            bytes.windows(6).any(|w| w == b"BEGIN;") && control.stall_after_begin.swap(false, Ordering::SeqCst)
        }) {
            // Nobody reads what comes now; the way back ends the connection when the server does.
            return std::mem::forget((from, to));
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
