//! From whom does a request come that a proxy passes on?
//!
//! Behind a proxy every request comes from its address, and whoever counts by address would count
//! everybody as one. So the operator names the proxies (`--trusted-proxy`), and what they say is
//! believed: `X-Forwarded-For`, to which every proxy adds the address it was asked from, or
//! `Forwarded` (RFC 7239) if there is none. Read from the right, the visitor is the first address
//! that is no proxy of ours; what stands before it the visitor may have made up.

use crate::request::text_of;
use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyRange {
    first: IpAddr,
    bits: u32,
}

impl ProxyRange {
    fn has(self, address: IpAddr) -> bool {
        let (all, first, address) = match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => (32, first.to_bits().into(), address.to_bits().into()),
            (IpAddr::V6(first), IpAddr::V6(address)) => (128, first.to_bits(), address.to_bits()),
            _ => return false,
        };
        let differs: u128 = first ^ address;
        differs.checked_shr(all - self.bits).unwrap_or(0) == 0
    }
}

impl FromStr for ProxyRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no address or range of addresses, such as 127.0.0.1 or 10.0.0.0/8");
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let first = address.parse::<IpAddr>().map_err(|_| wrong())?.to_canonical();
        let all = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(all), str::parse).map_err(|_| wrong())?;
        if bits <= all { Ok(Self { first, bits }) } else { Err(wrong()) }
    }
}

/// The proxies that are believed.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedProxies(Vec<ProxyRange>);

impl TrustedProxies {
    pub(crate) fn new(ranges: &[ProxyRange]) -> Self {
        Self(ranges.to_vec())
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.has(address.to_canonical()))
    }

    /// From whom a request comes that this peer has sent.
    pub(super) fn visitor(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        let hops = match headers.contains_key(&FORWARDED_FOR) {
            true => forwarded_for(headers),
            false => forwarded(headers),
        };
        let mut last = peer;
        for hop in hops.into_iter().rev() {
            // What cannot be read was not said by a proxy of ours.
            let Some(hop) = hop else { break };
            last = hop;
            if !self.trusts(hop) {
                break;
            }
        }
        last
    }
}

/// The addresses of `X-Forwarded-For`, in their order.
fn forwarded_for(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let lines = headers.get_all(FORWARDED_FOR).iter().map(|line| line.to_str().unwrap_or_default());
    lines.flat_map(|line| line.split(',')).map(address).collect()
}

/// The addresses of `Forwarded`, in their order.
fn forwarded(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    if text_of(headers, &FORWARDED).is_empty() {
        return Vec::new();
    }
    let lines = headers.get_all(FORWARDED).iter().map(|line| line.to_str().unwrap_or_default());
    let hop = |hop: &str| {
        let pairs = hop.split(';').filter_map(|pair| pair.trim().split_once('='));
        let mut named = pairs.filter(|(name, _)| name.eq_ignore_ascii_case("for"));
        named.next().and_then(|(_, value)| address(value))
    };
    lines.flat_map(|line| line.split(',')).map(hop).collect()
}

/// An address as proxies write it: with a port or without, in quotes or brackets.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    let bare = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    bare.or_else(|_| with_port()).ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn visitor(peer: &str, fields: &[(HeaderName, &'static str)]) -> String {
        let ranges = ["127.0.0.1", "10.0.0.0/8", "fd00::/8"].map(|range| range.parse().unwrap());
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        TrustedProxies::new(&ranges).visitor(at(peer), &headers).to_string()
    }

    #[test]
    fn ranges_are_read_and_end_where_they_say() {
        let range = |text: &str| text.parse::<ProxyRange>();
        assert!(
            range("10.0.0.0/8").unwrap().has(at("10.255.0.1")) && !range("10.0.0.0/8").unwrap().has(at("11.0.0.1"))
        );
        assert!(range("0.0.0.0/0").unwrap().has(at("192.0.2.1")) && !range("0.0.0.0/0").unwrap().has(at("::1")));
        assert!(range("::/0").unwrap().has(at("2001:db8::1")) && range("fd00::1").unwrap().has(at("fd00::1")));
        for wrong in ["", "proxy.test", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_visitor_is_the_last_hop_that_is_no_proxy_of_ours() {
        let said = |text| [(FORWARDED_FOR, text)];
        assert_eq!(visitor("192.0.2.9", &said("198.51.100.1")), "192.0.2.9", "anybody could say so");
        assert_eq!(visitor("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(visitor("127.0.0.1", &said("198.51.100.1")), "198.51.100.1");
        assert_eq!(visitor("::ffff:127.0.0.1", &said("198.51.100.1:4711, 10.1.2.3")), "198.51.100.1");
        assert_eq!(visitor("127.0.0.1", &said("203.0.113.7, 198.51.100.1")), "198.51.100.1", "made up");
        assert_eq!(visitor("127.0.0.1", &said("unknown")), "127.0.0.1");
        assert_eq!(visitor("127.0.0.1", &said("198.51.100.1, junk, 10.0.0.1")), "10.0.0.1");
        let lines = [(FORWARDED_FOR, "203.0.113.7"), (FORWARDED_FOR, "2001:db8::1"), (FORWARDED, "for=192.0.2.5")];
        assert_eq!(visitor("127.0.0.1", &lines), "2001:db8::1");
    }

    #[test]
    fn the_standard_field_is_read_where_the_other_is_missing() {
        let said = |text| visitor("10.0.0.2", &[(FORWARDED, text)]);
        assert_eq!(said("For=\"[2001:db8:cafe::17]:4711\";proto=https, for=10.0.0.3"), "2001:db8:cafe::17");
        assert_eq!(said("for=192.0.2.43;by=203.0.113.60"), "192.0.2.43");
        assert_eq!(said("proto=https"), "10.0.0.2");
    }
}
