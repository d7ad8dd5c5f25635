//! Is the web behind TLS the same as the web in plain text?

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use orb_testweb::{Server, Spec, TlsIdentity, Web};
use rcgen::{CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, HandshakeKind, RootCertStore};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A web over TLS, and the configuration of a client that trusts it.
fn spawn(http2: bool, offered: &[&[u8]]) -> (Server, TlsConnector) {
    let mut issuing = CertificateParams::default();
    issuing.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer_key = KeyPair::generate().unwrap();
    let authority = issuing.self_signed(&issuer_key).unwrap();
    let issuer = Issuer::new(issuing, issuer_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let identity = TlsIdentity { certificate: leaf.pem().into_bytes(), key: key.serialize_pem().into_bytes(), http2 };
    let web = Web::new(Spec { cross_host_links: 0.5, ..Spec::default() }).unwrap();
    let server = Server::start_tls(web, "127.0.0.1:0", &identity).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
    (server, TlsConnector::from(Arc::new(config)))
}

async fn connect(server: &Server, client: &TlsConnector) -> TlsStream<TcpStream> {
    let socket = TcpStream::connect(server.addr()).await.unwrap();
    client.connect(ServerName::try_from("127.0.0.1").unwrap(), socket).await.unwrap()
}

#[tokio::test]
async fn a_page_over_tls_points_to_pages_over_tls_and_a_second_handshake_resumes() {
    let (server, client) = spawn(true, &[b"http/1.1"]);
    for kind in [HandshakeKind::Full, HandshakeKind::Resumed] {
        let mut stream = connect(&server, &client).await;
        let ask = format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.addr());
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(kind));
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(answer.contains("https://127.0.0.2:") && !answer.contains("http://"), "{answer}");
    }
    let counters = server.counters();
    assert_eq!((counters.full_handshakes, counters.resumed_handshakes, counters.requests), (1, 1, 2));
    assert!(server.log().all().0.iter().all(|request| request.url().starts_with("https://127.0.0.1:")));
}

#[tokio::test]
async fn pages_come_over_http_2_where_both_sides_want_it() {
    let (server, client) = spawn(true, &[b"h2", b"http/1.1"]);
    let (mut streams, connection) = h2::client::handshake(connect(&server, &client).await).await.unwrap();
    tokio::spawn(connection);
    for (path, status) in [("", 200), ("nothing", 404)] {
        let ask = http::Request::get(format!("https://{}/{path}", server.addr())).body(()).unwrap();
        let answer = streams.send_request(ask, true).unwrap().0.await.unwrap();
        let length: usize = answer.headers()["content-length"].to_str().unwrap().parse().unwrap();
        let (mut body, got) = (Vec::new(), answer.status());
        let mut parts = answer.into_body();
        while let Some(part) = parts.data().await {
            body.extend_from_slice(&part.unwrap());
        }
        assert_eq!((got.as_u16(), body.len()), (status, length));
    }
    assert_eq!(server.counters().requests, 2);
}

#[tokio::test]
async fn whoever_does_not_begin_with_a_handshake_is_served_in_the_clear() {
    let (server, _) = spawn(false, &[]);
    let mut socket = TcpStream::connect(server.addr()).await.unwrap();
    socket.write_all(b"GET /.testweb/counters HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("\"full_handshakes\":0"), "{answer}");
}
