//! Was a request that changes something sent by a page of ours?
//!
//! Browsers say so: in `Sec-Fetch-Site` where they trust the address, else in `Origin`. Whoever
//! sends neither is no browser, and carries no cookie that somebody else could misuse. The rule is
//! that of Go's `http.CrossOriginProtection`; it needs no hidden fields in forms.

use crate::request::text_of;
use http::HeaderMap;
use http::header::{HeaderName, ORIGIN};

/// What browsers say about where a request comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a request to this host comes from a page of the same origin, or from no page at all.
pub(super) fn is_ours(headers: &HeaderMap, host: &str) -> bool {
    if headers.contains_key(&FETCH_SITE) {
        return matches!(text_of(headers, &FETCH_SITE), "same-origin" | "none");
    }
    if !headers.contains_key(ORIGIN) {
        return true;
    }
    let origin = text_of(headers, &ORIGIN);
    origin.split_once("://").is_some_and(|(_, named)| !host.is_empty() && named.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn pages_of_other_sites_change_nothing() {
        let of = |fields: &[(&'static str, &'static str)]| {
            let fields = fields.iter().map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)));
            is_ours(&fields.collect(), "a.test:8787")
        };
        assert!(of(&[]) && of(&[("sec-fetch-site", "same-origin")]) && of(&[("sec-fetch-site", "none")]));
        assert!(of(&[("origin", "http://a.test:8787")]) && of(&[("origin", "https://A.test:8787")]));
        for site in ["cross-site", "same-site", "", "SAME-ORIGIN"] {
            assert!(!of(&[("sec-fetch-site", site), ("origin", "http://a.test:8787")]), "{site}");
        }
        for origin in ["http://evil.test", "null", "", "http://a.test", "http://a.test:87870", "a.test:8787"] {
            assert!(!of(&[("origin", origin)]), "{origin}");
        }
    }
}
