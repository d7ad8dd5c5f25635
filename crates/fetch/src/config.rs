//! How is fetching to be done?

use crate::{FetchError, Jar, Keyring};
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
    /// The `User-Agent` sent.
    pub user_agent: String,
    /// How many sockets may be open at once, those still closing included.
    pub connections: usize,
    /// How many of them to one host; on HTTP/2, how many streams.
    pub per_host: usize,
    /// How long each phase may take.
    pub timeouts: Timeouts,
    /// A body slower than this many bytes a second over this long is cut off.
    pub min_speed: Option<(u64, Duration)>,
    /// Bodies are cut off here, or not begun where the headers announce more.
    pub max_size: u64,
    /// Bodies larger than this live in a temporary file instead of memory.
    pub spool_over: u64,
    /// Where such files are made.
    pub spool_dir: PathBuf,
    /// The media types wanted (`text/html`, `image/*`); all where empty. Others are cut off after the head.
    pub accept: Vec<String>,
    /// The proxy all requests go through.
    pub proxy: Option<Proxy>,
    /// Names with addresses given by the user; these pass the guard.
    pub resolve: Vec<Resolve>,
    /// The name server to ask instead of the system's.
    pub dns: Option<SocketAddr>,
    /// A PEM file with root certificates beside the built-in ones.
    pub ca_file: Option<PathBuf>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// How many bytes a second all sockets together may read.
    pub bandwidth: Option<u64>,
    /// Whether cookies are kept and sent back.
    pub cookies: bool,
    /// The cookies; several fetchers may share one jar.
    pub jar: Arc<Jar>,
    /// Who we are, for the hosts that ask; several fetchers may share one ring.
    pub keyring: Arc<Keyring>,
    /// Whether HTTP/2 is offered.
    pub http2: bool,
    /// Whether the URL of the page that pointed here is sent along.
    pub referer: bool,
    /// How long an unused connection is kept.
    pub keep_alive: Duration,
    /// Hosts (`name` or `name:port`) that may have private addresses: the seeds that do.
    pub private_hosts: Vec<String>,
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
            spool_over: 1_000_000,
            spool_dir: std::env::temp_dir(),
            accept: Vec::new(),
            proxy: None,
            resolve: Vec::new(),
            dns: None,
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
        }
    }
}

impl FetchConfig {
    /// The same with no wait so long that clocks cannot reckon with it.
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

    /// Says what cannot work.
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

/// How long each phase of a fetch may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Looking the name up.
    pub dns: Duration,
    /// Opening the connection, a proxy's CONNECT included.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From the request sent to the whole head received.
    pub head: Duration,
    /// Between two bytes of the body.
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
    /// The value of `Proxy-Authorization`, where the URL held a user.
    pub authorization: Option<String>,
}

impl fmt::Debug for Proxy {
    /// Without the password.
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

/// An address given by the user for a name, as curl's `--resolve` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The name, lower case; `*` for every name.
    pub host: String,
    /// The port it holds for.
    pub port: u16,
    /// The address to go to.
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
        let port = port.parse().map_err(|_| wrong("the port is no number up to 65535"))?;
        let addr = bare_host(addr).parse().map_err(|_| wrong("the address is none"))?;
        Ok(Self { host: host.to_ascii_lowercase(), port, addr })
    }
}

/// A host without the brackets that URLs put around IPv6 addresses.
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
