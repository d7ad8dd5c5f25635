//! May we connect to this address at all?
//!
//! Every path to a crawled host (page, robots.txt, redirect, sitemap) is checked here with the
//! address it is about to connect to, never with a name: checks on names and URLs are bypassed by
//! names that resolve to internal addresses, by DNS rebinding between check and connection, by odd
//! spellings of addresses and by IPv6 addresses with an embedded IPv4 address. The ranges are those
//! of the IANA special-purpose registries (RFC 6890 and its updates).

use crate::config::bare_host;
use orb_page::{Failure, FailureKind};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{PoisonError, RwLock};

/// Allows public addresses, and others for the hosts that were opened.
#[derive(Debug, Default)]
pub struct AddressGuard {
    opened: RwLock<HashSet<String>>,
}

impl AddressGuard {
    /// A guard with these hosts (`name` or `name:port`) opened; `*` opens all.
    pub fn new(hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { opened: RwLock::new(hosts.into_iter().map(|h| plain(h.as_ref())).collect()) }
    }

    /// Opens a host (`name` or `name:port`) that the user named as a starting point.
    pub fn open(&self, host: &str) {
        self.opened.write().unwrap_or_else(PoisonError::into_inner).insert(plain(host));
    }

    /// A host that was seen at a public address is public from then on: its name may not resolve to
    /// a private one later (DNS rebinding).
    fn close(&self, host: &str, port: u16) {
        let named = |opened: &HashSet<String>| opened.contains(host) || opened.contains(&format!("{host}:{port}"));
        if named(&self.opened.read().unwrap_or_else(PoisonError::into_inner)) {
            let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
            opened.remove(host);
            opened.remove(&format!("{host}:{port}"));
        }
    }

    /// Whether `host` at `port` may be contacted at `addr`.
    pub fn check(&self, host: &str, port: u16, addr: IpAddr) -> Result<(), Failure> {
        let host = plain(host);
        let Some(why) = why_not_public(addr) else {
            self.close(&host, port);
            return Ok(());
        };
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        if opened.contains("*") || opened.contains(&host) || opened.contains(&format!("{host}:{port}")) {
            return Ok(());
        }
        Err(Failure::new(FailureKind::Guard, format!("{host} has the {why} address {addr}, which must not be visited")))
    }

    /// What can be checked of a host that a proxy will resolve: an IP literal, and names that mean
    /// this machine. Any other name is up to the proxy, which alone learns its address.
    pub(crate) fn check_unresolved(&self, host: &str, port: u16) -> Result<(), Failure> {
        let name = plain(host);
        match name.parse() {
            Ok(addr) => self.check(host, port, addr),
            Err(_) if name == "localhost" || name.ends_with(".localhost") => {
                self.check(host, port, IpAddr::V4(Ipv4Addr::LOCALHOST))
            }
            Err(_) => Ok(()),
        }
    }
}

/// A host in the form that the guard compares: lower case, no brackets, no final dot.
fn plain(host: &str) -> String {
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        Some((address, port)) => format!("{address}:{port}"),
        None => bare_host(host).to_owned(),
    };
    host.strip_suffix('.').unwrap_or(&host).to_ascii_lowercase()
}

/// The kind of an address, if it is not public.
pub fn why_not_public(addr: IpAddr) -> Option<&'static str> {
    match addr {
        IpAddr::V4(v4) => why_not_public_v4(v4),
        IpAddr::V6(v6) => why_not_public_v6(v6),
    }
}

fn why_not_public_v4(addr: Ipv4Addr) -> Option<&'static str> {
    match addr.octets() {
        [0, ..] => Some("unspecified"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("private"),
        [100, 64..=127, ..] => Some("carrier-shared"),
        [127, ..] => Some("loopback"),
        // The second is Azure's, which looks like a public address.
        [169, 254, 169, 254] | [168, 63, 129, 16] => Some("cloud metadata"),
        [169, 254, ..] => Some("link-local"),
        [192, 0, 0, _] | [192, 88, 99, _] => Some("protocol"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some("documentation"),
        [198, 18..=19, ..] => Some("benchmarking"),
        [224..=239, ..] => Some("multicast"),
        [255, 255, 255, 255] => Some("broadcast"),
        [240..=255, ..] => Some("reserved"),
        _ => None,
    }
}

fn why_not_public_v6(addr: Ipv6Addr) -> Option<&'static str> {
    let s = addr.segments();
    let tail = v4_of(s[6], s[7]);
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        [0, 0, 0, 0, 0, 0xffff, ..] => why_not_public_v4(tail),
        [0, 0, 0, 0, 0, 0, ..] => Some("IPv4-compatible"),
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => why_not_public_v4(tail),
        [0x64, 0xff9b, 1, ..] => Some("local NAT64"),
        [0x2002, high, low, ..] => why_not_public_v4(v4_of(high, low)),
        [0x2001, 0, server_high, server_low, ..] => {
            why_not_public_v4(v4_of(server_high, server_low)).or_else(|| why_not_public_v4(v4_of(!s[6], !s[7])))
        }
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] if why_not_public_v4(tail).is_some() => why_not_public_v4(tail),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("documentation"),
        [0x2001, 2, 0, ..] => Some("benchmarking"),
        [0x2001, 0x10..=0x2f, ..] => Some("overlay"),
        [0x2001, 0..=0x1ff, ..] => Some("protocol"),
        [0xfc00..=0xfdff, ..] => Some("unique local"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xfec0..=0xfeff, ..] => Some("site-local"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

/// The IPv4 address in two groups of an IPv6 address.
fn v4_of(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn public(addr: &str) -> bool {
        why_not_public(addr.parse().unwrap()).is_none()
    }

    #[test]
    fn a_seed_seen_at_a_public_address_cannot_be_bound_to_a_private_one_later() {
        let guard = AddressGuard::new(["turns.test", "inner.test"]);
        let (private, outer) = ("10.0.0.1".parse().unwrap(), "93.184.216.34".parse().unwrap());
        assert!(guard.check("turns.test", 80, outer).is_ok());
        assert!(guard.check("Turns.test.", 80, private).is_err());
        assert!(guard.check("inner.test", 80, private).is_ok());
    }

    #[test]
    fn public_addresses_pass() {
        for addr in [
            "1.1.1.1",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "198.20.0.1",
            "168.63.129.17",
        ] {
            assert!(public(addr), "{addr}");
        }
        for addr in ["2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1", "2a00:1450:4001::1"] {
            assert!(public(addr), "{addr}");
        }
    }

    #[test]
    fn addresses_that_are_not_public_are_held_in_every_form() {
        let v4 = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 127.9.9.9 169.254.169.254 169.254.1.1 172.16.0.1 172.31.255.255 \
                  192.0.0.8 192.0.2.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 \
                  255.255.255.255 192.88.99.1 100.100.100.200 168.63.129.16";
        for addr in v4.split_whitespace() {
            assert!(!public(addr), "{addr}");
            for form in ["::ffff:", "64:ff9b::", "::", "64:ff9b:1::", "2a00::5efe:", "fe80::5efe:"] {
                assert!(!public(&format!("{form}{addr}")), "{form}{addr}");
            }
        }
        let v6 = ":: ::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 2001:db8::1 3fff::1 2002:7f00:1:: 2002:a00:1::1 \
                  2001:0:a00:1::1 2001:0:4136:e378:8000:63bf:f5ff:fffe 100::1 2001:2::1 2001:10::1 4000::1 ::2 \
                  2001:1::1 2001:1ff::1 5f00::1 64:ff9b:0:1::1 fdff::1 febf::1";
        for addr in v6.split_whitespace() {
            assert!(!public(addr), "{addr}");
        }
    }

    #[test]
    fn a_private_seed_opens_that_host_alone() {
        let guard = AddressGuard::new(["localhost", "intranet:8080", "[::1]:80"]);
        let loopback: IpAddr = "127.0.0.1".parse().unwrap();
        assert!(guard.check("LOCALHOST.", 80, loopback).is_ok());
        assert!(guard.check("intranet", 8080, loopback).is_ok());
        assert!(guard.check("[::1]", 80, "::1".parse().unwrap()).is_ok());
        assert!(guard.check("::1", 81, "::1".parse().unwrap()).is_err());
        let refused = guard.check("intranet", 80, loopback).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Guard);
        assert_eq!(refused.detail, "intranet has the loopback address 127.0.0.1, which must not be visited");
        assert!(guard.check("evil.example", 80, loopback).is_err());
        guard.open("evil.example");
        assert!(guard.check("evil.example", 80, loopback).is_ok());
    }

    #[test]
    fn a_proxy_is_not_asked_for_what_an_address_or_localhost_means() {
        let guard = AddressGuard::new(["seed.test", "10.0.0.7"]);
        for host in
            ["127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "localhost", "LocalHost.", "a.localhost"]
        {
            assert!(guard.check_unresolved(host, 80).is_err(), "{host}");
        }
        for host in ["seed.test", "any.example", "10.0.0.7", "9.9.9.9", "localhost.example", "notlocalhost"] {
            assert!(guard.check_unresolved(host, 80).is_ok(), "{host}");
        }
    }

    proptest! {
        #[test]
        fn embedding_never_launders_an_address(bits: u32) {
            let v4 = Ipv4Addr::from(bits);
            let mapped = IpAddr::V6(v4.to_ipv6_mapped());
            prop_assert_eq!(why_not_public(IpAddr::V4(v4)).is_some(), why_not_public(mapped).is_some());
        }
    }
}
