//! What does one request cost, and what would it cost through hyper with a tee below its parser?
//!
//! `cargo run --release -p orb-fetch --example cost [REQUESTS] [BYTES]` fetches a page over
//! keep-alive connections from a responder on its own thread and prints the CPU time of the
//! client's thread per request, the two clients taking turns. Loopback charges the sender for part
//! of the receiver's work; both pay it alike.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that cannot be taken may end at once")]

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use orb_fetch::{FetchConfig, Fetchers, Unwatched};
use orb_page::Lease;
use rustix::time::{ClockId, clock_gettime};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap());
    let (requests, size) = (numbers.next().unwrap_or(20_000), numbers.next().unwrap_or(20_000));
    let addr = respond(size);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for lanes in [1, 16] {
        for _ in 0..3 {
            let ours = measure(requests, || runtime.block_on(LocalSet::new().run_until(ours(addr, requests, lanes))));
            let theirs =
                measure(requests, || runtime.block_on(LocalSet::new().run_until(hyper(addr, requests, lanes))));
            println!("{lanes:>2} at a time, {size} bytes: ours {ours}, hyper with a tee {theirs}");
        }
    }
}

/// A thread per connection that answers every request with the same bytes.
fn respond(size: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: x\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/html; charset=utf-8\r\n\
         Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"abc\"\r\nVary: Accept-Encoding\r\nContent-Length: {size}\r\n\r\n"
    );
    let answer = Arc::new([head.into_bytes(), vec![b'x'; size]].concat());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer, mut head) = (stream.unwrap(), answer.clone(), [0; 4096]);
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                while stream.read(&mut head).is_ok_and(|n| n > 0) && stream.write_all(&answer).is_ok() {}
            });
        }
    });
    addr
}

/// Microseconds of this thread's CPU time and of wall time per request.
fn measure(requests: usize, work: impl FnOnce()) -> String {
    let cpu = || {
        let t = clock_gettime(ClockId::ThreadCPUTime);
        t.tv_sec as f64 * 1e6 + t.tv_nsec as f64 / 1e3
    };
    let (before, start) = (cpu(), Instant::now());
    work();
    let each = |us: f64| us / requests as f64;
    format!("{:.1} µs CPU ({:.1} µs)", each(cpu() - before), each(start.elapsed().as_secs_f64() * 1e6))
}

async fn ours(addr: SocketAddr, requests: usize, lanes: usize) {
    let config = FetchConfig { per_host: lanes, private_hosts: vec!["127.0.0.1".to_owned()], ..FetchConfig::default() };
    let fetcher = Arc::new(Fetchers::new(config).unwrap());
    let tasks: Vec<_> = (0..lanes)
        .map(|_| {
            let (fetcher, lease) = (fetcher.clone(), lease(addr));
            tokio::task::spawn_local(async move {
                for _ in 0..requests / lanes {
                    let response = fetcher.fetch(&lease, &Unwatched).await.result.unwrap();
                    assert_eq!((response.status, response.truncated), (200, None));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

fn lease(addr: SocketAddr) -> Lease {
    Lease { addr: Some(addr.ip()), ..Lease::plain(format!("http://{addr}/some/page.html")) }
}

async fn hyper(addr: SocketAddr, requests: usize, lanes: usize) {
    let tasks: Vec<_> = (0..lanes)
        .map(|_| {
            tokio::task::spawn_local(async move {
                let tcp = TcpStream::connect(addr).await.unwrap();
                tcp.set_nodelay(true).unwrap();
                let heard = Arc::new(Mutex::new(Vec::with_capacity(32 * 1024)));
                let (mut send, connection) = handshake(TokioIo::new(Tee { tcp, heard: heard.clone() })).await.unwrap();
                tokio::task::spawn_local(connection);
                for _ in 0..requests / lanes {
                    ask(addr, &mut send).await;
                    let raw = std::mem::replace(&mut *heard.lock().unwrap(), Vec::with_capacity(32 * 1024));
                    assert!(raw.starts_with(b"HTTP/1.1 200 OK"));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

async fn ask(addr: SocketAddr, send: &mut SendRequest<Empty<Bytes>>) {
    let request = http::Request::get("/some/page.html")
        .header("host", addr.to_string())
        .header("user-agent", "orbweaver/0.1.0")
        .header("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
        .header("accept-encoding", "gzip, br, zstd, deflate")
        .body(Empty::new())
        .unwrap();
    send.ready().await.unwrap();
    let response = send.send_request(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(!body.is_empty());
}

/// Records what is read.
struct Tee {
    tcp: TcpStream,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Tee {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.tcp).poll_read(cx, buf);
        self.heard.lock().unwrap().extend_from_slice(&buf.filled()[before..]);
        result
    }
}

impl AsyncWrite for Tee {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}
