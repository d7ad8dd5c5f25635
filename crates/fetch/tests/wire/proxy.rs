//! Does fetching through a proxy work, in plain text and by a tunnel?

use crate::server::{Counts, Server, bytes, config, fetcher, get, lease};
use crate::tls::Authority;
use orb_fetch::FetchConfig;
use orb_page::FailureKind;
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

fn through(proxy: &Server, user: &str) -> FetchConfig {
    FetchConfig {
        proxy: Some(format!("http://{user}{}", proxy.addr).parse().unwrap()),
        private_hosts: vec![],
        ..config()
    }
}

#[tokio::test]
async fn requests_in_the_clear_name_their_host_to_the_proxy_and_share_its_connections() {
    let proxy = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let (fetcher, watch) = (fetcher(through(&proxy, "me:pw@")), Counts::default());
    for host in ["one.test", "two.test:81"] {
        let page = lease(&format!("http://{host}/x"));
        let response = fetcher.fetch(&page, &watch).await.result.unwrap();
        assert_eq!((bytes(&response.body), response.peer), (b"ok".to_vec(), None));
    }
    let asked = proxy.requests();
    assert!(asked[0].starts_with("GET http://one.test/x HTTP/1.1\r\nHost: one.test\r\n"), "{}", asked[0]);
    assert!(asked[1].starts_with("GET http://two.test:81/x HTTP/1.1\r\nHost: two.test:81\r\n"), "{}", asked[1]);
    assert!(asked[0].contains("\r\nProxy-Authorization: Basic bWU6cHc=\r\n"));
    assert_eq!((proxy.connections(), watch.sent.into_inner()), (1, 2));
}

#[tokio::test]
async fn a_tunnel_leads_to_the_server_itself() {
    let authority = Authority::new();
    let acceptor = authority.acceptor("good.test", 2100, &["http/1.1"]);
    let server = Server::start(move |stream, _, server| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            while server.heard(&mut stream).await.is_some() {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndeep").await.unwrap();
            }
        }
    })
    .await;
    let target = server.addr;
    let proxy = Server::start(move |mut stream, _, proxy| async move {
        proxy.heard(&mut stream).await;
        let mut inner = TcpStream::connect(target).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n").await.unwrap();
        let _ = copy_bidirectional(&mut stream, &mut inner).await;
    })
    .await;
    let fetcher = fetcher(FetchConfig { ca_file: Some(authority.file.path().to_owned()), ..through(&proxy, "me:pw@") });
    for _ in 0..2 {
        let response = get(&fetcher, "https://good.test/path").await.result.unwrap();
        assert_eq!((bytes(&response.body), response.peer), (b"deep".to_vec(), None));
    }
    assert!(proxy.requests()[0].starts_with("CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n"));
    assert!(server.requests()[0].starts_with("GET /path HTTP/1.1\r\nHost: good.test\r\n"));
    assert!(!server.requests()[0].contains("Authorization"));
    assert_eq!((proxy.connections(), server.connections()), (1, 1));
}

#[tokio::test]
async fn a_proxy_that_opens_no_tunnel_says_why() {
    for (answer, why) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "it wants another user or password (407)"),
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", "it answers 502"),
        ("SOCKS", "its answer is not HTTP"),
    ] {
        let proxy = Server::once(answer).await;
        let failure = get(&fetcher(through(&proxy, "")), "https://good.test/").await.result.unwrap_err();
        let line = format!("the proxy {} opens no tunnel to good.test: {why}", proxy.addr);
        assert_eq!((failure.kind, failure.detail), (FailureKind::Connect, line));
    }
}

#[tokio::test]
async fn a_proxy_is_asked_for_no_inner_address_and_servers_never_hear_its_password() {
    let proxy = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let fetcher = fetcher(through(&proxy, "me:pw@"));
    for host in ["127.0.0.1", "2130706433", "[::ffff:169.254.169.254]", "localhost", "x.localhost."] {
        for scheme in ["http", "https"] {
            let failure = get(&fetcher, &format!("{scheme}://{host}/")).await.result.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Guard, "{host}: {}", failure.detail);
        }
    }
    assert_eq!(proxy.connections(), 0);
    let kept = get(&fetcher, "http://one.test/").await.result.unwrap().request_head().to_vec();
    assert!(proxy.requests()[0].contains("Proxy-Authorization"));
    assert!(!String::from_utf8_lossy(&kept).contains("Authorization"), "what is archived");
}
