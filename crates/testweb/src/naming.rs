//! What are the hosts called, and which addresses do they have?
//!
//! A host is a number. It has a name (`h0007.test`, RFC 2606) and a loopback address (host 7 is
//! 127.0.0.8), so tests need a resolver, a proxy, or neither. A page links to other hosts in the
//! form in which it was requested itself, port included.

use std::fmt::Write;
use std::net::Ipv4Addr;

/// How URLs name hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostNaming {
    /// `h0007.test`, at this port.
    Names {
        /// Omitted from URLs if it is 80.
        port: u16,
    },
    /// `127.0.0.8`, at this port.
    Addresses {
        /// Omitted from URLs if it is 80.
        port: u16,
    },
}

impl HostNaming {
    /// Parses the authority of a request: the form, and the host number if it may be one of ours.
    pub(crate) fn read(authority: &str) -> Option<(Self, u32)> {
        let (name, port) = match authority.rsplit_once(':') {
            Some((name, port)) => (name, port.parse().ok()?),
            None => (authority, 80),
        };
        if let Some(host) = named(name) {
            return Some((Self::Names { port }, host));
        }
        if name.eq_ignore_ascii_case("localhost") {
            return Some((Self::Names { port }, 0));
        }
        let address: Ipv4Addr = name.parse().ok()?;
        Some((Self::Addresses { port }, u32::from(address).checked_sub(u32::from(Ipv4Addr::LOCALHOST))?))
    }

    /// The same with this port if none was named.
    pub(crate) const fn at(self, port: u16) -> Self {
        match self {
            Self::Names { port: 80 } => Self::Names { port },
            Self::Addresses { port: 80 } => Self::Addresses { port },
            _ => self,
        }
    }

    /// Appends what goes between `http://` and the path.
    pub(crate) fn write(self, host: u32, out: &mut String) {
        let (Self::Names { port } | Self::Addresses { port }) = self;
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Names { .. } => write!(out, "h{host:04}.test"),
            Self::Addresses { .. } => write!(out, "{}", address(host)),
        };
        if port != 80 {
            let _ = write!(out, ":{port}");
        }
    }

    /// The URL of a path (with its query) on a host.
    pub fn url(self, host: u32, path: &str) -> String {
        let mut url = String::with_capacity(32 + path.len());
        url.push_str("http://");
        self.write(host, &mut url);
        url.push_str(path);
        url
    }
}

/// The host's name: `h0007.test`.
pub fn name(host: u32) -> String {
    format!("h{host:04}.test")
}

/// The address of the `n`th host, or of the `n`th group of hosts that share one.
pub fn address(n: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST).saturating_add(n.min(0x00ff_fffd)))
}

/// The number in `h0007.test`, `h7.test` or any subdomain, in any case, with or without the final
/// dot.
pub(crate) fn named(name: &str) -> Option<u32> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let (host, domain) = name.split_at_checked(name.len().checked_sub(5)?)?;
    let host = host.rsplit_once('.').map_or(host, |(_, host)| host);
    let digits = host.strip_prefix(['h', 'H'])?;
    let plain = domain.eq_ignore_ascii_case(".test") && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_name_and_by_address() {
        assert_eq!(HostNaming::read("h0007.test:8080"), Some((HostNaming::Names { port: 8080 }, 7)));
        assert_eq!(HostNaming::read("H7.TEST"), Some((HostNaming::Names { port: 80 }, 7)));
        assert_eq!(HostNaming::read("127.0.0.1:99"), Some((HostNaming::Addresses { port: 99 }, 0)));
        assert_eq!(HostNaming::read("a.b.h7.test"), Some((HostNaming::Names { port: 80 }, 7)));
        assert_eq!(HostNaming::read("localhost"), Some((HostNaming::Names { port: 80 }, 0)));
    }

    #[test]
    fn what_is_no_host_of_ours_is_told() {
        for odd in ["", ":", "h.test", "h-1.test", "example.com", "126.0.0.1", "h1.test:99999", "é.test", "h1.testé"]
        {
            assert_eq!(HostNaming::read(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for naming in
            [HostNaming::Names { port: 80 }, HostNaming::Names { port: 1 }, HostNaming::Addresses { port: 8080 }]
        {
            for host in [0, 7, 255, 70_000] {
                let url = naming.url(host, "");
                assert_eq!(HostNaming::read(url.trim_start_matches("http://")), Some((naming, host)));
            }
        }
    }
}
