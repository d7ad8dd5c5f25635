//! Under which key does an archive's index hold a URL?
//!
//! CDX and CDXJ files are sorted by a key that drops what rarely distinguishes pages: scheme,
//! `www.`, case, the order of the query, known session ids, a trailing slash. Replay tools compute
//! the key from the requested URL, so ours must equal theirs exactly. This is a step-by-step
//! reimplementation, quirks included, of the Python package `surt` 0.3 with default options, which
//! `cdxj-indexer` calls; it descends from Google's Safe Browsing canonicalisation and the Wayback
//! Machine. Where that package raises an error, cdxj-indexer keeps the URL, and so does this code.
//! `tests/data/cdx_keys.tsv` holds its recorded answers.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The key of a URL in CDX and CDXJ indexes, such as `com,example)/a?b=c`.
pub fn cdx_key(url: &str) -> String {
    if url.is_empty() {
        return "-".to_owned();
    }
    if url.starts_with("filedesc") {
        return url.to_owned();
    }
    Parts::split(url).map_or_else(|| url.to_owned(), Parts::into_key)
}

/// A URL in the parts the key is built from: host and query in ASCII, the path percent-decoded to
/// bytes.
struct Parts {
    scheme: String,
    host: String,
    port: Option<u16>,
    path: Vec<u8>,
    query: String,
}

impl Parts {
    fn split(url: &str) -> Option<Self> {
        let url = url.trim_matches(|c: char| matches!(c, ' ' | '\t'..='\r'));
        let mut url: Cow<'_, str> = match url.contains(['\t', '\n', '\r']) {
            true => Cow::Owned(url.replace(['\t', '\n', '\r'], "")),
            false => Cow::Borrowed(url),
        };
        if url.is_empty() {
            return None;
        }
        if crate::scheme::of(&url).is_none() {
            url = Cow::Owned(format!("http://{url}"));
        }
        let (scheme, rest) = without_repeated_scheme(&url).split_once(':')?;
        let rest = &rest[..rest.find('#').unwrap_or(rest.len())];
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, mut path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let (mut host, port) = host_and_port(authority)?;
        if host.is_empty() && scheme.starts_with("http") && !path.is_empty() {
            let trimmed = path.trim_start_matches('/');
            let end = trimmed.find('/').unwrap_or(trimmed.len());
            (host, path) = (&trimmed[..end], if end < trimmed.len() { &trimmed[end..] } else { "/" });
        }
        Some(Self {
            scheme: scheme.to_owned(),
            host: canonical_host(host)?,
            port,
            path: unescaped(path.as_bytes()),
            query: escaped(&unescaped(query.as_bytes())),
        })
    }

    fn into_key(self) -> String {
        let mut out = String::with_capacity(self.host.len() + self.path.len() + self.query.len() + 16);
        let mut path = if self.host.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
            escaped(&self.path)
        } else {
            self.write_host(&mut out);
            escaped(&normalised_path(&self.path))
        };
        path.make_ascii_lowercase();
        if path.contains("/(") && path.contains(".aspx") {
            take_out(&PATH_SESSIONS, &mut path);
        }
        if path.len() > 1 && path.ends_with('/') {
            path.pop();
        }
        out.push_str(&path);
        let mut query = self.query;
        if query.contains('=') {
            take_out(&QUERY_SESSIONS, &mut query);
        }
        query.make_ascii_lowercase();
        if !query.is_empty() {
            out.push_str(if path.is_empty() { "/?" } else { "?" });
            out.push_str(&reordered(query));
        }
        out
    }

    fn write_host(&self, out: &mut String) {
        let host = if self.scheme == "dns" { &self.host } else { without_www(&self.host) };
        for (index, label) in host.rsplit('.').enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(label);
        }
        let usual = [("http", 80), ("https", 443)].iter().find(|(name, _)| self.scheme.eq_ignore_ascii_case(name));
        if let Some(port) = self.port.filter(|&port| port != 0 && Some(port) != usual.map(|(_, port)| *port)) {
            out.push_str(&format!(":{port}"));
        }
        out.push(')');
    }
}

/// `http://https://x` means `https://x`.
fn without_repeated_scheme(url: &str) -> &str {
    let after = |s: &str| ["http://", "https://"].iter().find(|p| s.starts_with(**p)).map_or(0, |p| p.len());
    let (mut kept, mut at) = (0, after(url));
    while at > kept && after(&url[at..]) > 0 {
        kept = at;
        at += after(&url[at..]);
    }
    &url[kept..]
}

/// Host and port of an authority as Python's `urllib` splits it; `None` where it raises an error.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let authority = authority.trim_end_matches(':');
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let (host, port) = match place.split_once('[') {
        Some((_, rest)) => {
            let (host, after) = rest.split_once(']').unwrap_or((rest, ""));
            (host, after.split_once(':').map_or("", |(_, port)| port))
        }
        None => place.split_once(':').unwrap_or((place, "")),
    };
    if !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let port = if port.is_empty() { None } else { Some(port.parse().ok()?) };
    Some((host, port))
}

/// The host percent-decoded, in lower-case ASCII, without superfluous dots, IPv4 addresses in
/// dotted decimal.
fn canonical_host(host: &str) -> Option<String> {
    let mut host = unescaped(host.as_bytes());
    if !host.is_ascii() {
        host = international(&host).unwrap_or(host);
    }
    let mut single = Vec::with_capacity(host.len());
    let mut rest = &host[..];
    while let Some((&byte, after)) = rest.split_first() {
        single.push(byte.to_ascii_lowercase());
        rest = if byte == b'.' { after.strip_prefix(b".").unwrap_or(after) } else { after };
    }
    let start = single.iter().position(|&b| b != b'.').unwrap_or(single.len());
    let end = single.iter().rposition(|&b| b != b'.').map_or(start, |at| at + 1);
    let name = &single[start..end];
    Some(ipv4(name)?.unwrap_or_else(|| escaped(name).to_ascii_lowercase()))
}

/// An international name in ASCII by IDNA 2003, as far as it differs from IDNA 2008 on real names.
fn international(host: &[u8]) -> Option<Vec<u8>> {
    let name: String = String::from_utf8_lossy(host).replace('\u{fffd}', "");
    let name = name.replace('ß', "ss").replace('ς', "σ").replace(['\u{200c}', '\u{200d}'], "");
    let name = name.replace(['\u{3002}', '\u{ff0e}', '\u{ff61}'], ".");
    let labels = name.strip_suffix('.').unwrap_or(&name);
    if name.is_empty() {
        return Some(name.into_bytes());
    }
    if labels.split('.').any(str::is_empty) {
        return None;
    }
    let ascii = idna::domain_to_ascii_cow(name.as_bytes(), idna::AsciiDenyList::EMPTY).ok()?;
    ascii.split('.').all(|label| label.len() < 64).then(|| ascii.into_owned().into_bytes())
}

/// An IPv4 address in dotted decimal, from any notation of `inet_aton`. `Some(None)` if it is not
/// an address, `None` if a number is too long to parse at all.
fn ipv4(host: &[u8]) -> Option<Option<String>> {
    const LONGEST_NUMBER: usize = 4300;
    let dotted = |n: u32| std::net::Ipv4Addr::from(n).to_string();
    if !host.is_empty() && host.iter().all(u8::is_ascii_digit) {
        if host.len() > LONGEST_NUMBER {
            return None;
        }
        let number = host.iter().fold(0_u32, |n, d| n.wrapping_mul(10).wrapping_add(u32::from(d - b'0')));
        return Some(Some(dotted(number)));
    }
    let parts: Vec<&[u8]> = host.split(|&b| b == b'.').collect();
    let first_is_octal = host.first() == Some(&b'0');
    let digit = |b: &u8| if first_is_octal { matches!(b, b'0'..=b'7') } else { b.is_ascii_digit() };
    if parts.len() > 4 || !parts.iter().all(|p| !p.is_empty() && p.iter().all(digit)) {
        return Some(None);
    }
    Some(inet_aton(&parts).map(dotted))
}

fn inet_aton(parts: &[&[u8]]) -> Option<u32> {
    let (last, leading) = parts.split_last()?;
    let value = |part: &[u8]| -> Option<u64> {
        let text = std::str::from_utf8(part).ok()?;
        u64::from_str_radix(text, if part.starts_with(b"0") { 8 } else { 10 }).ok()
    };
    let mut address: u64 = 0;
    for part in leading {
        let byte = value(part).filter(|&v| v < 256)?;
        address = (address << 8) | byte;
    }
    let room = 8 * (4 - u32::try_from(leading.len()).ok()?);
    let rest = value(last).filter(|&v| v < 1 << room)?;
    u32::try_from((address << room) | rest).ok()
}

/// Without a leading `www.`, `www2.` and the like.
fn without_www(host: &str) -> &str {
    let Some(rest) = host.strip_prefix("www") else { return host };
    rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('.').unwrap_or(host)
}

/// Percent-decodes until no escape is left. The result does not depend on the order, so one pass
/// with local back-tracking is enough.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        out.push(byte);
        while let [.., b'%', high, low] = out[..]
            && let (Some(high), Some(low)) = (char::from(high).to_digit(16), char::from(low).to_digit(16))
        {
            out.truncate(out.len() - 3);
            out.push((high * 16 + low) as u8);
        }
    }
    out
}

/// Percent-encodes everything but visible ASCII, and also `#` and `%`.
fn escaped(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && byte != b'#' && byte != b'%' {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    out
}

/// Resolves dot segments and folds repeated slashes; a `..` above the root stays.
fn normalised_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|&b| b == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut out = vec![b'/'];
    if let Some((last, leading)) = kept.split_last() {
        for segment in leading.iter().filter(|s| !s.is_empty()) {
            out.extend_from_slice(segment);
            out.push(b'/');
        }
        out.extend_from_slice(last);
    }
    out
}

/// The query with its parameters sorted by name, then value.
fn reordered(query: String) -> String {
    if !query.contains('&') {
        return query;
    }
    let mut parts: Vec<(&str, Option<&str>)> =
        query.split('&').map(|p| p.split_once('=').map_or((p, None), |(n, v)| (n, Some(v)))).collect();
    parts.sort_unstable();
    let mut out = String::with_capacity(query.len());
    for (index, (name, value)) in parts.into_iter().enumerate() {
        if index > 0 {
            out.push('&');
        }
        out.push_str(name);
        if let Some(value) = value {
            out.push('=');
            out.push_str(value);
        }
    }
    out
}

/// Patterns for session ids in paths, each with the text before and after.
static PATH_SESSIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        r"(?i)^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$",
        r"(?i)^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$",
    ])
});

/// Patterns for session ids in queries, likewise.
static QUERY_SESSIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    patterns(&[
        "(?i)^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$",
        "(?i)^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$",
        "(?i)^(.*)sid=[0-9a-z]{32}(?:&(.*))?$",
        "(?i)^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$",
        "(?i)^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$",
    ])
});

fn patterns(texts: &[&str]) -> Vec<Regex> {
    texts.iter().filter_map(|text| Regex::new(text).ok()).collect()
}

fn take_out(patterns: &[Regex], text: &mut String) {
    for pattern in patterns {
        let kept = pattern.captures(text).map(|c| format!("{}{}", &c[1], c.get(2).map_or("", |m| m.as_str())));
        if let Some(kept) = kept {
            *text = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!((PATH_SESSIONS.len(), QUERY_SESSIONS.len()), (2, 5));
    }

    #[test]
    fn a_megabyte_of_nested_escapes_is_undone_in_one_pass() {
        let url = format!("http://x/%{}41", "25".repeat(500_000));
        assert_eq!(cdx_key(&url), "x)/a");
    }

    proptest! {
        #[test]
        fn any_text_has_a_key_of_one_line(url in "\\PC{0,40}") {
            prop_assert!(!cdx_key(&url).is_empty() || url.is_empty());
        }
    }
}
