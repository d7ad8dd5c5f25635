//! What is sent with a request, and who learns our credentials?

use crate::server::{Server, config, fetcher, get, lease};
use orb_fetch::{Credential, FetchConfig, HttpRequest, Keyring, Method, Proof, Unwatched};
use orb_page::RequestBody;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server that echoes the request body.
async fn echo() -> Server {
    Server::start(|mut stream, _, server| async move {
        while let Some(head) = server.heard(&mut stream).await {
            let length = head.split("Content-Length: ").nth(1).and_then(|l| l.split('\r').next()?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            if stream.read_exact(&mut body).await.is_err() {
                return;
            }
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(&[answer.as_bytes(), &body].concat()).await;
        }
    })
    .await
}

#[tokio::test]
async fn what_is_sent_along_arrives_whole_and_is_kept_without_its_secret() {
    let server = echo().await;
    let fetcher = fetcher(config());
    let payload = RequestBody {
        mime: "application/x-www-form-urlencoded".to_owned(),
        bytes: "user=me&password=hunter2".into(),
        kept: "user=me&password=***".into(),
    };
    let lease = lease(&server.url("/in"));
    for _ in 0..2 {
        let request = HttpRequest { method: Method::Post, payload: Some(&payload), ..HttpRequest::of(&lease).unwrap() };
        let response = fetcher.send(&request, &Unwatched).await.result.unwrap();
        assert_eq!(response.body.read(100).unwrap(), "user=me&password=hunter2");
        let kept = String::from_utf8_lossy(response.request_head()).into_owned();
        assert!(kept.ends_with("Content-Length: 20\r\n\r\nuser=me&password=***"), "{kept}");
    }
    assert!(server.requests()[0].starts_with("POST /in HTTP/1.1\r\n"));
    assert_eq!(server.connections(), 2, "a connection that may be dead carries nothing that must not be sent twice");
}

fn with_password(host: &str) -> FetchConfig {
    let proof = Proof::Password { user: "me".into(), password: "pw".into() };
    let keyring = Keyring::new(vec![Credential::new(host, None, proof).unwrap()]);
    FetchConfig { keyring: Arc::new(keyring), ..config() }
}

#[tokio::test]
async fn a_host_that_asks_is_told_from_the_next_request_on() {
    let server = Server::start(|mut stream, _, server| async move {
        while let Some(head) = server.heard(&mut stream).await {
            let answer = match head.contains("Authorization: Basic bWU6cHc=") {
                true => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                false => "HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
            };
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    })
    .await;
    let fetcher = fetcher(with_password("127.0.0.1"));
    let first = get(&fetcher, &server.url("/a")).await.result.unwrap();
    assert_eq!((first.status, first.challenged), (401, true));
    let second = get(&fetcher, &server.url("/a")).await.result.unwrap();
    assert_eq!((second.status, second.challenged), (200, false));
    assert!(!String::from_utf8_lossy(second.request_head()).contains("bWU6cHc="));
    let stranger =
        Server::answering("HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n");
    let url = stranger.await.url("/").replace("127.0.0.1", "localhost");
    let elsewhere = get(&fetcher, &url).await.result.ok();
    assert!(elsewhere.is_none_or(|answer| !answer.challenged));
}

/// An observer whose permission has ended.
#[derive(Default)]
struct TooLate {
    asked: std::sync::Mutex<Option<std::net::SocketAddr>>,
}

impl orb_fetch::Watch for TooLate {
    fn may_send(&self, peer: Option<std::net::SocketAddr>) -> bool {
        *self.asked.lock().unwrap() = peer;
        false
    }

    fn sent(&self, _: Option<std::net::SocketAddr>) {
        panic!("it was sent all the same");
    }
}

#[tokio::test]
async fn a_request_whose_permission_has_ended_is_not_sent() {
    let server = echo().await;
    let (fetcher, watch) = (fetcher(config()), TooLate::default());
    let failure = fetcher.fetch(&lease(&server.url("/")), &watch).await.result.unwrap_err();
    assert_eq!(failure.kind, orb_page::FailureKind::Local);
    assert_eq!(*watch.asked.lock().unwrap(), Some(server.addr), "the address that would have got it");
    // The next request is the first that the server hears.
    get(&fetcher, &server.url("/next")).await.result.unwrap();
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn connections_come_from_the_address_that_is_set() {
    let server = Server::start(|mut stream, _, server| async move {
        let from = stream.peer_addr().unwrap().ip();
        while server.heard(&mut stream).await.is_some() {
            let body = from.to_string();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    })
    .await;
    let source = "127.0.0.77".parse().ok();
    let response = get(&fetcher(FetchConfig { source, ..config() }), &server.url("/")).await.result.unwrap();
    assert_eq!(response.body.read(100).unwrap(), "127.0.0.77");
}
