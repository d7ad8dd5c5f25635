//! Which address does a name have?
//!
//! The frontier resolves before it grants a lease, because politeness applies to addresses too; the
//! connector resolves again only if no address was pinned. Answers are cached for their TTL, within
//! bounds, and so are failures (negative caching), so a dead name costs one query and not one per
//! page. Every answer has passed the guard.

use crate::config::{FetchConfig, bare_host};
use crate::{AddressGuard, FetchError, why_not_public};
use hickory_resolver::config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver as Hickory, TokioResolver};
use orb_page::{Failure, FailureKind};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout};

/// Maximum names cached: at about 200 bytes each, 10 MB.
const NAMES: usize = 50_000;
const SHORTEST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(6 * 3600);
/// How long it is cached that a name does not exist.
const ABSENT: Duration = Duration::from_secs(300);
/// How long it is cached that the name server failed.
const FAILED: Duration = Duration::from_secs(30);

/// Resolves and caches addresses, and returns none that the guard forbids.
pub(super) struct Resolver {
    source: Upstream,
    /// Addresses given by the user by name and port; `*` stands for every name.
    overrides: HashMap<(String, u16), IpAddr>,
    guard: Arc<AddressGuard>,
    patience: Duration,
    known: Mutex<HashMap<Box<str>, Arc<OnceCell<ResolvedName>>>>,
}

/// The upstream.
enum Upstream {
    /// Name servers, by our own client: answers come with their TTL and need no thread.
    Servers(Box<TokioResolver>),
    /// The system's resolver, if its configuration cannot be read.
    System,
}

/// What is known about a name.
struct ResolvedName {
    addrs: Result<Vec<IpAddr>, Failure>,
    until: Instant,
}

impl Resolver {
    pub(super) fn new(config: &FetchConfig, guard: Arc<AddressGuard>) -> Result<Self, FetchError> {
        let patience = config.timeouts.dns;
        let (source, known) = (Upstream::new(config)?, Mutex::default());
        // As with curl, the first entry for a host wins.
        let named = config.resolve.iter().rev().map(|r| ((r.host.clone(), r.port), r.addr));
        Ok(Self { source, overrides: named.collect(), guard, patience, known })
    }

    /// The address to connect to for a host.
    pub(super) async fn resolve(&self, host: &str, port: u16) -> Result<IpAddr, Failure> {
        let host = bare_host(host);
        if let Some(addr) = self.overridden(host, port) {
            return Ok(addr);
        }
        if let Ok(addr) = host.parse() {
            return self.guard.check(host, port, addr).map(|()| addr);
        }
        let cell = self.cell(host);
        let answer = cell.get_or_init(|| self.ask(host)).await;
        let addrs = answer.addrs.as_ref().map_err(Clone::clone)?;
        let mut refused = None;
        for &addr in addrs {
            match self.guard.check(host, port, addr) {
                Ok(()) => return Ok(addr),
                Err(failure) => refused = Some(failure),
            }
        }
        Err(refused.unwrap_or_else(|| Failure::new(FailureKind::Dns, format!("{host} has no address"))))
    }

    /// Whether a previously resolved address may be connected to now.
    pub(super) fn check(&self, host: &str, port: u16, addr: IpAddr) -> Result<(), Failure> {
        let refused = self.guard.check(host, port, addr);
        if refused.is_err() && self.overridden(bare_host(host), port) == Some(addr) { Ok(()) } else { refused }
    }

    /// Moves an unresponsive address behind the others of its name.
    pub(super) fn demote(&self, host: &str, addr: IpAddr) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(cell) = known.get_mut(host) else { return };
        let Some(ResolvedName { addrs: Ok(addrs), until }) = cell.get() else { return };
        if addrs.len() > 1 && addrs[0] == addr {
            let mut turned = addrs.clone();
            turned.rotate_left(1);
            *cell = Arc::new(OnceCell::new_with(Some(ResolvedName { addrs: Ok(turned), until: *until })));
        }
    }

    fn overridden(&self, host: &str, port: u16) -> Option<IpAddr> {
        if self.overrides.is_empty() {
            return None;
        }
        let found = |name: &str| self.overrides.get(&(name.to_owned(), port)).copied();
        found(&host.to_ascii_lowercase()).or_else(|| found("*"))
    }

    /// The cell that holds or will hold the answer for a name, shared by concurrent queries.
    fn cell(&self, host: &str) -> Arc<OnceCell<ResolvedName>> {
        let now = Instant::now();
        let current = |cell: &Arc<OnceCell<ResolvedName>>| cell.get().is_none_or(|a| a.until > now);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = known.get(host).filter(|c| current(c)) {
            return cell.clone();
        }
        if known.len() >= NAMES {
            known.retain(|_, cell| current(cell));
        }
        if known.len() >= NAMES {
            let mut keep = false;
            known.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
        let cell = Arc::<OnceCell<ResolvedName>>::default();
        known.insert(host.into(), cell.clone());
        cell
    }

    async fn ask(&self, host: &str) -> ResolvedName {
        let found = match timeout(self.patience, self.source.look_up(host)).await {
            Ok(found) => found,
            Err(_) => Err((format!("no answer from the name server within {:?}", self.patience), FAILED)),
        };
        match found {
            Ok((mut addrs, ttl)) => {
                // Public ones first: a name with a public address is public, and its other
                // addresses are off limits whatever the seeds opened.
                addrs.sort_by_key(|a| (why_not_public(*a).is_some(), a.is_ipv6()));
                ResolvedName { addrs: Ok(addrs), until: Instant::now() + ttl.clamp(SHORTEST, LONGEST) }
            }
            Err((why, keep)) => {
                let failure = Failure::new(FailureKind::Dns, format!("cannot resolve {host}: {why}"));
                ResolvedName { addrs: Err(failure), until: Instant::now() + keep }
            }
        }
    }
}

/// Addresses and their TTL, or the error and its TTL.
type DnsLookup = Result<(Vec<IpAddr>, Duration), (String, Duration)>;

impl Upstream {
    fn new(config: &FetchConfig) -> Result<Self, FetchError> {
        let builder = match config.dns {
            Some(server) => Ok(Hickory::builder_with_config(own_server(server), TokioRuntimeProvider::default())),
            None => TokioResolver::builder_tokio(),
        };
        let Ok(mut builder) = builder else { return Ok(Self::System) };
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.timeout = (config.timeouts.dns / 2).max(Duration::from_millis(1));
        options.attempts = 1;
        options.cache_size = 0;
        options.max_active_requests = 1_024;
        let resolver = builder.build().map_err(|e| FetchError::Resolver(e.to_string()))?;
        Ok(Self::Servers(Box::new(resolver)))
    }

    async fn look_up(&self, host: &str) -> DnsLookup {
        match self {
            Self::Servers(resolver) => {
                // A final dot keeps the search list away from names that already have a domain.
                let absolute = host.contains('.') && !host.ends_with('.');
                let name = if absolute { format!("{host}.") } else { host.to_owned() };
                let found = resolver.lookup_ip(name).await.map_err(|e| {
                    if e.is_nx_domain() {
                        ("no such name".to_owned(), ABSENT)
                    } else if e.is_no_records_found() {
                        ("the name has no address".to_owned(), ABSENT)
                    } else {
                        (one_line(&e.to_string()), FAILED)
                    }
                })?;
                let ttl = found.valid_until().saturating_duration_since(std::time::Instant::now());
                Ok((found.iter().collect(), ttl))
            }
            Self::System => {
                let found = tokio::net::lookup_host((host, 0)).await.map_err(|e| (one_line(&e.to_string()), ABSENT))?;
                Ok((found.map(|a| a.ip()).collect(), SHORTEST))
            }
        }
    }
}

/// A single name server on any port, by UDP with TCP for large answers.
fn own_server(server: SocketAddr) -> ResolverConfig {
    let mut at = NameServerConfig::udp_and_tcp(server.ip());
    let on_port = |mut c: ConnectionConfig| {
        c.port = server.port();
        c
    };
    at.connections = at.connections.into_iter().map(on_port).collect();
    ResolverConfig::from_name_servers(vec![at])
}

/// A foreign error message, folded into one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
