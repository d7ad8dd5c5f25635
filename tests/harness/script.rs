//! How does a server say exactly what a test tells it to, and log every request?

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A request as received.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    /// The request target.
    pub(crate) target: String,
    /// All lines, the request line first.
    pub(crate) lines: Vec<String>,
    /// The request body.
    pub(crate) body: Vec<u8>,
}

impl Heard {
    /// The value of a header field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let fields = self.lines.iter().skip(1).filter_map(|line| line.split_once(": "));
        fields.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The requested host, without its port.
    pub(crate) fn host(&self) -> &str {
        self.field("host").unwrap_or_default().rsplit_once(':').map_or("", |(host, _)| host)
    }
}

type Answer = dyn Fn(&Heard) -> Vec<u8> + Send + Sync;

/// The server, until it is dropped.
pub(crate) struct Script {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    answer: Box<Answer>,
    heard: Mutex<Vec<Heard>>,
    accepted: AtomicUsize,
    closing: AtomicBool,
}

impl Script {
    /// Answers every request with the bytes that `answer` returns, on all loopback addresses.
    pub(crate) fn serve(answer: impl Fn(&Heard) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            answer: Box::new(answer),
            heard: Mutex::default(),
            accepted: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.closing.load(Ordering::Relaxed) {
                    return;
                }
                accepting.accepted.fetch_add(1, Ordering::SeqCst);
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.talk(&stream));
            }
        });
        Self { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), shared }
    }

    /// A site of two pages, the first of which links to the second.
    pub(crate) fn of_two_pages() -> Self {
        Self::serve(|heard| match heard.target.as_str() {
            "/" => page(["/a"]),
            "/a" => page(["/"; 0]),
            _ => absent(),
        })
    }

    /// A site of two pages that link to each other, whose server speaks no HTTP until it is up.
    pub(crate) fn down_at_first() -> (Self, Arc<AtomicBool>) {
        let is_up = Arc::new(AtomicBool::new(false));
        let up = Arc::clone(&is_up);
        let site = Self::serve(move |heard| match heard.target.as_str() {
            "/robots.txt" => absent(),
            _ if !up.load(Ordering::SeqCst) => b"no HTTP at all\r\n\r\n".to_vec(),
            "/" => page(["/a"]),
            "/a" => page(["/"]),
            _ => absent(),
        });
        (site, is_up)
    }

    /// The port it listens at.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// All requests so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap().clone()
    }

    /// Total number of connections.
    pub(crate) fn connections(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn talk(&self, mut stream: &TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut reader = BufReader::new(stream);
        loop {
            let lines: Vec<String> =
                (&mut reader).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let Some(target) = lines.first().and_then(|first| first.split(' ').nth(1)) else { return };
            let mut heard = Heard { target: target.to_owned(), lines, body: Vec::new() };
            if let Some(length) = heard.field("content-length").and_then(|text| text.parse().ok()) {
                heard.body = vec![0; length];
                if reader.read_exact(&mut heard.body).is_err() {
                    return;
                }
            }
            self.heard.lock().unwrap().push(heard.clone());
            if stream.write_all(&(self.answer)(&heard)).is_err() {
                return;
            }
        }
    }
}

/// A response with a status line, header lines (each with its line ending) and a body.
pub(crate) fn reply(status: &str, fields: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A page of HTML with these links.
pub(crate) fn page<S: AsRef<str>>(links: impl IntoIterator<Item = S>) -> Vec<u8> {
    let links: String = links.into_iter().map(|link| format!("<a href=\"{}\">x</a>\n", link.as_ref())).collect();
    reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html><title>t</title>{links}"))
}

/// A 404 response.
pub(crate) fn absent() -> Vec<u8> {
    reply("404 Not Found", "", "")
}

/// A redirect.
pub(crate) fn moved(to: &str) -> Vec<u8> {
    reply("302 Found", &format!("Location: {to}\r\n"), "")
}
