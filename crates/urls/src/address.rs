//! What is the one canonical spelling under which a page is known?

use crate::canonical::plain;
use crate::{Refused, scheme};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use url::{Position, Url};

/// A canonical URL with a host and a scheme that is fetched. Two addresses are equal when their
/// text is equal.
#[derive(Clone)]
pub struct Address {
    text: String,
    marks: PartOffsets,
}

/// Byte offsets of the parts of an address.
#[derive(Clone, Copy)]
pub(crate) struct PartOffsets {
    /// End of the scheme.
    pub(crate) scheme: u32,
    /// Start and end of the host, including the brackets of an IPv6 literal.
    pub(crate) host: (u32, u32),
    /// The port, if written explicitly.
    pub(crate) port: Option<u16>,
    /// The slash that starts the path.
    pub(crate) path: u32,
    /// The question mark.
    pub(crate) query: Option<u32>,
}

impl Address {
    /// Restores an address from storage without canonicalising it again.
    pub fn from_canonical(stored: &str) -> Result<Self, Refused> {
        match plain::absolute(stored) {
            Some(cut) if cut.len() == stored.len() => Ok(cut.joined("", stored)),
            _ => Self::checked(Url::parse(stored)?),
        }
    }

    /// Turns a parsed URL into an address if its scheme is fetched and it names a host.
    pub(crate) fn checked(url: Url) -> Result<Self, Refused> {
        scheme::check(url.scheme())?;
        // A file is on this machine or on none that we could ask.
        let is_nameless = url.host_str().is_none_or(str::is_empty);
        if is_nameless != is_local(url.scheme()) {
            return Err(Refused::NoHost);
        }
        let at = |position: Position| mark(url[..position].len());
        let marks = PartOffsets {
            scheme: at(Position::AfterScheme),
            host: (at(Position::BeforeHost), at(Position::AfterHost)),
            port: url.port(),
            path: at(Position::BeforePath),
            query: url.query().map(|_| at(Position::AfterPath)),
        };
        Ok(Self { text: url.into(), marks })
    }

    /// An address whose parts are already located.
    pub(crate) fn marked(text: String, marks: PartOffsets) -> Self {
        Self { text, marks }
    }

    pub(crate) fn marks(&self) -> PartOffsets {
        self.marks
    }

    /// The full URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The scheme in lower case.
    pub fn scheme(&self) -> &str {
        self.between(0, self.marks.scheme)
    }

    /// The host in lower case: international names in ASCII (Punycode), IPv6 literals without
    /// brackets. A file of this machine, whose URL names no host, is on `localhost`.
    pub fn host(&self) -> &str {
        let host = self.between(self.marks.host.0, self.marks.host.1);
        if host.is_empty() {
            return "localhost";
        }
        host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host)
    }

    /// The port to connect to, explicit or implied by the scheme.
    pub fn port(&self) -> u16 {
        self.marks.port.unwrap_or_else(|| scheme::check(self.scheme()).unwrap_or_default())
    }

    /// The port, if it differs from the scheme's default.
    pub fn unusual_port(&self) -> Option<u16> {
        self.marks.port
    }

    /// The path, including its leading slash.
    pub fn path(&self) -> &str {
        self.between(self.marks.path, self.marks.query.unwrap_or(mark(self.text.len())))
    }

    /// The query without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.marks.query.map(|at| self.between(at + 1, mark(self.text.len())))
    }

    /// Path and query as they appear in a request line.
    pub fn path_and_query(&self) -> &str {
        self.between(self.marks.path, mark(self.text.len()))
    }

    /// Consumes the address and returns its text.
    pub fn into_string(self) -> String {
        self.text
    }

    fn between(&self, from: u32, to: u32) -> &str {
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }

    /// The server to ask for it.
    pub fn origin(&self) -> Origin {
        let scheme = scheme::lookup(self.scheme()).map_or("http", |(name, _)| name);
        Origin { scheme, host: self.host().to_owned(), port: self.port() }
    }

    /// The registrable domain of the host, or the host itself if it has none.
    pub fn site(&self) -> &str {
        crate::site::registrable(self.host())
    }
}

/// Whether the addresses of a scheme name no host.
pub(crate) fn is_local(scheme: &str) -> bool {
    scheme == "file"
}

/// An offset into the text. [`Url`] guarantees that no URL is longer than 4 GB.
pub(crate) fn mark(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.as_str())
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Address {}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Address {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Borrow<str> for Address {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Address {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// A server: scheme, host name and port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// `http` or `https`.
    pub scheme: &'static str,
    /// The host, as in [`Address::host`].
    pub host: String,
    /// The port to connect to.
    pub port: u16,
}

impl Origin {
    /// Whether the port is the scheme's default.
    pub fn has_usual_port(&self) -> bool {
        scheme::check(self.scheme) == Ok(self.port)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{}://{open}{}{close}", self.scheme, self.host)?;
        if self.has_usual_port() { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_an_address_are_what_a_request_needs() {
        let a = Address::from_canonical("https://example.com/a/b?c=d").unwrap();
        assert_eq!((a.scheme(), a.host(), a.port()), ("https", "example.com", 443));
        assert_eq!((a.path(), a.query(), a.path_and_query()), ("/a/b", Some("c=d"), "/a/b?c=d"));
        assert_eq!(a.origin().to_string(), "https://example.com");
    }

    #[test]
    fn an_ipv6_host_has_brackets_only_where_it_is_written_into_a_url() {
        let a = Address::from_canonical("http://[::1]:8080/").unwrap();
        assert_eq!((a.host(), a.port(), a.unusual_port()), ("::1", 8080, Some(8080)));
        assert_eq!(a.origin().to_string(), "http://[::1]:8080");
    }

    #[test]
    fn what_is_no_web_is_no_address_even_when_stored() {
        assert!(matches!(Address::from_canonical("mailto:a@b"), Err(Refused::NotWeb { .. })));
        assert!(matches!(Address::from_canonical("ws://a/b"), Err(Refused::Unsupported { .. })));
    }

    #[test]
    fn a_file_is_on_this_machine() {
        let a = Address::from_canonical("file:///srv/a%20b/").unwrap();
        assert_eq!((a.scheme(), a.host(), a.port(), a.path()), ("file", "localhost", 0, "/srv/a%20b/"));
        assert_eq!((a.as_str(), a.origin().to_string().as_str()), ("file:///srv/a%20b/", "file://localhost"));
        assert_eq!(Address::from_canonical("file://server/share/x"), Err(Refused::NoHost));
    }
}
