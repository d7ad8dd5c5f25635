//! How does a server do exactly what a test says, and how is a fetcher set up for it?

use orb_fetch::{FetchConfig, Fetchers, Timeouts, Watch};
use orb_page::{Lease, Outcome, Response};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server on loopback that logs the head of every request.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    pub(crate) accepted: Arc<AtomicUsize>,
}

impl Server {
    /// Passes every connection, with its number from 0, to `serve`.
    pub(crate) async fn start<F, T>(serve: F) -> Self
    where
        F: Fn(TcpStream, usize, Self) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = Self { addr, log: Arc::default(), accepted: Arc::default() };
        let this = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = this.accepted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream, number, this.clone()));
            }
        });
        server
    }

    /// Answers every request with these bytes and keeps the connection alive.
    pub(crate) async fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = Arc::new(bytes.into());
        Self::start(move |mut stream, _, server| {
            let bytes = bytes.clone();
            async move {
                while server.heard(&mut stream).await.is_some() {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// Answers one request with these bytes and closes.
    pub(crate) async fn once(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = Arc::new(bytes.into());
        Self::start(move |mut stream, _, server| {
            let bytes = bytes.clone();
            async move {
                if server.heard(&mut stream).await.is_some() {
                    let _ = stream.write_all(&bytes).await;
                }
            }
        })
        .await
    }

    /// Waits for the head of a request and logs it; `None` at the end of the connection.
    pub(crate) async fn heard(&self, stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        self.log.lock().unwrap().push(head.clone());
        Some(head)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    pub(crate) fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

/// Settings for a web on loopback: short timeouts.
pub(crate) fn config() -> FetchConfig {
    let second = Duration::from_secs(5);
    FetchConfig {
        timeouts: Timeouts { dns: second, connect: second, tls: second, head: second, idle: second, total: second },
        private_hosts: vec!["127.0.0.1".to_owned()],
        ..FetchConfig::default()
    }
}

pub(crate) fn fetcher(config: FetchConfig) -> Fetchers {
    Fetchers::new(config).unwrap()
}

pub(crate) fn lease(url: &str) -> Lease {
    Lease::plain(url)
}

/// Counts the notifications of a fetch.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicUsize,
    pub(crate) received: AtomicUsize,
}

impl Watch for Counts {
    fn sent(&self, _: Option<SocketAddr>) {
        self.sent.fetch_add(1, Ordering::SeqCst);
    }

    fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes, Ordering::SeqCst);
    }
}

pub(crate) async fn get(fetcher: &Fetchers, url: &str) -> Outcome {
    fetcher.fetch(&lease(url), &orb_fetch::Unwatched).await
}

/// The response of a server that sends these bytes and closes.
pub(crate) async fn answer(bytes: impl Into<Vec<u8>>) -> Response {
    let server = Server::once(bytes).await;
    get(&fetcher(config()), &server.url("/")).await.result.unwrap()
}

/// The failure with a server that sends these bytes and closes.
pub(crate) async fn failure(bytes: impl Into<Vec<u8>>) -> (orb_page::FailureKind, String) {
    let server = Server::once(bytes).await;
    let failure = get(&fetcher(config()), &server.url("/")).await.result.unwrap_err();
    (failure.kind, failure.detail)
}

pub(crate) fn bytes(body: &orb_page::Body) -> Vec<u8> {
    body.read(u64::MAX).unwrap().to_vec()
}
