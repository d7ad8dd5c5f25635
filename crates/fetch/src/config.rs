//! How is fetching configured?

use crate::{FetchError, HostKeys, Jar, Keyring};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Every setting of the fetchers. Start from [`FetchConfig::default`] and change what differs.
#[derive(Clone, Debug)]
pub struct FetchConfig {
    /// The `User-Agent`.
    pub user_agent: String,
    /// Maximum sockets open at once, including those still closing.
    pub connections: usize,
    /// Maximum connections per host; on HTTP/2, maximum streams.
    pub per_host: usize,
    /// Timeouts of the phases.
    pub timeouts: Timeouts,
    /// A body slower than this many bytes per second over this long is cut off.
    pub min_speed: Option<(u64, Duration)>,
    /// Larger bodies are cut off here, or not begun if the headers announce more.
    pub max_size: u64,
    /// The same for documents, if that is more.
    pub max_document_size: u64,
    /// Which media types are those of documents.
    pub is_document: fn(&str) -> bool,
    /// Larger bodies are spooled to a temporary file instead of memory.
    pub spool_over: u64,
    /// The directory of those files.
    pub spool_dir: PathBuf,
    /// The accepted media types (`text/html`, `image/*`); all if empty. Others are cut off after
    /// the head.
    pub accept: Vec<String>,
    /// The proxy for all requests.
    pub proxy: Option<Proxy>,
    /// Addresses that the user gave for names; these pass the guard.
    pub resolve: Vec<Resolve>,
    /// The name server to use instead of the system's.
    pub dns: Option<SocketAddr>,
    /// The address of this machine that connections come from.
    pub source: Option<IpAddr>,
    /// A PEM file with additional root certificates.
    pub ca_file: Option<PathBuf>,
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Maximum bytes per second over all sockets together.
    pub bandwidth: Option<u64>,
    /// Whether cookies are stored and sent back.
    pub cookies: bool,
    /// The cookies; several fetchers may share one jar.
    pub jar: Arc<Jar>,
    /// Credentials for hosts that ask; several fetchers may share one keyring.
    pub keyring: Arc<Keyring>,
    /// Whether HTTP/2 is offered.
    pub http2: bool,
    /// Whether the `Referer` is sent.
    pub referer: bool,
    /// How long an idle connection is kept.
    pub keep_alive: Duration,
    /// Hosts (`name` or `name:port`) that may have private addresses: the seeds that do.
    pub private_hosts: Vec<String>,
    /// Whether FTP is spoken under TLS.
    pub ftp_tls: FtpTls,
    /// The program that speaks SSH, for SFTP.
    pub ssh_program: PathBuf,
    /// The keys that its servers may have.
    pub host_keys: Arc<HostKeys>,
    /// The directories of this machine that may be read, with all below them; none by default.
    pub file_roots: Vec<PathBuf>,
}

/// Whether FTP is spoken under TLS (`AUTH TLS`). The scheme `ftps` always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FtpTls {
    /// Where the server offers it.
    #[default]
    Try,
    /// Or not at all.
    Require,
    /// Never.
    Off,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            user_agent: concat!("orbweaver/", env!("CARGO_PKG_VERSION")).to_owned(),
            connections: 256,
            per_host: 2,
            timeouts: Timeouts::default(),
            min_speed: Some((50, Duration::from_secs(30))),
            max_size: 10_000_000,
            max_document_size: 0,
            is_document: |_| false,
            spool_over: 1_000_000,
            spool_dir: std::env::temp_dir(),
            accept: Vec::new(),
            proxy: None,
            resolve: Vec::new(),
            dns: None,
            source: None,
            ca_file: None,
            insecure: false,
            bandwidth: None,
            cookies: true,
            jar: Arc::default(),
            keyring: Arc::default(),
            http2: true,
            referer: false,
            keep_alive: Duration::from_secs(15),
            private_hosts: Vec::new(),
            ftp_tls: FtpTls::Try,
            ssh_program: "ssh".into(),
            host_keys: Arc::default(),
            file_roots: Vec::new(),
        }
    }
}

impl FetchConfig {
    /// The maximum size of a body of this media type.
    pub fn max_size_of(&self, mime: Option<&str>) -> u64 {
        let is_document = mime.is_some_and(self.is_document);
        if is_document { self.max_size.max(self.max_document_size) } else { self.max_size }
    }

    /// The same with durations clamped to what clocks can represent.
    pub(crate) fn bounded(mut self) -> Self {
        const YEAR: Duration = Duration::from_secs(365 * 86_400);
        let t = &mut self.timeouts;
        for wait in [&mut t.dns, &mut t.connect, &mut t.tls, &mut t.head, &mut t.idle, &mut t.total] {
            *wait = YEAR.min(*wait);
        }
        self.keep_alive = YEAR.min(self.keep_alive);
        self.min_speed = self.min_speed.map(|(speed, over)| (speed, YEAR.min(over)));
        self
    }

    /// Whether a media type is one of those to fetch.
    pub(crate) fn accepts(&self, mime: &str) -> bool {
        self.accept.is_empty() || self.accept.iter().any(|pattern| matches_pattern(mime, pattern))
    }

    /// Rejects settings that cannot work.
    pub(crate) fn check(&self) -> Result<(), FetchError> {
        if !self.user_agent.bytes().all(|b| (b' '..=b'~').contains(&b)) || self.user_agent.trim().is_empty() {
            return Err(FetchError::UserAgent(self.user_agent.clone()));
        }
        if self.connections == 0 {
            return Err(FetchError::Zero("connections"));
        }
        if self.per_host == 0 {
            return Err(FetchError::Zero("connections per host"));
        }
        Ok(())
    }
}

/// Timeouts of the phases of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// DNS look-up.
    pub dns: Duration,
    /// Connecting, including a proxy's CONNECT.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From sending the request to receiving the complete head.
    pub head: Duration,
    /// Between two reads of the body.
    pub idle: Duration,
    /// The whole fetch, from the moment a connection is granted.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            dns: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            head: Duration::from_secs(30),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(120),
        }
    }
}

impl Timeouts {
    /// The defaults with no phase longer than `total`.
    pub fn within(total: Duration) -> Self {
        let all = Self::default();
        Self {
            dns: all.dns.min(total),
            connect: all.connect.min(total),
            tls: all.tls.min(total),
            head: all.head.min(total),
            idle: all.idle.min(total),
            total,
        }
    }
}

/// A proxy that speaks plain HTTP to us.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its host name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The value of `Proxy-Authorization`, if the URL contained a user.
    pub authorization: Option<String>,
}

impl fmt::Debug for Proxy {
    /// Omits the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({}:{}, password: {})", self.host, self.port, self.authorization.is_some())
    }
}

impl FromStr for Proxy {
    type Err = FetchError;

    fn from_str(text: &str) -> Result<Self, FetchError> {
        let shown = text.rsplit('@').next().unwrap_or(text);
        let wrong = |why: String| FetchError::Proxy { text: shown.to_owned(), why };
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&whole).map_err(|e| wrong(e.to_string()))?;
        if url.scheme() != "http" {
            return Err(wrong(format!("the scheme {} is not supported", url.scheme())));
        }
        let host = url.host_str().ok_or_else(|| wrong("no host".to_owned()))?;
        let port = url.port_or_known_default().unwrap_or(80);
        Ok(Self { host: bare_host(host).to_owned(), port, authorization: crate::http::basic_authorization(&url) })
    }
}

/// An address given by the user for a name, like curl's `--resolve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The name in lower case; `*` for every name.
    pub host: String,
    /// The port it applies to.
    pub port: u16,
    /// The address to connect to.
    pub addr: IpAddr,
}

impl FromStr for Resolve {
    type Err = FetchError;

    fn from_str(text: &str) -> Result<Self, FetchError> {
        let wrong = |why| FetchError::Resolve { text: text.to_owned(), why };
        let (host, rest) = text.split_once(':').ok_or_else(|| wrong("two colons are needed"))?;
        let (port, addr) = rest.split_once(':').ok_or_else(|| wrong("two colons are needed"))?;
        if host.is_empty() {
            return Err(wrong("the host is missing"));
        }
        let port = port.parse().map_err(|_| wrong("the port is not a number up to 65535"))?;
        let addr = bare_host(addr).parse().map_err(|_| wrong("the address is none"))?;
        Ok(Self { host: host.to_ascii_lowercase(), port, addr })
    }
}

/// Whether a media type matches a pattern such as `text/html`, `image/*` or `*/*`.
fn matches_pattern(mime: &str, pattern: &str) -> bool {
    match pattern.trim().strip_suffix('*') {
        Some(front) => mime.get(..front.len()).is_some_and(|m| front == "*/" || m.eq_ignore_ascii_case(front)),
        None => mime.eq_ignore_ascii_case(pattern.trim()),
    }
}

/// A host without the brackets of IPv6 literals.
pub(crate) fn bare_host(host: &str) -> &str {
    host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_read_with_its_password_and_never_shows_it() {
        let proxy: Proxy = "http://me:se%40cret@proxy.example:3128".parse().unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 3128));
        assert_eq!(proxy.authorization.as_deref(), Some("Basic bWU6c2VAY3JldA=="));
        assert!(!format!("{proxy:?}").contains("bWU6"));
        let plain: Proxy = "[::1]:8080".parse().unwrap();
        assert_eq!((plain.host.as_str(), plain.port, plain.authorization), ("::1", 8080, None));
        let refused = "socks5://me:secret@proxy.example".parse::<Proxy>().unwrap_err().to_string();
        assert!(refused.contains("socks5") && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn an_override_is_read_like_curls() {
        let v4: Resolve = "WWW.example:443:127.0.0.1".parse().unwrap();
        assert_eq!((v4.host.as_str(), v4.port, v4.addr.to_string().as_str()), ("www.example", 443, "127.0.0.1"));
        let v6: Resolve = "*:80:[::1]".parse().unwrap();
        assert_eq!((v6.host.as_str(), v6.addr.to_string().as_str()), ("*", "::1"));
        for wrong in ["", "a", "a:80", ":80:1.2.3.4", "a:99999:1.2.3.4", "a:80:b"] {
            assert!(wrong.parse::<Resolve>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let refused = |change: fn(&mut FetchConfig)| {
            let mut config = FetchConfig::default();
            change(&mut config);
            config.check().is_err()
        };
        assert!(!refused(|_| ()));
        assert!(refused(|c| c.user_agent = "bot\r\nX: y".to_owned()));
        assert!(refused(|c| c.user_agent = " ".to_owned()));
        assert!(refused(|c| c.connections = 0));
        assert!(refused(|c| c.per_host = 0));
    }
}
