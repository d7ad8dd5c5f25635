//! Is this really the server, and what do we report if it is not?

use crate::{FetchConfig, FetchError};
use orb_page::{Failure, FailureKind};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Hosts whose sessions are kept to be resumed. Far more hosts take turns than have connections,
/// and a resumed handshake spares both sides the certificates: by default rustls remembers 32 hosts
/// and forgets the first of them first, which with more hosts than that in turn is none. A host
/// takes about 5 kB.
const HOSTS_REMEMBERED: usize = 1_024;
/// Tickets that rustls keeps for a host, which it counts as so many sessions.
const TICKETS_A_HOST: usize = 8;

/// The suites with AES-128.
const AES_128: [CipherSuite; 3] = [
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
];

/// The TLS client configuration for all connections of a protocol, which offers to speak these
/// protocols (ALPN), in order of preference; none if the server knows by the port.
pub(crate) fn client(config: &FetchConfig, offered: &[&[u8]]) -> Result<Arc<ClientConfig>, FetchError> {
    let provider = Arc::new(provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let builder = if config.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
    } else {
        builder.with_root_certificates(roots(config.ca_file.as_deref())?)
    };
    let mut client = builder.with_no_client_auth();
    client.resumption = Resumption::in_memory_sessions(HOSTS_REMEMBERED * TICKETS_A_HOST);
    client.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(client))
}

/// The same without the sessions of others: only what is learnt on one connection is resumed on
/// those beside it.
pub(crate) fn apart(client: &ClientConfig) -> Arc<ClientConfig> {
    let mut client = client.clone();
    client.resumption = Resumption::in_memory_sessions(TICKETS_A_HOST);
    Arc::new(client)
}

/// ring, with AES-128 offered first, as browsers do: rustls prefers AES-256, whose handshake hashes
/// with SHA-384, for which processors have no instructions as they have for SHA-256.
fn provider() -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.cipher_suites.sort_by_key(|suite| !AES_128.contains(&suite.suite()));
    provider
}

fn roots(extra: Option<&Path>) -> Result<RootCertStore, FetchError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let Some(path) = extra else { return Ok(roots) };
    let unreadable = |source| FetchError::CaFile { path: path.to_owned(), source };
    let pem = std::fs::read(path).map_err(unreadable)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certificates = certificates.map_err(|e| unreadable(io::Error::other(e.to_string())))?;
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 { Err(FetchError::NoCertificate { path: path.to_owned() }) } else { Ok(roots) }
}

/// Accepts every certificate: for archiving unmaintained servers.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// A failed handshake, in one line.
pub(crate) fn failure(host: &str, error: &io::Error) -> Failure {
    let tls = error.get_ref().and_then(|e| e.downcast_ref::<Error>());
    let why = match tls {
        Some(Error::InvalidCertificate(certificate)) => certificate_line(certificate),
        Some(Error::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion)) => {
            "the server offers no TLS version or cipher that is still safe".to_owned()
        }
        Some(Error::AlertReceived(alert)) => format!("the server refused the handshake: {alert:?}"),
        Some(Error::InvalidMessage(_)) => "the server does not speak TLS on this port".to_owned(),
        Some(other) => other.to_string(),
        None if error.kind() == io::ErrorKind::UnexpectedEof => "the server hung up during the handshake".to_owned(),
        None => format!("the handshake broke off: {error}"),
    };
    Failure::new(FailureKind::Tls, format!("{host}: {}", crate::line::one_line(&why)))
}

fn certificate_line(error: &CertificateError) -> String {
    use CertificateError as E;
    match error {
        E::Expired | E::ExpiredContext { .. } => "the certificate has expired".to_owned(),
        E::NotValidYet | E::NotValidYetContext { .. } => "the certificate is not valid yet".to_owned(),
        E::UnknownIssuer => "the certificate's issuer is not trusted".to_owned(),
        E::NotValidForName => "the certificate is for another name".to_owned(),
        E::NotValidForNameContext { presented, .. } => {
            let names: Vec<_> = presented.iter().take(3).map(String::as_str).collect();
            format!("the certificate is for another name: {}", names.join(", "))
        }
        E::Revoked => "the certificate was revoked".to_owned(),
        E::BadSignature => "the certificate's signature is wrong".to_owned(),
        other => format!("the certificate is bad: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::SupportedCipherSuite;

    #[test]
    fn aes_128_is_offered_first_and_nothing_is_left_out() {
        let (ours, all) = (provider().cipher_suites, ring::default_provider().cipher_suites);
        let first: Vec<CipherSuite> = ours.iter().take(3).map(SupportedCipherSuite::suite).collect();
        assert!(first.iter().all(|suite| AES_128.contains(suite)), "{first:?}");
        assert!(ours.len() == all.len() && all.iter().all(|suite| ours.contains(suite)));
    }
}
