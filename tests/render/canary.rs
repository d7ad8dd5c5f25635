//! Can a page reach anything but through our proxy?

use super::harness::orb::Home;
use super::harness::script::absent;
use super::harness::tls::{Flaw, SecureSite};
use super::harness::until;
use super::{html, rendered, site};
use orb_testweb::Dns;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Listens at one port of this machine, over TCP and UDP, IPv4 and IPv6, and answers nobody.
struct Canary {
    port: u16,
    connections: [TcpListener; 2],
    datagrams: [UdpSocket; 2],
}

impl Canary {
    fn listen() -> Self {
        // A port that is free for IPv4 may be taken for IPv6 or UDP.
        let canary = (0..100).find_map(|_| Self::at_any_port().ok()).expect("a port that is free in all four ways");
        for address in canary.addresses() {
            TcpStream::connect(address).unwrap();
            let from: SocketAddr = if address.is_ipv4() { "127.0.0.1:0" } else { "[::1]:0" }.parse().unwrap();
            UdpSocket::bind(from).unwrap().send_to(b"x", address).unwrap();
        }
        let mut heard = Vec::new();
        until("the canary hears all four ways", || {
            heard.extend(canary.heard());
            heard.len() == 4
        });
        canary
    }

    fn at_any_port() -> io::Result<Self> {
        let first = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        let port = first.local_addr()?.port();
        let connections = [first, TcpListener::bind((Ipv6Addr::LOCALHOST, port))?];
        let datagrams =
            [UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?, UdpSocket::bind((Ipv6Addr::LOCALHOST, port))?];
        connections.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        datagrams.iter().try_for_each(|socket| socket.set_nonblocking(true))?;
        Ok(Self { port, connections, datagrams })
    }

    fn addresses(&self) -> [SocketAddr; 2] {
        [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].map(|ip| SocketAddr::new(ip, self.port))
    }

    /// Who has come since the last time, and how. The system has taken their connections.
    fn heard(&self) -> Vec<String> {
        let mut heard = Vec::new();
        for listener in &self.connections {
            while let Ok((_, from)) = listener.accept() {
                heard.push(format!("TCP from {from}"));
            }
        }
        for socket in &self.datagrams {
            let mut bytes = [0; 2_048];
            while let Ok((length, from)) = socket.recv_from(&mut bytes) {
                heard.push(format!("UDP from {from}: {:?}", &bytes[..length.min(24)]));
            }
        }
        heard
    }
}

/// A name server that knows one name, inside, and counts who asks for it.
fn name_server() -> (Dns, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let book = move |name: &str| {
        if name != INSIDE {
            return None;
        }
        count.fetch_add(1, Ordering::SeqCst);
        Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
    };
    (Dns::answering(book).unwrap(), asked)
}

/// The name that only our resolver knows.
const INSIDE: &str = "inside.test";

/// A page that tries every way out to an address inside, each with its number.
const WAYS: &str = r#"<!doctype html><title>ways</title>
<link rel="stylesheet" href="http://CANARY/1-css"><link rel="prefetch" href="http://CANARY/1-prefetch">
<link rel="preconnect" href="http://CANARY"><link rel="dns-prefetch" href="http://CANARY">
<style>@font-face { font-family: f; src: url(http://CANARY/2-font) } body { font-family: f; background: url(http://CANARY/2-background) }</style>
<img src="http://CANARY/3-img"><script src="http://CANARY/4-script"></script>
<iframe src="http://CANARY/5-frame"></iframe><object data="http://CANARY/6-object"></object><embed src="http://CANARY/6-embed">
<video src="http://CANARY/7-video" autoplay></video><audio src="http://CANARY/7-audio" preload="auto"></audio>
<form id="form" action="http://CANARY/8-form" method="post" target="frame"><input name="a" value="b"></form><iframe name="frame"></iframe>
<a id="ping" href="javascript:void 0" ping="http://CANARY/9-ping">x</a>
<p id="done">no</p>
<script>
const quietly = (what) => { try { const made = what(); if (made && made.catch) made.catch(() => {}); } catch {} };
quietly(() => fetch('http://CANARY/10-fetch', { mode: 'no-cors' }));
quietly(() => { const x = new XMLHttpRequest(); x.open('GET', 'http://CANARY/10-xhr'); x.send(); });
quietly(() => navigator.sendBeacon('http://CANARY/10-beacon', 'x'));
quietly(() => new WebSocket('ws://CANARY/11-socket'));
quietly(() => new EventSource('http://CANARY/11-events'));
quietly(() => new WebTransport('https://CANARY/11-transport'));
quietly(() => { const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:CANARY', 'turn:CANARY?transport=udp', 'turn:CANARY?transport=tcp'], username: 'u', credential: 'p' }] });
  peer.createDataChannel('x'); return peer.createOffer().then((offer) => peer.setLocalDescription(offer)); });
quietly(() => new Worker(URL.createObjectURL(new Blob(["importScripts('http://CANARY/12-worker')"], { type: 'text/javascript' }))));
quietly(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://CANARY/12-worker-fetch', { mode: 'no-cors' })"], { type: 'text/javascript' }))));
quietly(() => navigator.serviceWorker.register('/worker.js'));
quietly(() => window.open('http://CANARY/13-window'));
quietly(() => document.getElementById('form').submit());
quietly(() => document.getElementById('ping').click());
quietly(() => import('http://CANARY/4-import'));
setTimeout(() => { document.getElementById('done').textContent = 'all ways tried'; location.href = 'http://CANARY/13-location'; }, 200);
</script>"#;

/// A program that starts the browser without the flags that shut its ways out.
fn careless_browser(home: &Home) -> PathBuf {
    let program = home.beside("careless");
    let text = "#!/bin/bash\nkept=()\nfor flag in \"$@\"; do case \"$flag\" in\n\
        --proxy-*|--host-resolver-rules=*|--force-webrtc-*|--disable-quic|--disable-features=*) ;;\n\
        *) kept+=(\"$flag\") ;;\nesac; done\nexec /usr/bin/chromium \"${kept[@]}\"\n";
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[test]
fn without_its_flags_the_same_page_is_heard() {
    let canary = Canary::listen();
    let text = WAYS.replace("CANARY", &format!("127.0.0.1:{}", canary.port));
    let site = site(move |heard| if heard.target == "/" { html(&text) } else { absent() });
    let home = Home::new();
    let program = format!("render.program = '{}'", careless_browser(&home).display());
    rendered(&home, &site, "always", &format!("frontier.depth = 0\n{program}"));
    let heard = canary.heard();
    assert!(heard.iter().any(|way| way.starts_with("UDP")), "{heard:?}");
}

#[test]
fn a_page_reaches_nothing_inside_by_any_way() {
    let canary = Canary::listen();
    // Addresses, names that browsers resolve themselves, and a name that only we resolve.
    for inside in ["127.0.0.1", "localhost", "[::1]", "inside.localhost", INSIDE] {
        let text = WAYS.replace("CANARY", &format!("{inside}:{}", canary.port));
        let site = site(move |heard| match heard.target.as_str() {
            "/" => html(&text),
            _ => absent(),
        });
        let (home, (names, asked)) = (Home::new(), name_server());
        rendered(&home, &site, "always", &format!("frontier.depth = 0\nfetch.dns = '{}'", names.addr()));
        let rows =
            home.catalogue().rows("SELECT kind, coalesce(problem, '') FROM page WHERE url LIKE '%site.test%/' LIMIT 1");
        assert_eq!(rows[0][0], "HTML", "{inside}: {rows:?}");
        assert!(rows[0][1].contains("by the address guard"), "the page tried nothing: {rows:?}");
        let shown = home.orb(&["cat", "p", &format!("http://site.test:{}/", site.port())]);
        assert!(shown.text().contains("all ways tried"), "{inside}: {shown}");
        assert_eq!(asked.load(Ordering::SeqCst) > 0, inside == INSIDE, "{inside}: who resolves it");
        assert_eq!(canary.heard(), [""; 0], "{inside}");
    }
}

#[test]
fn a_page_behind_tls_reaches_nothing_inside_by_any_way() {
    // Such a page may use what others may not: WebTransport, which is QUIC, and service workers.
    let canary = Canary::listen();
    let text = WAYS.replace("http://CANARY", "https://CANARY").replace("ws://CANARY", "wss://CANARY");
    let text = text.replace("CANARY", &format!("localhost:{}", canary.port));
    let site = SecureSite::serve(Box::leak(text.into_boxed_str()), Flaw::None);
    let home = Home::new();
    let (issuer, file) = (home.beside("issuer.pem"), home.beside("p.toml"));
    std::fs::write(&issuer, &site.issuer).unwrap();
    let settings = format!(
        "seeds = ['{}']\nfetch.ca_file = '{}'\nfrontier.depth = 0\nrender.when = 'always'\nrender.no_sandbox = true\n",
        site.url("/"),
        issuer.display()
    );
    std::fs::write(&file, settings).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    let problem = home.catalogue().column("SELECT coalesce(problem, '') FROM page WHERE id = 1").remove(0);
    assert!(problem.contains("by the address guard"), "the page tried nothing: {problem}");
    let shown = home.orb(&["cat", "p", &site.url("/")]);
    assert!(shown.text().contains("all ways tried"), "{shown}");
    assert_eq!(canary.heard(), [""; 0]);
}
