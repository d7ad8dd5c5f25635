//! How is a directory served as a web site?
//!
//! A minimal static server on loopback: a thread per connection, HTTP/1.1 with keep-alive. A
//! directory is its `index.html`, and a directory without its slash is a redirect. Requests are
//! logged.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Media types by extension, as Debian's servers give them.
const TYPES: &[(&str, &str)] = &[
    ("html", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("txt", "text/plain"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("gif", "image/gif"),
    ("ico", "image/vnd.microsoft.icon"),
    ("xml", "application/xml"),
];

/// A server of files, until it is dropped.
pub(crate) struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    root: PathBuf,
    asked: Mutex<BTreeMap<String, usize>>,
    closing: AtomicBool,
}

impl Site {
    /// Serves a directory at a free port.
    pub(crate) fn serve(root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|error| {
            panic!("{}: {error}; `cargo xtask setup` installs what tests need", root.display())
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { root, asked: Mutex::default(), closing: AtomicBool::new(false) });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.closing.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.talk(&stream));
            }
        });
        Self { address, shared }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests since the last call, with their counts.
    pub(crate) fn take_asked(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.shared.asked.lock().unwrap())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    /// Serves one connection until either side closes it.
    fn talk(&self, stream: &TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut reader = BufReader::new(stream);
        while let Some((method, target)) = read_request(&mut reader) {
            *self.asked.lock().unwrap().entry(target.clone()).or_default() += 1;
            if self.answer(stream, &method, &target).is_err() {
                return;
            }
        }
    }

    fn answer(&self, stream: &TcpStream, method: &str, target: &str) -> std::io::Result<()> {
        let path = decoded(target.split('?').next().unwrap_or_default());
        let file = self.root.join(path.trim_start_matches('/'));
        if path.split('/').any(|part| part == "..") || !file.exists() {
            return send(stream, "404 Not Found", "Content-Type: text/html\r\n", method, b"<h1>Not Found</h1>\n");
        }
        if file.is_dir() && !path.ends_with('/') {
            let location = format!("Location: {target}/\r\n");
            return send(stream, "301 Moved Permanently", &location, method, b"");
        }
        let file = if file.is_dir() { file.join("index.html") } else { file };
        match fs::read(&file) {
            Ok(body) => send(stream, "200 OK", &format!("Content-Type: {}\r\n", media_type(&file)), method, &body),
            Err(_) => send(stream, "404 Not Found", "Content-Type: text/html\r\n", method, b"<h1>No index</h1>\n"),
        }
    }
}

/// Method and target of the next request; `None` at the end, or if it is not a request.
fn read_request(reader: &mut impl BufRead) -> Option<(String, String)> {
    let mut lines = reader.lines().map_while(Result::ok);
    let first = lines.next()?;
    lines.by_ref().find(String::is_empty)?;
    let mut words = first.split(' ').map(str::to_owned);
    Some((words.next()?, words.next()?))
}

fn send(mut stream: &TcpStream, status: &str, headers: &str, method: &str, body: &[u8]) -> std::io::Result<()> {
    let mut answer = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    if method != "HEAD" {
        answer.extend_from_slice(body);
    }
    stream.write_all(&answer)
}

fn media_type(file: &Path) -> &'static str {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    TYPES.iter().find(|(known, _)| *known == ending).map_or("application/octet-stream", |(_, media_type)| media_type)
}

/// Percent-decodes a path.
pub(crate) fn decoded(path: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((byte, tail)) = rest.split_first() {
        let hex = (*byte == b'%').then(|| tail.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                out.push(value);
                rest = &tail[2..];
            }
            None => {
                out.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
