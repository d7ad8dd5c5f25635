//! Why does the browser trust the proxy?
//!
//! It is told the hash of one public key, made for this run. A certificate with that key is
//! accepted for every host, so one certificate serves all of them and none has to be signed while a
//! page waits. The key never leaves the memory of this process.

use crate::RenderError;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rcgen::{CertificateParams, KeyPair, PublicKeyData as _};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The proxy's side of TLS.
pub(crate) struct ProxyIdentity {
    /// Accepts connections of the browser.
    pub(crate) acceptor: TlsAcceptor,
    /// What the browser is told: the hash of the public key (SPKI), in base64.
    pub(crate) key: String,
}

impl ProxyIdentity {
    /// A new key with its certificate.
    pub(crate) fn new() -> Result<Self, RenderError> {
        let wrong = |error: &dyn std::fmt::Display| RenderError::Certificate(error.to_string());
        let key = KeyPair::generate().map_err(|e| wrong(&e))?;
        let named = CertificateParams::new(vec!["orbweaver.invalid".to_owned()]).map_err(|e| wrong(&e))?;
        let certificate = named.self_signed(&key).map_err(|e| wrong(&e))?;
        let hash = Sha256::digest(key.subject_public_key_info());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| wrong(&e))?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .map_err(|e| wrong(&e))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { acceptor: TlsAcceptor::from(Arc::new(config)), key: BASE64_STANDARD.encode(hash) })
    }
}
