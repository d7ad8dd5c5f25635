//! Names, their addresses, and those we do not go to.

use crate::server::{Server, config, fetcher, get, lease};
use orb_fetch::{Fetch, FetchConfig, HttpFetcher, Unwatched};
use orb_page::FailureKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::UdpSocket;

/// A name server: `inside.test` and `public.test` have addresses, `six.test` has only a later one, `mute.test` gets no
/// answer and nothing else exists.
async fn name_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        let mut query = [0; 512];
        while let Ok((len, from)) = socket.recv_from(&mut query).await {
            count.fetch_add(1, Ordering::SeqCst);
            if let Some(answer) = answer(&query[..len]) {
                socket.send_to(&answer, from).await.unwrap();
            }
        }
    });
    (addr, asked)
}

/// The bytes of an answer (RFC 1035, 4).
fn answer(query: &[u8]) -> Option<Vec<u8>> {
    let (mut name, mut at) = (String::new(), 12);
    while query[at] > 0 {
        let end = at + 1 + usize::from(query[at]);
        name.push_str(std::str::from_utf8(&query[at + 1..end]).unwrap());
        name.push('.');
        at = end;
    }
    let (question, is_v6) = (&query[12..at + 5], query[at + 2] == 28);
    let addrs: &[&str] = match (name.to_ascii_lowercase().as_str(), is_v6) {
        ("inside.test.", false) => &["127.0.0.1"],
        ("public.test.", false) => &["10.0.0.1", "192.0.2.7", "9.9.9.9"],
        ("public.test.", true) | ("six.test.", true) => &["2606:4700::1111"],
        ("six.test.", false) => &[],
        ("mute.test.", _) => return None,
        ("inside.test.", true) => &[],
        _ => &["none"],
    };
    let exists = addrs != ["none"];
    let records: Vec<IpAddr> = addrs.iter().filter_map(|a| a.parse().ok()).collect();
    let mut out = query[..2].to_vec();
    out.extend_from_slice(&[
        0x81,
        if exists { 0x80 } else { 0x83 },
        0,
        1,
        0,
        u8::try_from(records.len()).unwrap(),
        0,
        0,
        0,
        0,
    ]);
    out.extend_from_slice(question);
    for record in records {
        let octets = match record {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        };
        let kind = if octets.len() == 4 { 1 } else { 28 };
        out.extend_from_slice(&[0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 1, 0, u8::try_from(octets.len()).unwrap()]);
        out.extend_from_slice(&octets);
    }
    Some(out)
}

async fn asking() -> (HttpFetcher, Arc<AtomicUsize>) {
    let (dns, asked) = name_server().await;
    (fetcher(FetchConfig { dns: Some(dns), private_hosts: vec![], ..config() }), asked)
}

#[tokio::test]
async fn an_address_is_asked_for_once_and_is_a_public_one() {
    let (fetcher, asked) = asking().await;
    for _ in 0..3 {
        let addr = fetcher.resolve("public.test", 80).await;
        assert_eq!(addr, Ok("9.9.9.9".parse().unwrap()), "IPv4 first, and none the guard forbids");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2, "one question for each kind of address");
    assert_eq!(fetcher.resolve("six.test", 80).await, Ok("2606:4700::1111".parse().unwrap()));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_asked_for_once() {
    let (fetcher, asked) = asking().await;
    for _ in 0..3 {
        let failure = fetcher.resolve("nowhere.test", 80).await.unwrap_err();
        assert_eq!(
            (failure.kind, failure.detail.as_str()),
            (FailureKind::Dns, "cannot resolve nowhere.test: no such name")
        );
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_name_server_that_says_nothing_is_a_failure_of_the_name() {
    let mut config = FetchConfig { dns: Some(name_server().await.0), ..config() };
    config.timeouts.dns = Duration::from_millis(100);
    let failure = fetcher(config).resolve("mute.test", 80).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Dns);
    assert!(
        failure.detail.starts_with("cannot resolve mute.test: ") && !failure.detail.contains('\n'),
        "{}",
        failure.detail
    );
}

#[tokio::test]
async fn questions_at_the_same_time_are_one_question() {
    let (fetcher, asked) = asking().await;
    let both = tokio::join!(fetcher.resolve("public.test", 80), fetcher.resolve("public.test", 443));
    assert!(both.0.is_ok() && both.1.is_ok());
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_name_that_leads_inwards_is_not_followed_unless_it_was_opened() {
    let (fetcher, _) = asking().await;
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let url = format!("http://inside.test:{}/", server.addr.port());
    let failure = get(&fetcher, &url).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Guard);
    assert_eq!(server.connections(), 0);
    fetcher.guard().open("inside.test");
    assert!(get(&fetcher, &url).await.result.is_ok());
}

#[tokio::test]
async fn no_spelling_of_an_inner_address_passes() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let fetcher = fetcher(FetchConfig { private_hosts: vec!["seed.test".to_owned()], ..config() });
    let port = server.addr.port();
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "0",
        "127.1",
    ] {
        let failure = get(&fetcher, &format!("http://{host}:{port}/")).await.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Guard, "{host}: {}", failure.detail);
    }
    let mut pinned = lease(&format!("http://elsewhere.test:{port}/"));
    pinned.addr = Some(server.addr.ip());
    let failure = fetcher.fetch(&pinned, &Unwatched).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Guard, "an address pinned by a lease is checked again");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn an_address_given_by_the_user_is_gone_to() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let port = server.addr.port();
    let given = format!("given.test:{port}:127.0.0.1").parse().unwrap();
    let fetcher = fetcher(FetchConfig { resolve: vec![given], private_hosts: vec![], ..config() });
    assert_eq!(fetcher.resolve("GIVEN.test", port).await, Ok(server.addr.ip()));
    let mut page = lease(&format!("http://given.test:{port}/"));
    assert!(fetcher.fetch(&page, &Unwatched).await.result.is_ok());
    page.addr = Some(server.addr.ip());
    assert!(fetcher.fetch(&page, &Unwatched).await.result.is_ok());
}

#[tokio::test]
async fn localhost_is_known_without_asking() {
    let fetcher = fetcher(FetchConfig { private_hosts: vec!["localhost".to_owned()], ..config() });
    assert_eq!(fetcher.resolve("localhost", 80).await, Ok("127.0.0.1".parse().unwrap()));
}
