//! How does a test get a site behind TLS, with a valid or an invalid certificate?

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Nothing, if the issuer is trusted.
    None,
    /// It has expired.
    Expired,
    /// It is for another host.
    WrongName,
}

/// A server of one page over TLS, until it is dropped.
pub(crate) struct SecureSite {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    /// The issuer's certificate, to be trusted.
    pub(crate) issuer: String,
}

impl SecureSite {
    /// Serves `page` at every path, as `127.0.0.1`.
    pub(crate) fn serve(page: &'static str, flaw: Flaw) -> Self {
        let (config, issuer) = identity(flaw);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let closing = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&closing);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let config = Arc::clone(&config);
                // A client that aborts because of the certificate is what half of the tests are
                // about.
                std::thread::spawn(move || drop(talk(config, stream, page)));
            }
        });
        Self { address, closing, issuer }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }
}

impl Drop for SecureSite {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

fn talk(config: Arc<ServerConfig>, socket: TcpStream, page: &str) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, socket));
    loop {
        let mut first = String::new();
        if stream.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
        }
        let (status, body) = if first.contains("robots.txt") { ("404 Not Found", "") } else { ("200 OK", page) };
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.get_mut().write_all(format!("{head}{body}").as_bytes())?;
        stream.get_mut().flush()?;
    }
}

/// A certificate for `127.0.0.1`, its key and the issuer's certificate as files in a new directory.
pub(crate) fn server_files(dir: &Path) -> (String, String, String) {
    std::fs::create_dir(dir).unwrap();
    let signed = signed(Flaw::None);
    let file = |name: &str, text: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let key = file("key.pem", &signed.key.serialize_pem());
    (file("certificate.pem", &signed.certificate.pem()), key, file("issuer.pem", &signed.issuer))
}

/// A certificate with its key, and the certificate of its issuer.
struct Signed {
    certificate: Certificate,
    key: KeyPair,
    issuer: String,
}

/// A certificate with its key, signed by a new issuer, and the issuer's certificate.
fn identity(flaw: Flaw) -> (Arc<ServerConfig>, String) {
    let Signed { certificate, key, issuer } = signed(flaw);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    (Arc::new(config), issuer)
}

fn signed(flaw: Flaw) -> Signed {
    let mut issuing = CertificateParams::new(Vec::new()).unwrap();
    issuing.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // A certificate whose issuer has its own name counts as signed by itself.
    issuing.distinguished_name.push(DnType::CommonName, "issuer");
    let issuer_key = KeyPair::generate().unwrap();
    let issuer_pem = issuing.self_signed(&issuer_key).unwrap().pem();
    let name = if flaw == Flaw::WrongName { "elsewhere.test" } else { "127.0.0.1" };
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    if flaw == Flaw::Expired {
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2002, 1, 1);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &Issuer::new(issuing, issuer_key)).unwrap();
    Signed { certificate, key, issuer: issuer_pem }
}
