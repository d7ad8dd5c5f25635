//! Are certificates checked, good and bad?

use crate::server::{Server, bytes, config, fetcher, get};
use orb_fetch::{FetchConfig, FetchError, Fetchers, Resolve};
use orb_page::{FailureKind, Truncation};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{HandshakeKind, ServerConfig};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A certificate authority, with a file for those who trust it.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) file: NamedTempFile,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("Trusted")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(certificate.pem().as_bytes()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }

    /// The TLS configuration of a server that is `name` until `year`.
    pub(crate) fn acceptor(&self, name: &str, year: i32, protocols: &[&str]) -> TlsAcceptor {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        server.alpn_protocols = protocols.iter().map(|p| p.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(server))
    }
}

/// A fetcher that trusts `authority` and resolves every name to the server.
pub(crate) fn trusting(authority: &Authority, server: &Server, change: impl FnOnce(&mut FetchConfig)) -> Fetchers {
    let any = Resolve { host: "*".to_owned(), port: server.addr.port(), addr: server.addr.ip() };
    let mut config = FetchConfig { resolve: vec![any], ca_file: Some(authority.file.path().to_owned()), ..config() };
    change(&mut config);
    fetcher(config)
}

pub(crate) fn url_of(host: &str, server: &Server) -> String {
    format!("https://{host}:{}/", server.addr.port())
}

/// A server over TLS that answers every request with these bytes; `rude` closes without
/// close_notify.
async fn secure(acceptor: TlsAcceptor, answer: &'static str, rude: bool) -> Server {
    Server::start(move |stream, _, server| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream): Result<TlsStream<TcpStream>, _> = acceptor.accept(stream).await else { return };
            while server.heard(&mut stream).await.is_some() {
                stream.write_all(answer.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                if rude {
                    return;
                }
            }
        }
    })
    .await
}

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";

#[tokio::test]
async fn a_good_certificate_lets_the_bytes_through_and_the_connection_is_kept() {
    let authority = Authority::new();
    let server = secure(authority.acceptor("good.test", 2100, &["http/1.1"]), ANSWER, false).await;
    let fetcher = trusting(&authority, &server, |_| ());
    for _ in 0..3 {
        let outcome = get(&fetcher, &url_of("good.test", &server)).await;
        let response = outcome.result.unwrap();
        assert_eq!((bytes(&response.body), response.protocol), (b"secret".to_vec(), "http/1.1"));
        assert_eq!(response.head(), &ANSWER.as_bytes()[..ANSWER.len() - 6]);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_host_that_speaks_no_http2_gets_as_many_connections_as_requests() {
    let authority = Authority::new();
    let (acceptor, together) = (authority.acceptor("good.test", 2100, &["http/1.1"]), Arc::new(Barrier::new(3)));
    let server = Server::start(move |stream, _, server| {
        let (acceptor, together) = (acceptor.clone(), together.clone());
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            server.heard(&mut stream).await.unwrap();
            // Nobody is answered before all have asked.
            together.wait().await;
            stream.write_all(ANSWER.as_bytes()).await.unwrap();
        }
    })
    .await;
    let fetcher = trusting(&authority, &server, |c| c.per_host = 3);
    let url = url_of("good.test", &server);
    let (one, two, three) = tokio::join!(get(&fetcher, &url), get(&fetcher, &url), get(&fetcher, &url));
    assert!([one, two, three].into_iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn if_the_first_connection_fails_the_next_request_opens_one() {
    let authority = Authority::new();
    let acceptor = authority.acceptor("good.test", 2100, &["http/1.1"]);
    let server = Server::start(move |stream, number, server| {
        let acceptor = acceptor.clone();
        async move {
            if number == 0 {
                return;
            }
            let mut stream = acceptor.accept(stream).await.unwrap();
            while server.heard(&mut stream).await.is_some() {
                stream.write_all(ANSWER.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let fetcher = trusting(&authority, &server, |c| c.per_host = 3);
    let url = url_of("good.test", &server);
    let (one, two, three) = tokio::join!(get(&fetcher, &url), get(&fetcher, &url), get(&fetcher, &url));
    assert_eq!(one.result.unwrap_err().kind, FailureKind::Tls);
    assert!(two.result.is_ok() && three.result.is_ok());
}

#[tokio::test]
async fn the_sessions_of_many_hosts_are_resumed() {
    const HOSTS: usize = 100;
    let authority = Authority::new();
    let mut tls = ServerConfig::clone(authority.acceptor("good.test", 2100, &[]).config());
    tls.ticketer = ring::Ticketer::new().unwrap();
    let (acceptor, resumed) = (TlsAcceptor::from(Arc::new(tls)), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&resumed);
    let server = Server::start(move |stream, _, server| {
        let (acceptor, count) = (acceptor.clone(), Arc::clone(&count));
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            let kind = stream.get_ref().1.handshake_kind();
            count.fetch_add(usize::from(kind == Some(HandshakeKind::Resumed)), Ordering::Relaxed);
            server.heard(&mut stream).await.unwrap();
            stream.write_all(ANSWER.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    })
    .await;
    let fetcher = trusting(&authority, &server, |c| c.insecure = true);
    for round in 0..2 {
        for host in 0..HOSTS {
            let answer = get(&fetcher, &url_of(&format!("h{host}.test"), &server)).await.result;
            assert!(answer.is_ok(), "{answer:?}");
        }
        assert_eq!(resumed.load(Ordering::Relaxed), round * HOSTS);
    }
}

#[tokio::test]
async fn bad_certificates_are_named_for_what_is_wrong() {
    let (trusted, stranger) = (Authority::new(), Authority::named("Stranger"));
    for (acceptor, line) in [
        (trusted.acceptor("good.test", 2020, &[]), "good.test: the certificate has expired"),
        (
            trusted.acceptor("other.test", 2100, &[]),
            "good.test: the certificate is for another name: DnsName(\"other.test\")",
        ),
        (stranger.acceptor("good.test", 2100, &[]), "good.test: the certificate's issuer is not trusted"),
    ] {
        let server = secure(acceptor, ANSWER, false).await;
        let failure =
            get(&trusting(&trusted, &server, |_| ()), &url_of("good.test", &server)).await.result.unwrap_err();
        assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::Tls, line));
        let careless = trusting(&trusted, &server, |c| c.insecure = true);
        assert!(get(&careless, &url_of("good.test", &server)).await.result.is_ok());
    }
}

#[tokio::test]
async fn a_port_without_tls_is_named() {
    let authority = Authority::new();
    let server = Server::start(|mut stream, _, _| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    })
    .await;
    let failure = get(&trusting(&authority, &server, |_| ()), &url_of("good.test", &server)).await.result.unwrap_err();
    assert_eq!(
        (failure.kind, failure.detail.as_str()),
        (FailureKind::Tls, "good.test: the server does not speak TLS on this port")
    );
    let server = Server::start(|_, _, _| async {}).await;
    let failure = get(&trusting(&authority, &server, |_| ()), &url_of("good.test", &server)).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Tls, "{}", failure.detail);
}

#[tokio::test]
async fn a_handshake_that_stalls_times_out() {
    let authority = Authority::new();
    let server = Server::start(|mut stream, _, server| async move {
        server.heard(&mut stream).await;
    })
    .await;
    let fetcher = trusting(&authority, &server, |c| c.timeouts.tls = std::time::Duration::from_millis(50));
    let failure = get(&fetcher, &url_of("good.test", &server)).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(failure.detail, "no TLS handshake with good.test within 50ms");
}

#[tokio::test]
async fn a_server_that_ends_without_saying_so_is_forgiven_where_the_length_tells() {
    let authority = Authority::new();
    for (answer, truncated) in [
        (ANSWER, None),
        ("HTTP/1.1 200 OK\r\n\r\nsecret", None),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsecret", Some(Truncation::Disconnect)),
    ] {
        let server = secure(authority.acceptor("good.test", 2100, &[]), answer, true).await;
        let response = get(&trusting(&authority, &server, |_| ()), &url_of("good.test", &server)).await.result.unwrap();
        assert_eq!((bytes(&response.body), response.truncated), (b"secret".to_vec(), truncated), "{answer}");
    }
}

#[tokio::test]
async fn a_file_without_certificates_is_refused() {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(b"no certificate").unwrap();
    let refused = Fetchers::new(FetchConfig { ca_file: Some(file.path().to_owned()), ..config() });
    assert!(matches!(refused.err(), Some(FetchError::NoCertificate { .. })));
    let missing = Fetchers::new(FetchConfig { ca_file: Some("/nonexistent.pem".into()), ..config() });
    assert!(matches!(missing.err(), Some(FetchError::CaFile { .. })));
}
