//! Who issues the certificates of a web under TLS?
//!
//! A certificate authority created for one web, and one certificate for the addresses of all its
//! hosts (ECDSA P-256, the smallest that everybody accepts). Every tool trusts the authority and
//! none skips verification, so that each pays what a crawl of the real web pays.

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Certificates and keys in a directory that is removed on drop.
pub(super) struct Authority {
    dir: PathBuf,
}

impl Authority {
    /// An authority for this many hosts, the first of which is 127.0.0.1.
    pub(super) fn of(hosts: u32) -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("orb-bench-{}-tls-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let authority = Self { dir };
        authority.issue(hosts)?;
        Ok(authority)
    }

    fn issue(&self, hosts: u32) -> Result<()> {
        let mut issuing = CertificateParams::default();
        issuing.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        issuing.distinguished_name.push(DnType::CommonName, "Authority of the bench");
        let issuer_key = KeyPair::generate()?;
        let issuer_pem = issuing.self_signed(&issuer_key)?.pem();
        let first = u32::from(Ipv4Addr::LOCALHOST);
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "Hosts of the bench");
        params.subject_alt_names =
            (0..hosts).map(|host| SanType::IpAddress(Ipv4Addr::from(first + host).into())).collect();
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &Issuer::new(issuing, issuer_key))?.pem();
        for (name, text) in [("ca.pem", issuer_pem), ("hosts.pem", certificate), ("hosts.key", key.serialize_pem())] {
            let path = self.dir.join(name);
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// The certificate to trust (PEM).
    pub(super) fn ca_file(&self) -> PathBuf {
        self.dir.join("ca.pem")
    }

    /// The server's arguments.
    pub(super) fn arguments(&self) -> [PathBuf; 4] {
        let flag = |name: &str| Path::new(name).to_owned();
        [flag("--tls-cert"), self.dir.join("hosts.pem"), flag("--tls-key"), self.dir.join("hosts.key")]
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        // What is left in the temporary directory does no harm.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
