//! Which addresses do names have, and which of them are refused?

use crate::server::{Server, config, fetcher, get, lease};
use orb_fetch::{FetchConfig, Fetchers, Unwatched};
use orb_page::FailureKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::UdpSocket;

/// A name server: `inside.test` and `public.test` have addresses, `six.test` has only an IPv6 one,
/// `mixed.test` has a private and a public one, `turns.test` resolves to a public address at first
/// and to a private one ever after, `mute.test` gets no response and nothing else exists.
async fn name_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        let mut query = [0; 512];
        while let Ok((len, from)) = socket.recv_from(&mut query).await {
            let before = count.fetch_add(1, Ordering::SeqCst);
            if let Some(answer) = answer(&query[..len], before) {
                socket.send_to(&answer, from).await.unwrap();
            }
        }
    });
    (addr, asked)
}

/// The response (RFC 1035, 4) to a query that comes after this many others.
fn answer(query: &[u8], before: usize) -> Option<Vec<u8>> {
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
        ("turns.test.", false) if before >= 2 => &["127.0.0.1"],
        ("turns.test.", false) => &["9.9.9.9"],
        ("mixed.test.", false) => &["127.0.0.1", "9.9.9.9"],
        ("six.test.", false) | ("mixed.test." | "turns.test.", true) => &[],
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

async fn asking() -> (Fetchers, Arc<AtomicUsize>) {
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
    fetcher.line().guard().open("inside.test");
    assert!(get(&fetcher, &url).await.result.is_ok());
}

#[tokio::test]
async fn no_spelling_of_an_inner_address_passes() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let fetcher = fetcher(FetchConfig { private_hosts: vec!["seed.test".to_owned()], ..config() });
    let port = server.addr.port();
    let numbers = "127.0.0.1 127.0.0.1. 0x7f.1 2130706433 0x7f000001 017700000001 0177.0.0.1 0 127.1 127.0.1 0.0.0.0 10.0.0.1 100.64.0.1 \
                   169.254.169.254 2852039166 0251.0376.0251.0376 0xa9fea9fe 172.16.0.1 192.168.0.1 192.0.0.192 198.18.0.1 224.0.0.1 \
                   240.0.0.1 255.255.255.255 100.100.100.200 168.63.129.16";
    let sixes = "[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:10.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] \
                 [64:ff9b::169.254.169.254] [64:ff9b:1::a00:1] [2002:7f00:1::] [2002:a9fe:a9fe::1] [2001:0:7f00:1::] [fe80::1] [fe80::5efe:10.0.0.1] \
                 [fec0::1] [fc00::1] [fd00:ec2::254] [ff02::1]";
    // Full-width digits and dots, escapes, characters that browsers drop, and a name before an @
    // that is only user info.
    let disguises = [
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "127\u{3002}0\u{3002}0\u{ff0e}1",
        "\u{2460}\u{2461}\u{2466}.0.0.1",
        "127%2e0%2E0%2e1",
    ]
    .into_iter()
    .chain([
        "%31%32%37.0.0.1",
        "12\t7.0.\n0.1",
        "9.9.9.9@127.0.0.1",
        "9.9.9.9:80@127.0.0.1",
        "127.0.0.1\\@9.9.9.9",
        "a@b@127.0.0.1",
    ]);
    for host in numbers.split_whitespace().chain(sixes.split_whitespace()).chain(disguises) {
        let failure = get(&fetcher, &format!("http://{host}:{port}/")).await.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Guard, "{host}: {}", failure.detail);
    }
    for host in ["[fe80::1%25lo]", "[fe80::1%lo]", "127.0.0.1:99999", "[::ffff:127.0.0.1"] {
        let failure = get(&fetcher, &format!("http://{host}/")).await.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unsupported, "{host}: {}", failure.detail);
    }
    let mut pinned = lease(&format!("http://elsewhere.test:{port}/"));
    pinned.addr = Some(server.addr.ip());
    let failure = fetcher.fetch(&pinned, &Unwatched).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Guard, "an address pinned by a lease is checked again");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_with_a_public_address_is_public_whatever_else_it_has() {
    let dns = Some(name_server().await.0);
    let fetcher = fetcher(FetchConfig { dns, private_hosts: vec!["mixed.test".to_owned()], ..config() });
    assert_eq!(fetcher.resolve("mixed.test", 80).await, Ok("9.9.9.9".parse().unwrap()));
    let mut pinned = lease("http://mixed.test/");
    pinned.addr = Some("127.0.0.1".parse().unwrap());
    assert_eq!(fetcher.fetch(&pinned, &Unwatched).await.result.unwrap_err().kind, FailureKind::Guard);
}

#[tokio::test]
async fn a_name_bound_anew_to_an_inner_address_is_not_followed() {
    let dns = Some(name_server().await.0);
    let fetcher = fetcher(FetchConfig { dns, private_hosts: vec!["turns.test".to_owned()], ..config() });
    assert_eq!(fetcher.resolve("turns.test", 80).await, Ok("9.9.9.9".parse().unwrap()));
    // The answer had a TTL of a second; it is cached for a minute.
    assert!(fetcher.resolve("turns.test", 80).await.is_ok());
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    let failure = fetcher.resolve("turns.test", 80).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Guard, "{}", failure.detail);
}

#[tokio::test]
async fn a_kept_connection_serves_no_other_name() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let port = server.addr.port();
    let given = format!("given.test:{port}:127.0.0.1").parse().unwrap();
    let fetcher = fetcher(FetchConfig { resolve: vec![given], private_hosts: vec![], ..config() });
    let mut page = lease(&format!("http://given.test:{port}/"));
    page.addr = Some(server.addr.ip());
    assert!(fetcher.fetch(&page, &Unwatched).await.result.is_ok());
    page.url = format!("http://other.test:{port}/");
    assert_eq!(fetcher.fetch(&page, &Unwatched).await.result.unwrap_err().kind, FailureKind::Guard);
    assert_eq!((server.connections(), server.requests().len()), (1, 1));
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
