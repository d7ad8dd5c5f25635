//! How do addresses sort so that related ones are adjacent?
//!
//! The Sort-friendly URI Reordering Transform (SURT) of the web archives writes a host from its
//! top-level domain down, each label followed by a comma: `http://(com,example,www,)/path`. A
//! prefix then denotes a domain with all its subdomains, a host, or part of a host, which is how
//! archivists write scopes. This is Heritrix's dialect; [`cdx_key`] is the other one, used in
//! archive indexes.

mod cdx;

pub use cdx::cdx_key;

use crate::{Address, Canonicaliser, site};

/// The SURT form of an address: `https://(com,example,www,:8443)/a?b`. IP addresses are not
/// reversed.
pub fn surt(address: &Address) -> String {
    written(address, address.scheme())
}

/// The SURT form for prefix comparison: `https` is written as `http`.
pub fn comparable(address: &Address) -> String {
    written(address, if address.scheme() == "https" { "http" } else { address.scheme() })
}

/// The comparable prefix that a scope line denotes; `None` if it denotes nothing.
///
/// `http://(com,example,`, `(com,example,` and `com,example,` are used as they are. A plain name or
/// URL denotes, as in Heritrix, its domain with all subdomains if no slash follows the host, and
/// otherwise everything up to its last slash.
pub fn prefix(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches('+').trim_start();
    let (scheme, rest) = line.split_once("://").unwrap_or(("http", line));
    let rest = rest.strip_prefix("*.").unwrap_or(rest);
    let scheme = if scheme.eq_ignore_ascii_case("https") { "http".to_owned() } else { scheme.to_ascii_lowercase() };
    let authority = &rest[..rest.find(['/', ')']).unwrap_or(rest.len())];
    if authority.starts_with('(') || authority.contains(',') {
        let reversed = authority.trim_start_matches('(').to_ascii_lowercase();
        return Some(format!("{scheme}://({reversed}{}", &rest[authority.len()..]));
    }
    let address = Canonicaliser::default().parse(&format!("{scheme}://{rest}")).ok()?;
    let mut surt = comparable(&address);
    if rest.contains('/') {
        let path_end = surt.find('?').unwrap_or(surt.len());
        surt.truncate(surt[..path_end].rfind('/')? + 1);
    } else if address.unusual_port().is_none() && !site::is_ip(address.host()) {
        surt.truncate(surt.find(')')?);
    }
    Some(surt)
}

fn written(address: &Address, scheme: &str) -> String {
    let host = address.host();
    let mut out = String::with_capacity(address.as_str().len() + 8);
    out.push_str(scheme);
    out.push_str("://(");
    if host.contains(':') {
        out.push_str(&format!("[{host}]"));
    } else if site::is_ip(host) {
        out.push_str(host);
    } else {
        for label in host.rsplit('.') {
            out.push_str(label);
            out.push(',');
        }
    }
    if let Some(port) = address.unusual_port() {
        out.push_str(&format!(":{port}"));
    }
    out.push(')');
    out.push_str(address.path_and_query());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> String {
        surt(&Canonicaliser::default().parse(url).unwrap())
    }

    #[test]
    fn a_host_is_written_from_its_top_level_domain_down() {
        assert_eq!(of("http://www.example.com/a/b?c"), "http://(com,example,www,)/a/b?c");
        assert_eq!(of("https://example.com:8443"), "https://(com,example,:8443)/");
        assert_eq!(of("http://localhost/"), "http://(localhost,)/");
        assert_eq!(of("http://127.0.0.1:8080/x"), "http://(127.0.0.1:8080)/x");
        assert_eq!(of("http://[::1]/x"), "http://([::1])/x");
    }

    #[test]
    fn a_line_of_a_scope_becomes_the_prefix_it_means() {
        for (line, to) in [
            ("http://(com,example,", "http://(com,example,"),
            ("https://(com,Example,www,)/A/", "http://(com,example,www,)/A/"),
            ("+http://(it,", "http://(it,"),
            ("(com,example,)/x", "http://(com,example,)/x"),
            ("com,example,", "http://(com,example,"),
            ("example.com", "http://(com,example,"),
            ("https://example.com", "http://(com,example,"),
            ("*.example.com", "http://(com,example,"),
            ("example.com/", "http://(com,example,)/"),
            ("http://example.com/a/b?c=/d", "http://(com,example,)/a/"),
            ("http://example.com:8080", "http://(com,example,:8080)/"),
            ("http://127.0.0.1", "http://(127.0.0.1)/"),
            ("bücher.example", "http://(example,xn--bcher-kva,"),
        ] {
            assert_eq!(prefix(line).as_deref(), Some(to), "{line}");
        }
        for nothing in ["", "+", "http://", "http://[", "mailto://x"] {
            assert_eq!(prefix(nothing), None, "{nothing}");
        }
    }
}
