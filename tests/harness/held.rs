//! How can a server keep its clients waiting until a test releases them?

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// How it keeps them waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It does not respond.
    Silent,
    /// It responds byte by byte.
    Dripping,
}

/// A page is so long that no test can wait for its last byte.
const LENGTH: usize = 100_000;
/// The time per byte.
const DROP: Duration = Duration::from_millis(20);

/// Such a server, until it is dropped.
pub(crate) struct HeldSite {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    manner: Manner,
    released: Mutex<bool>,
    change: Condvar,
    closing: AtomicBool,
    asked: AtomicUsize,
    answered: AtomicUsize,
}

impl HeldSite {
    /// Serves pages at any path, and no robots.txt.
    pub(crate) fn serve(manner: Manner) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            manner,
            released: Mutex::new(false),
            change: Condvar::new(),
            closing: AtomicBool::new(false),
            asked: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.closing.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                // A client may disconnect at any time.
                std::thread::spawn(move || drop(shared.talk(&stream)));
            }
        });
        Self { address, shared }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Number of page requests.
    pub(crate) fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::Acquire)
    }

    /// Number of complete responses.
    pub(crate) fn answered(&self) -> usize {
        self.shared.answered.load(Ordering::Acquire)
    }

    /// Releases everyone, now and from now on.
    pub(crate) fn release(&self) {
        *self.shared.released.lock().unwrap() = true;
        self.shared.change.notify_all();
    }
}

impl Drop for HeldSite {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        self.release();
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn talk(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        loop {
            let (mut first, mut line) = (String::new(), String::new());
            if reader.read_line(&mut first)? == 0 {
                return Ok(());
            }
            while line != "\r\n" {
                line.clear();
                if reader.read_line(&mut line)? == 0 {
                    return Ok(());
                }
            }
            if first.contains(" /robots.txt ") {
                stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
                continue;
            }
            self.asked.fetch_add(1, Ordering::AcqRel);
            self.answer(stream)?;
            self.answered.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn answer(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {LENGTH}\r\n\r\n");
        if self.manner == Manner::Silent {
            drop(self.change.wait_while(self.released.lock().unwrap(), |released| !*released).unwrap());
        }
        stream.write_all(head.as_bytes())?;
        let mut left = LENGTH;
        let mut released = self.released.lock().unwrap();
        while !*released && left > 1 {
            drop(released);
            stream.write_all(b" ")?;
            left -= 1;
            released = self.change.wait_timeout(self.released.lock().unwrap(), DROP).unwrap().0;
        }
        drop(released);
        stream.write_all(&vec![b' '; left])
    }
}
