//! What did servers ask us to send back?
//!
//! A cookie jar after RFC 6265 (and 6265bis, where browsers moved on): domain and path matching,
//! Secure, Max-Age before Expires, name prefixes, and no cookie for a public suffix. It is bounded
//! against servers that set endless cookies, and an empty jar costs a request one atomic load. It
//! never runs scripts, so HttpOnly makes no difference.

mod file;
mod parse;

use parse::SetCookie;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use url::{Host, Url};

/// Maximum cookies per domain.
const PER_DOMAIN: usize = 50;
/// Maximum length of name and value together.
const LARGEST: usize = 4_096;
/// Maximum length of the `Cookie` field: servers reject longer heads, and a page must not be able
/// to lock us out of its neighbours.
const LONGEST_FIELD: usize = 8_192;
/// Maximum size of all cookies, in bytes of names, values and paths.
const TOTAL: usize = 16 << 20;
/// Maximum lifetime of a cookie (RFC 6265bis, 5.5).
const LONGEST: Duration = Duration::from_secs(400 * 86_400);

/// The cookies of all hosts, shared by all requests of a fetcher.
#[derive(Debug)]
pub struct Jar {
    shelves: Mutex<Shelves>,
    /// Number of cookies, readable without the lock.
    count: AtomicUsize,
    total: usize,
}

impl Default for Jar {
    fn default() -> Self {
        Self { shelves: Mutex::default(), count: AtomicUsize::new(0), total: TOTAL }
    }
}

/// Cookies by domain, and domains by age.
#[derive(Debug, Default)]
struct Shelves {
    by_domain: HashMap<String, Vec<Cookie>>,
    oldest_first: VecDeque<String>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Cookie {
    name: String,
    value: String,
    path: String,
    /// For its domain only, not for subdomains.
    host_only: bool,
    secure: bool,
    /// In Unix time; `None` lives as long as the jar.
    expires: Option<i64>,
}

impl Cookie {
    fn heap_bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.path.len() + size_of::<Self>()
    }
}

impl Jar {
    /// Stores the `Set-Cookie` values of a response from `url`.
    pub fn store<'a>(&self, url: &Url, values: impl IntoIterator<Item = &'a [u8]>, now: SystemTime) {
        let now = unix(now);
        for value in values {
            let Some(set) = SetCookie::parse(value, now) else { continue };
            let Some((domain, cookie)) = accept(set, url, now) else { continue };
            let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
            if is_trusted(url) || !shelves.has_secure(&domain, &cookie.name) {
                shelves.put(domain, cookie, now, self.total);
            }
            self.count.store(shelves.by_domain.len(), Ordering::Release);
        }
    }

    /// The `Cookie` value for a request to `url`, if there is one.
    pub fn header(&self, url: &Url, now: SystemTime) -> Option<String> {
        // The fast path of crawls without cookies: no lock.
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let (now, secure) = (unix(now), is_trusted(url));
        let shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fitting = Vec::new();
        for (depth, domain) in own_and_parents(url).enumerate() {
            let cookies = shelves.by_domain.get(domain).map_or(&[][..], Vec::as_slice);
            fitting.extend(cookies.iter().filter(|c| {
                (depth == 0 || !c.host_only)
                    && (secure || !c.secure)
                    && c.expires.is_none_or(|e| e > now)
                    && path_matches(url.path(), &c.path)
            }));
        }
        fitting.sort_by_key(|c| std::cmp::Reverse(c.path.len()));
        let mut field = String::new();
        for cookie in fitting {
            if field.len() + cookie.name.len() + cookie.value.len() + "; =".len() > LONGEST_FIELD {
                break;
            }
            let between = if field.is_empty() { "" } else { "; " };
            field.extend([between, &cookie.name, "=", &cookie.value]);
        }
        (!field.is_empty()).then_some(field)
    }

    /// Number of cookies.
    pub fn len(&self) -> usize {
        let shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        shelves.by_domain.values().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Shelves {
    /// Whether a domain has a Secure cookie of this name: it must not be overwritten without TLS.
    fn has_secure(&self, domain: &str, name: &str) -> bool {
        self.by_domain.get(domain).is_some_and(|shelf| shelf.iter().any(|c| c.secure && c.name == name))
    }

    /// Stores a cookie in place of an equivalent one; an expired cookie only removes it.
    fn put(&mut self, domain: String, cookie: Cookie, now: i64, total: usize) {
        if !self.by_domain.contains_key(&domain) {
            if cookie.expires.is_some_and(|e| e <= now) {
                return;
            }
            self.bytes += shelf_heap_bytes(&domain);
            self.oldest_first.push_back(domain.clone());
        }
        let shelf = self.by_domain.entry(domain).or_default();
        let before: usize = shelf.iter().map(Cookie::heap_bytes).sum();
        let place = shelf.iter().position(|c| c.name == cookie.name && c.path == cookie.path);
        match (place, cookie.expires.is_some_and(|e| e <= now)) {
            (Some(at), true) => drop(shelf.remove(at)),
            (Some(at), false) => shelf[at] = cookie,
            (None, true) => (),
            (None, false) => {
                if shelf.len() >= PER_DOMAIN {
                    shelf.retain(|c| c.expires.is_none_or(|e| e > now));
                }
                if shelf.len() >= PER_DOMAIN {
                    shelf.remove(0);
                }
                shelf.push(cookie);
            }
        }
        let after: usize = shelf.iter().map(Cookie::heap_bytes).sum();
        self.bytes = self.bytes + after - before;
        self.make_room(total);
    }

    fn make_room(&mut self, total: usize) {
        while self.bytes > total {
            let Some(oldest) = self.oldest_first.pop_front() else { return };
            let gone = self.by_domain.remove(&oldest).unwrap_or_default();
            self.bytes -= gone.iter().map(Cookie::heap_bytes).sum::<usize>() + shelf_heap_bytes(&oldest);
        }
    }
}

/// Memory of a domain without cookies.
fn shelf_heap_bytes(domain: &str) -> usize {
    2 * domain.len() + 128
}

/// The cookie and its domain, if `url` may set it.
fn accept(set: SetCookie, url: &Url, now: i64) -> Option<(String, Cookie)> {
    if set.name.len() + set.value.len() > LARGEST || set.path.as_ref().is_some_and(|p| p.len() > LARGEST) {
        return None;
    }
    let host = url.host_str()?;
    let domain = match set.domain {
        Some(domain) if domain != host => {
            if !matches!(url.host()?, Host::Domain(_)) || !is_below(host, &domain) || is_public_suffix(&domain) {
                return None;
            }
            Some(domain)
        }
        // A host that is itself a public suffix may set host-only cookies.
        Some(domain) => (!is_public_suffix(&domain) && matches!(url.host()?, Host::Domain(_))).then_some(domain),
        None => None,
    };
    let prefixed = |prefix: &str| set.name.get(..prefix.len()).is_some_and(|p| p.eq_ignore_ascii_case(prefix));
    if (set.secure && !is_trusted(url))
        || (prefixed("__Secure-") && !set.secure)
        || (prefixed("__Host-") && (!set.secure || domain.is_some() || set.path.as_deref() != Some("/")))
    {
        return None;
    }
    let path = set.path.filter(|p| p.starts_with('/')).unwrap_or_else(|| default_path(url.path()).to_owned());
    let latest = now.saturating_add(i64::try_from(LONGEST.as_secs()).unwrap_or(i64::MAX));
    let cookie = Cookie {
        name: set.name,
        value: set.value,
        path,
        host_only: domain.is_none(),
        secure: set.secure,
        expires: set.expires.map(|e| e.min(latest)),
    };
    Some((domain.unwrap_or_else(|| host.to_owned()), cookie))
}

/// Whether `Secure` cookies may be sent: over TLS, or on this machine.
fn is_trusted(url: &Url) -> bool {
    url.scheme() == "https" || matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Whether a name is a subdomain of a domain.
fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|front| front.ends_with('.'))
}

/// Whether anybody may register names directly below this domain.
fn is_public_suffix(domain: &str) -> bool {
    psl::suffix(domain.as_bytes()).is_some_and(|s| s.as_bytes() == domain.as_bytes())
}

/// The host itself and, if it is a name, all its parent domains.
fn own_and_parents(url: &Url) -> impl Iterator<Item = &str> {
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    std::iter::successors(url.host_str(), move |d| if is_name { d.split_once('.').map(|(_, up)| up) } else { None })
}

/// RFC 6265, 5.1.4.
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(at) if at > 0 && path.starts_with('/') => &path[..at],
        _ => "/",
    }
}

/// RFC 6265, 5.1.4.
fn path_matches(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

fn unix(t: SystemTime) -> i64 {
    i64::try_from(t.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
