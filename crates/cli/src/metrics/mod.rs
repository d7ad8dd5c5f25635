//! Who tells a monitoring system how a crawl is going?
//!
//! `--metrics ADDR` serves `GET /metrics` in Prometheus' text format while the crawl runs, and
//! nothing else. It is a minimal HTTP server: a thread per connection, few of them at once, each
//! with a deadline, so that no slow or silent client can block it or make it grow. It reads the
//! crawl's [`Progress`] and touches nothing else.

mod exposition;

use crate::failure::CommandFailure;
use anyhow::Context as _;
use orb_crawl::Progress;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Maximum concurrent connections; more are closed at once.
const AT_ONCE: usize = 8;

/// Maximum duration of a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum length of a request head.
const LARGEST_HEAD: usize = 8 * 1024;

/// Binds the address, before anything else is done: if that fails, no crawl is started.
pub(crate) fn listen(address: &str) -> Result<TcpListener, CommandFailure> {
    let at = read_address(address)?;
    TcpListener::bind(at).with_context(|| format!("cannot serve metrics on {at}")).map_err(CommandFailure::from)
}

/// `PORT` or `:PORT` on loopback, or `ADDR:PORT`.
fn read_address(text: &str) -> Result<SocketAddr, CommandFailure> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        CommandFailure::Usage(format!("'{text}' is not an address for --metrics; write it like 9100 or 127.0.0.1:9100"))
    })
}

/// Serves the listener until the process ends.
pub(crate) fn serve(listener: TcpListener, project: &str, progress: Arc<Progress>) -> io::Result<()> {
    let (project, open) = (Arc::<str>::from(project), Arc::new(AtomicUsize::new(0)));
    let accept = move || {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // Most likely out of file descriptors: the crawl needs them more than we do.
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            };
            if open.fetch_add(1, Ordering::Relaxed) >= AT_ONCE {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (project, progress, seat) = (Arc::clone(&project), Arc::clone(&progress), Seat(Arc::clone(&open)));
            let answer = move || {
                // A client that disconnects or dawdles is its own concern.
                let _ = attend(&stream, &project, &progress);
                drop(seat);
            };
            // If no thread can be started the closure is dropped, and the connection with it.
            let _ = std::thread::Builder::new().name("metrics".into()).spawn(answer);
        }
    };
    std::thread::Builder::new().name("metrics".into()).spawn(accept).map(drop)
}

/// One of the concurrent connections.
struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads one request and responds.
fn attend(stream: &TcpStream, project: &str, progress: &Progress) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    let head = read_head(stream, end)?;
    let (status, body) = answer(&head, project, progress);
    let kind = if status.starts_with("200") { "text/plain; version=0.0.4; charset=utf-8" } else { "text/plain" };
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let length = body.len();
    let mut message = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}Connection: close\r\n\r\n"
    );
    if !head.starts_with("HEAD ") {
        message.push_str(&body);
    }
    write_all(stream, message.as_bytes(), end)
}

fn answer(head: &str, project: &str, progress: &Progress) -> (&'static str, String) {
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match (method, target.split('?').next().unwrap_or_default()) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", exposition::page(project, progress)),
        ("GET" | "HEAD", _) => ("404 Not Found", "only /metrics is here\n".to_owned()),
        (method, _) if !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase()) => {
            ("405 Method Not Allowed", "only GET is understood\n".to_owned())
        }
        _ => ("400 Bad Request", "that is no HTTP\n".to_owned()),
    }
}

/// The first line of a request, once its complete head has arrived.
fn read_head(mut stream: &TcpStream, end: Instant) -> io::Result<String> {
    let mut head = Vec::new();
    let mut piece = [0; 1_024];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if head.len() >= LARGEST_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.set_read_timeout(Some(left(end)?))?;
        match stream.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => head.extend_from_slice(&piece[..n]),
        }
    }
    let line = head.split(|b| *b == b'\r').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}

fn write_all(mut stream: &TcpStream, mut bytes: &[u8], end: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(end)?))?;
        let written = stream.write(bytes)?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// The remaining time, which must be positive.
fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_on_loopback_or_written_whole() {
        let read = |text| read_address(text).map(|a| a.to_string()).ok();
        assert_eq!(read("9100").as_deref(), Some("127.0.0.1:9100"));
        assert_eq!(read(":9100").as_deref(), Some("127.0.0.1:9100"));
        assert_eq!(read("0.0.0.0:80").as_deref(), Some("0.0.0.0:80"));
        assert_eq!(read("[::1]:80").as_deref(), Some("[::1]:80"));
        for wrong in ["", "99999", "9100x", "127.0.0.1", "127.0.0.1:", "1:2:3:4"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_one_page_is_there_and_only_to_be_read() {
        let progress = Progress::default();
        let status = |head| answer(head, "p", &progress).0;
        assert_eq!(status("GET /metrics HTTP/1.1"), "200 OK");
        assert_eq!(status("GET /metrics?x=1 HTTP/1.1"), "200 OK");
        assert_eq!(status("GET / HTTP/1.1"), "404 Not Found");
        assert_eq!(status("GET /metrics/../etc HTTP/1.1"), "404 Not Found");
        assert_eq!(status("POST /metrics HTTP/1.1"), "405 Method Not Allowed");
        assert_eq!(status("\u{16}\u{3}\u{1}"), "400 Bad Request");
        assert_eq!(status(""), "400 Bad Request");
    }
}
