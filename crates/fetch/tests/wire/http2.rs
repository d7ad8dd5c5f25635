//! Does HTTP/2 over TLS work?

use crate::server::{Counts, Server, bytes, get, lease};
use crate::tls::{Authority, trusting, url_of};
use bytes::Bytes;
use h2::server::SendResponse;
use http::Response;
use orb_fetch::ConnectionCounts;
use orb_page::{Body, FailureKind, Truncation};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How a server handles a request for a path.
pub(crate) type Serve = fn(&str, SendResponse<Bytes>);

/// A server that ends each connection gracefully after this many requests, and the maximum
/// concurrency it saw.
pub(crate) async fn speaking(authority: &Authority, serve: Serve, each: usize) -> (Server, Arc<AtomicUsize>) {
    let acceptor = authority.acceptor("good.test", 2100, &["h2", "http/1.1"]);
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    let server = Server::start(move |stream, _, server| {
        let (acceptor, most, now) = (acceptor.clone(), most.clone(), Arc::new(AtomicUsize::new(0)));
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let Ok(mut connection) = h2::server::handshake(stream).await else { return };
            let mut served = 0;
            while let Some(Ok((request, respond))) = connection.accept().await {
                let fields: Vec<_> = request.headers().keys().map(|k| k.as_str().to_owned()).collect();
                let line = format!("{} {} {}", request.method(), request.uri(), fields.join(","));
                server.log.lock().unwrap().push(line);
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let (now, path) = (now.clone(), request.uri().path().to_owned());
                tokio::spawn(async move {
                    for _ in 0..20 {
                        tokio::task::yield_now().await;
                    }
                    now.fetch_sub(1, Ordering::SeqCst);
                    serve(&path, respond);
                });
                served += 1;
                if served == each {
                    connection.graceful_shutdown();
                }
            }
        }
    })
    .await;
    (server, seen)
}

fn hello(_: &str, mut respond: SendResponse<Bytes>) {
    let head =
        Response::builder().status(200).header("X-One", "1").header("content-type", "text/html").body(()).unwrap();
    if let Ok(mut stream) = respond.send_response(head, false) {
        let _ = stream.send_data("hello ".into(), false);
        let _ = stream.send_data("world".into(), true);
    }
}

#[tokio::test]
async fn an_answer_over_http2_reads_like_one_over_http1() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, hello, usize::MAX).await;
    let fetcher = trusting(&authority, &server, |_| ());
    let watch = Counts::default();
    let response = fetcher.fetch(&lease(&url_of("good.test", &server)), &watch).await.result.unwrap();
    assert_eq!((response.protocol, response.status, bytes(&response.body)), ("h2", 200, b"hello world".to_vec()));
    assert_eq!(response.head(), &b"HTTP/1.1 200 OK\r\nx-one: 1\r\ncontent-type: text/html\r\n\r\n"[..]);
    assert!(response.request_head().starts_with(b"GET / HTTP/1.1\r\nHost: good.test:"));
    assert_eq!((response.peer, response.truncated, watch.sent.into_inner()), (Some(server.addr), None, 1));
    let asked = server.requests().remove(0);
    assert!(
        asked.starts_with("GET https://good.test:") && asked.ends_with("/ user-agent,accept,accept-encoding"),
        "{asked}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_carries_all_requests_to_a_host_up_to_the_cap() {
    let authority = Authority::new();
    let (server, most) = speaking(&authority, hello, usize::MAX).await;
    let fetcher = Arc::new(trusting(&authority, &server, |c| c.per_host = 3));
    get(&fetcher, &url_of("good.test", &server)).await.result.unwrap();
    let fetches: Vec<_> = (0..60)
        .map(|_| {
            let (fetcher, url) = (fetcher.clone(), url_of("good.test", &server));
            tokio::spawn(async move { bytes(&get(&fetcher, &url).await.result.unwrap().body) })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.unwrap(), b"hello world");
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 61));
    assert_eq!(most.load(Ordering::SeqCst), 3);
    assert_eq!(fetcher.line().connections(), ConnectionCounts { open: 1, idle: 1, closing: 0, waiting: 0 });
    fetcher.close().await;
    assert_eq!(fetcher.line().connections(), ConnectionCounts::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_come_together_wait_for_what_the_first_negotiates() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, hello, usize::MAX).await;
    let fetcher = Arc::new(trusting(&authority, &server, |c| c.per_host = 6));
    let fetches: Vec<_> = (0..20)
        .map(|_| {
            let (fetcher, url) = (fetcher.clone(), url_of("good.test", &server));
            tokio::spawn(async move { get(&fetcher, &url).await.result.unwrap().protocol })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.unwrap(), "h2");
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 20));
}

#[tokio::test]
async fn a_server_that_says_goodbye_is_asked_on_a_new_connection() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, hello, 2).await;
    let fetcher = trusting(&authority, &server, |c| c.per_host = 1);
    for n in 0..7 {
        let outcome = get(&fetcher, &url_of("good.test", &server)).await;
        assert!(outcome.result.is_ok(), "{n}: {:?}", outcome.result);
    }
    assert!(server.connections() >= 3);
}

fn misbehaving(path: &str, mut respond: SendResponse<Bytes>) {
    let announced = if path == "/large" { "999999" } else { "50" };
    let mut head = Response::builder().status(200);
    if path != "/endless" {
        head = head.header("content-length", announced);
    }
    let Ok(mut stream) = respond.send_response(head.body(()).unwrap(), false) else { return };
    match path {
        "/endless" => {
            for _ in 0..30 {
                let _ = stream.send_data(vec![b'x'; 10_000].into(), false);
            }
            std::mem::forget(stream);
        }
        "/reset" => {
            let _ = stream.send_data("part".into(), false);
            tokio::spawn(async move {
                let _ = stream.send_data("s".into(), false);
                tokio::task::yield_now().await;
                stream.send_reset(h2::Reason::INTERNAL_ERROR);
            });
        }
        _ => {
            let _ = stream.send_data("half".into(), false);
            std::mem::forget(stream);
        }
    }
}

#[tokio::test]
async fn bodies_over_http2_keep_to_the_limits() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, misbehaving, usize::MAX).await;
    let fetcher = trusting(&authority, &server, |c| {
        (c.max_size, c.spool_over) = (100_000, 40_000);
        c.timeouts.idle = Duration::from_millis(200);
    });
    let response = |path: &'static str| {
        let (fetcher, url) = (&fetcher, url_of("good.test", &server));
        async move { get(fetcher, &format!("{url}{path}")).await.result.unwrap() }
    };
    let large = response("large").await;
    assert_eq!((large.truncated, large.body.len()), (Some(Truncation::Length), 0));
    let endless = response("endless").await;
    assert_eq!((endless.truncated, endless.body.len()), (Some(Truncation::Length), 100_000));
    assert!(matches!(endless.body, Body::Spooled { .. }) && bytes(&endless.body) == vec![b'x'; 100_000]);
    let slow = response("slow").await;
    assert_eq!((slow.truncated, bytes(&slow.body)), (Some(Truncation::Time), b"half".to_vec()));
    let reset = response("reset").await;
    assert_eq!(reset.truncated, Some(Truncation::Disconnect));
    assert_eq!(server.connections(), 1, "what one stream suffers the others do not");
}

fn silent(_: &str, respond: SendResponse<Bytes>) {
    std::mem::forget(respond);
}

#[tokio::test]
async fn silence_over_http2_times_out() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, silent, usize::MAX).await;
    let fetcher = trusting(&authority, &server, |c| c.timeouts.head = Duration::from_millis(200));
    let failure = get(&fetcher, &url_of("good.test", &server)).await.result.unwrap_err();
    assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::Timeout, "no answer within 200ms"));
}

#[tokio::test]
async fn http2_is_spoken_only_when_allowed() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, hello, usize::MAX).await;
    let fetcher = trusting(&authority, &server, |c| c.http2 = false);
    let failure = get(&fetcher, &url_of("good.test", &server)).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Malformed, "the server went on in HTTP/2 though HTTP/1.1 was agreed on");
}
