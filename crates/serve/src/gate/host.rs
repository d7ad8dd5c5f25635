//! Is the server meant by the name in the request?
//!
//! A page elsewhere can make its own name resolve to our address (DNS rebinding); the browser then
//! takes us for its origin. So only names that are ours are answered to.

use std::net::IpAddr;

/// The names a server answers to.
#[derive(Debug)]
pub(crate) struct AllowedHosts {
    names: Vec<String>,
    listening: IpAddr,
}

impl AllowedHosts {
    /// The names of loopback, the address it listens on, and these.
    pub(crate) fn new(listening: IpAddr, names: &[String]) -> Self {
        Self { names: names.iter().map(|name| without_port(name).to_ascii_lowercase()).collect(), listening }
    }

    /// Whether a host, with or without a port, is one of ours.
    pub(crate) fn allow(&self, host: &str) -> bool {
        let name = without_port(host).trim_end_matches('.').to_ascii_lowercase();
        if let Ok(address) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            // An address cannot be made to resolve to another one, so where we listen on all of
            // ours, any that leads here is fine.
            return address.is_loopback() || address == self.listening || self.listening.is_unspecified();
        }
        name == "localhost" || self.names.contains(&name)
    }
}

/// A name as it stands in a `Host` field, with or without a port.
pub fn host_name(text: &str) -> Result<String, String> {
    let is_plain = !text.contains(['/', '?', '#', '@', '\\']) && !text.contains(char::is_whitespace);
    let is_host = is_plain && url::Url::parse(&format!("http://{text}/")).is_ok();
    if is_host { Ok(text.to_owned()) } else { Err("write a name like orb.example.org".to_owned()) }
}

/// A host without its port.
pub(crate) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_address_of_a_page() {
        for name in ["orb.example.org", "localhost:8787", "[::1]:80", "view.localhost"] {
            assert_eq!(host_name(name).as_deref(), Ok(name));
        }
        for other in ["", " ", "http://orb.example.org", "orb.example.org/", "ann@orb.example.org", "a b", "a:port"] {
            assert!(host_name(other).is_err(), "{other}");
        }
    }

    #[test]
    fn only_our_names_are_answered_to() {
        let hosts = AllowedHosts::new("192.0.2.7".parse().unwrap(), &["Orb.Example".to_owned()]);
        for ours in [
            "localhost",
            "LOCALHOST:8787",
            "127.0.0.1:1",
            "[::1]:8787",
            "[::1]",
            "192.0.2.7:80",
            "orb.example",
            "orb.example.:443",
        ] {
            assert!(hosts.allow(ours), "{ours}");
        }
        for other in [
            "",
            "evil.test",
            "localhost.evil.test",
            "evil.localhost",
            "192.0.2.8",
            "orb.example.evil.test",
            "x@localhost",
            ":80",
        ] {
            assert!(!hosts.allow(other), "{other}");
        }
    }

    #[test]
    fn on_all_addresses_any_address_is_ours_and_no_name() {
        let hosts = AllowedHosts::new("0.0.0.0".parse().unwrap(), &[]);
        assert!(hosts.allow("10.0.0.3:8787") && hosts.allow("[fd00::3]:8787") && !hosts.allow("evil.test"));
    }
}
