//! Does a cookie stay where it belongs?

use orb_fetch::Jar;
use orb_urls::site::registrable;
use std::time::{Duration, SystemTime};
use url::Url;

/// A cookie jar. Input: the URL that sets, the URL that requests, and one `Set-Cookie` per line.
pub fn cookies(bytes: &[u8]) {
    let (first, values) = split(bytes);
    let (second, values) = split(values);
    let (first, second) = (String::from_utf8_lossy(first), String::from_utf8_lossy(second));
    let (Ok(setter), Ok(asker)) = (Url::parse(&first), Url::parse(&second)) else { return };
    if !(matches!(setter.scheme(), "http" | "https") && matches!(asker.scheme(), "http" | "https")) {
        return;
    }
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_715_409);
    let jar = Jar::default();
    let mut set = 0;
    for value in values.split(|b| *b == b'\n') {
        jar.store(&setter, [value], now);
        set += 1;
        alone(&setter, &asker, value, now);
    }
    assert!(jar.len() <= set.min(100));
    check(&jar, &setter, &asker, now);
}

fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or(&[]))
}

fn check(jar: &Jar, setter: &Url, asker: &Url, now: SystemTime) {
    let Some(header) = jar.header(asker, now) else { return };
    assert!(!header.is_empty() && header.bytes().all(|b| !b.is_ascii_control() || b == b'\t'), "{header:?}");
    let (from, to) = (setter.host_str().unwrap_or(""), asker.host_str().unwrap_or(""));
    assert!(from == to || registrable(from) == registrable(to), "set by {from}, sent to {to}");
    assert!(
        from == to || registrable(from) != from || to.ends_with(&format!(".{from}")),
        "set by {from}, sent to {to}"
    );
    let later = jar.header(asker, now + Duration::from_secs(500 * 86_400)).unwrap_or_default();
    for pair in later.split("; ") {
        assert!(header.contains(pair), "{pair} was not there before");
    }
    let strange = Url::parse("http://somebody-else.example/").ok();
    assert!(strange.is_none_or(|s| s.host_str() == Some(from) || jar.header(&s, now).is_none()));
}

/// A single cookie: its attributes are honoured.
fn alone(setter: &Url, asker: &Url, value: &[u8], now: SystemTime) {
    let jar = Jar::default();
    jar.store(setter, [value], now);
    check(&jar, setter, asker, now);
    let sent = jar.header(asker, now).is_some();
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    let attributes: Vec<&str> = text.split(';').skip(1).take(64).map(str::trim).collect();
    let is_local = matches!(asker.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if attributes.contains(&"secure") && asker.scheme() == "http" && !is_local {
        assert!(!sent, "a secure cookie in the clear: {text}");
    }
    if !attributes.iter().any(|a| a.starts_with("domain")) && setter.host_str() != asker.host_str() {
        assert!(!sent, "a cookie for its host alone went elsewhere: {text}");
    }
    if text.starts_with("__host-") && setter.host_str() != asker.host_str() {
        assert!(!sent, "{text}");
    }
}
