//! Are connections reused, closed and counted correctly?

use crate::server::{Counts, Server, config, fetcher, get, lease};
use orb_fetch::{ConnectionCounts, FetchConfig, Fetchers, Resolve, Unwatched};
use orb_page::FailureKind;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const KEPT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const CLOSED: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// A fetcher that resolves every name to the server.
fn fetcher_for(server: &Server, change: impl FnOnce(&mut FetchConfig)) -> Fetchers {
    let any = Resolve { host: "*".to_owned(), port: server.addr.port(), addr: server.addr.ip() };
    let mut config = FetchConfig { resolve: vec![any], ..config() };
    change(&mut config);
    fetcher(config)
}

fn url_of(host: &str, server: &Server) -> String {
    format!("http://{host}.test:{}/", server.addr.port())
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let server = Server::answering(KEPT).await;
    let fetcher = fetcher(config());
    let mut outcomes = Vec::new();
    for _ in 0..5 {
        outcomes.push(get(&fetcher, &server.url("/")).await);
    }
    assert!(outcomes.iter().all(|o| o.result.is_ok()));
    assert_eq!((server.connections(), server.requests().len()), (1, 5));
    assert!(outcomes[1].timings.connect.is_zero() && !outcomes[0].timings.connect.is_zero());
    assert_eq!(fetcher.line().connections(), ConnectionCounts { open: 1, idle: 1, closing: 0, waiting: 0 });
}

#[tokio::test]
async fn a_connection_the_server_closes_is_not_used_again() {
    let server = Server::answering(CLOSED).await;
    let fetcher = fetcher(config());
    for _ in 0..3 {
        get(&fetcher, &server.url("/")).await.result.unwrap();
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_kept_connection_that_dies_is_replaced_without_a_word() {
    let server = Server::start(|mut stream, number, server| async move {
        server.heard(&mut stream).await;
        stream.write_all(KEPT.as_bytes()).await.unwrap();
        // The first connection takes a second request and dies.
        if server.heard(&mut stream).await.is_some() && number > 0 {
            stream.write_all(KEPT.as_bytes()).await.unwrap();
        }
    })
    .await;
    let (fetcher, watch) = (fetcher(config()), Counts::default());
    for _ in 0..2 {
        assert!(fetcher.fetch(&lease(&server.url("/")), &watch).await.result.is_ok());
    }
    assert_eq!((server.connections(), watch.sent.into_inner()), (2, 3));
}

#[tokio::test]
async fn a_goodbye_in_place_of_an_answer_is_not_taken_for_one() {
    let server = Server::start(|mut stream, _, server| async move {
        server.heard(&mut stream).await;
        stream.write_all(KEPT.as_bytes()).await.unwrap();
        server.heard(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n").await;
    })
    .await;
    let fetcher = fetcher(config());
    for _ in 0..3 {
        assert_eq!(get(&fetcher, &server.url("/")).await.result.unwrap().status, 200);
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_new_connection_that_dies_is_a_failure() {
    let server = Server::start(|mut stream, _, server| async move {
        server.heard(&mut stream).await;
    })
    .await;
    let watch = Counts::default();
    let outcome = fetcher(config()).fetch(&lease(&server.url("/")), &watch).await;
    assert_eq!(outcome.result.unwrap_err().kind, FailureKind::Protocol);
    assert_eq!((server.connections(), watch.sent.into_inner()), (1, 1));
}

#[tokio::test]
async fn a_kept_connection_that_dies_twice_is_a_failure() {
    let server = Server::start(|mut stream, number, server| async move {
        server.heard(&mut stream).await;
        if number == 0 {
            stream.write_all(KEPT.as_bytes()).await.unwrap();
            server.heard(&mut stream).await;
        }
    })
    .await;
    let fetcher = fetcher(config());
    assert!(get(&fetcher, &server.url("/")).await.result.is_ok());
    assert_eq!(get(&fetcher, &server.url("/")).await.result.unwrap_err().kind, FailureKind::Protocol);
    assert_eq!(server.connections(), 2);
}

/// Maximum connections that a server saw open at once, in total and for one host.
#[derive(Default)]
struct Open {
    now: HashMap<String, usize>,
    most: usize,
    most_of_one: usize,
}

/// A server that counts a connection from its acceptance until it knows that it is closed.
async fn counting(answer: &'static str, open: Arc<Mutex<Open>>) -> Server {
    Server::start(move |mut stream, _, server| {
        let open = open.clone();
        async move {
            let mut host = None;
            while let Some(head) = server.heard(&mut stream).await {
                if host.is_none() {
                    let named = head.lines().find_map(|l| l.strip_prefix("Host: ")).unwrap().to_owned();
                    let mut open = open.lock().unwrap();
                    *open.now.entry(named.clone()).or_default() += 1;
                    open.most = open.most.max(open.now.values().sum());
                    open.most_of_one = open.most_of_one.max(open.now[&named]);
                    host = Some(named);
                }
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    break;
                }
                if answer == CLOSED {
                    // Wait for the client's FIN, so that it is we who keep the connection closing.
                    while stream.read_u8().await.is_ok() {}
                    break;
                }
            }
            if let Some(host) = host {
                *open.lock().unwrap().now.get_mut(&host).unwrap() -= 1;
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_never_exceed_the_caps_even_while_they_close() {
    for answer in [KEPT, CLOSED] {
        let open = Arc::new(Mutex::new(Open::default()));
        let server = counting(answer, open.clone()).await;
        let fetcher = Arc::new(fetcher_for(&server, |c| (c.connections, c.per_host) = (4, 2)));
        let fetches: Vec<_> = (0..300)
            .map(|n| {
                let (fetcher, url) = (fetcher.clone(), url_of(&format!("h{}", n % 9), &server));
                tokio::spawn(async move { get(&fetcher, &url).await.result.is_ok() })
            })
            .collect();
        for fetch in fetches {
            assert!(fetch.await.unwrap());
            assert!(fetcher.line().connections().open <= 4);
        }
        fetcher.close().await;
        assert_eq!(fetcher.line().connections(), ConnectionCounts::default());
        let open = open.lock().unwrap();
        assert!(open.most <= 4 && open.most_of_one <= 2, "{} and {}", open.most, open.most_of_one);
        assert_eq!(server.requests().len(), 300);
    }
}

#[tokio::test]
async fn a_parked_connection_makes_room_for_another_host() {
    let server = Server::answering(KEPT).await;
    let fetcher = fetcher_for(&server, |c| c.connections = 2);
    for host in ["a", "b", "a", "c", "a", "b"] {
        get(&fetcher, &url_of(host, &server)).await.result.unwrap();
    }
    // c took b's place, since a had been used more recently; then b took c's.
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn a_new_address_of_a_host_gets_a_new_connection() {
    let server = Server::answering(KEPT).await;
    let fetcher = fetcher(FetchConfig { per_host: 1, private_hosts: vec!["two.test".to_owned()], ..config() });
    let mut page = lease(&url_of("two", &server));
    page.addr = Some(server.addr.ip());
    assert!(fetcher.fetch(&page, &Unwatched).await.result.is_ok());
    page.addr = Some("127.0.0.2".parse().unwrap());
    let failure = fetcher.fetch(&page, &Unwatched).await.result.unwrap_err();
    assert_eq!(failure.detail, format!("connection refused by 127.0.0.2:{}", server.addr.port()));
    assert_eq!(fetcher.line().connections().open, 0, "the old connection was closed first: the cap is one");
}

#[tokio::test]
async fn a_fetch_given_up_frees_its_place() {
    let server = Server::start(|mut stream, number, server| async move {
        while server.heard(&mut stream).await.is_some() {
            if number > 0 {
                stream.write_all(KEPT.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let fetcher = fetcher_for(&server, |c| (c.connections, c.per_host) = (1, 1));
    let (first, second, third) =
        (lease(&url_of("a", &server)), lease(&url_of("a", &server)), lease(&url_of("b", &server)));
    {
        let mut stuck = pin!(fetcher.fetch(&first, &Unwatched));
        let mut queued = pin!(fetcher.fetch(&second, &Unwatched));
        poll_fn(|cx| {
            assert!(stuck.as_mut().poll(cx).is_pending());
            assert!(queued.as_mut().poll(cx).is_pending());
            if server.requests().is_empty() { Poll::Pending } else { Poll::Ready(()) }
        })
        .await_with_wakeups()
        .await;
    }
    assert!(fetcher.fetch(&third, &Unwatched).await.result.is_ok());
    assert_eq!(server.connections(), 2);
}

/// Polls repeatedly while others run.
trait Persist: Future + Sized {
    async fn await_with_wakeups(self) -> Self::Output {
        let mut this = pin!(self);
        loop {
            let done = poll_fn(|cx| Poll::Ready(this.as_mut().poll(cx))).await;
            if let Poll::Ready(done) = done {
                return done;
            }
            tokio::task::yield_now().await;
        }
    }
}

impl<F: Future> Persist for F {}

#[tokio::test]
async fn closing_ends_every_connection() {
    let server = Server::answering(KEPT).await;
    let fetcher = fetcher_for(&server, |_| ());
    for host in ["a", "b", "c"] {
        get(&fetcher, &url_of(host, &server)).await.result.unwrap();
    }
    assert_eq!(fetcher.line().connections().idle, 3);
    fetcher.close().await;
    assert_eq!(fetcher.line().connections(), ConnectionCounts::default());
}

#[tokio::test]
async fn a_server_that_leaves_is_noticed_while_its_connection_is_parked() {
    let (hang_up, hung_up) = tokio::sync::oneshot::channel::<()>();
    let hung_up = Arc::new(Mutex::new(Some(hung_up)));
    let server = Server::start(move |mut stream, _, server| {
        let hung_up = hung_up.lock().unwrap().take();
        async move {
            server.heard(&mut stream).await;
            stream.write_all(KEPT.as_bytes()).await.unwrap();
            if let Some(hung_up) = hung_up {
                let _ = hung_up.await;
                return;
            }
            server.heard(&mut stream).await;
        }
    })
    .await;
    let (fetcher, watch) = (fetcher(config()), Counts::default());
    assert!(fetcher.fetch(&lease(&server.url("/")), &watch).await.result.is_ok());
    hang_up.send(()).unwrap();
    // The connection is checked once a second.
    while fetcher.line().connections().open > 0 {
        tokio::task::yield_now().await;
    }
    assert!(fetcher.fetch(&lease(&server.url("/")), &watch).await.result.is_ok());
    assert_eq!(watch.sent.into_inner(), 2);
}
