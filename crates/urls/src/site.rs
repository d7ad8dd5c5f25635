//! Which hosts belong to one owner?
//!
//! The registrable domain is the public suffix plus one label, by the Public Suffix List. Its
//! private section is included, so that the tenants of a hosting service are separate owners.

/// The registrable domain of a host. IP addresses, single labels and bare public suffixes are
/// returned unchanged.
///
/// Expects the host as [`crate::Address::host`] returns it: lower case, ASCII.
pub fn registrable(host: &str) -> &str {
    if is_ip(host) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// Whether a host is an IP address rather than a name. In canonical form every IPv4 host ends in a
/// numeric label.
pub fn is_ip(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    host.contains(':') || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_is_one_label_below_the_public_suffix() {
        assert_eq!(registrable("www.example.com"), "example.com");
        assert_eq!(registrable("example.com"), "example.com");
        assert_eq!(registrable("a.b.example.co.uk"), "example.co.uk");
        assert_eq!(registrable("www.city.kobe.jp"), "city.kobe.jp");
        assert_eq!(registrable("alice.github.io"), "alice.github.io");
        assert_eq!(registrable("pages.alice.github.io"), "alice.github.io");
        assert_eq!(registrable("www.xn--85x722f.xn--55qx5d.cn"), "xn--85x722f.xn--55qx5d.cn");
    }

    #[test]
    fn what_has_no_registrable_domain_is_its_own_site() {
        for host in ["localhost", "127.0.0.1", "192.168.1.10", "::1", "2001:db8::7", "com", "co.uk", ""] {
            assert_eq!(registrable(host), host);
        }
    }

    #[test]
    fn an_unlisted_suffix_counts_as_one_label() {
        assert_eq!(registrable("a.b.testweb"), "b.testweb");
    }
}
