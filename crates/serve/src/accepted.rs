//! In which of several forms does a client want an answer?
//!
//! As RFC 9110 (12.5.1) has it: each form has the weight of the most specific range that names it,
//! and the heaviest is sent; of equals the one that is named more exactly, then the first that we
//! offer. A client that accepts none of them
//! gets the first, too: it can read that or not, but an error it could not read either.

use crate::request::text_of;
use http::HeaderMap;
use http::header::ACCEPT;

/// The one of these media types that a client likes best; the first if it has no preference.
pub(crate) fn preferred<'o>(headers: &HeaderMap, offers: &[&'o str]) -> &'o str {
    let accept = text_of(headers, &ACCEPT);
    let mut best = (offers.first().copied().unwrap_or_default(), (0, 0));
    for offer in offers {
        let liking = liking(accept, offer);
        if liking.0 > 0 && liking > best.1 {
            best = (offer, liking);
        }
    }
    best.0
}

/// Whether a client likes `this` better than `other`, and says so.
pub(crate) fn prefers(headers: &HeaderMap, this: &str, other: &str) -> bool {
    preferred(headers, &[other, this]) == this
}

/// The weight of a media type, in thousandths, and how exactly it is named.
fn liking(accept: &str, offer: &str) -> (u16, u8) {
    let kind = offer.split('/').next().unwrap_or_default();
    let ranges = accept.split(',').filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next()?;
        let exactness = match name.split_once('/')? {
            _ if name.eq_ignore_ascii_case(offer) => 3,
            (named, "*") if named.eq_ignore_ascii_case(kind) => 2,
            ("*", "*") => 1,
            _ => return None,
        };
        let mut weights = parts.filter_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight = weights.next_back().map_or(Some(1.0), |weight| weight.parse::<f32>().ok())?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
        Some(((weight.clamp(0.0, 1.0) * 1_000.0) as u16, exactness))
    });
    ranges.max_by_key(|(_, exactness)| *exactness).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn chosen(accept: &'static str) -> &'static str {
        let headers = [(ACCEPT, HeaderValue::from_static(accept))].into_iter().collect();
        preferred(&headers, &["application/json", "application/x-ndjson", "text/csv"])
    }

    #[test]
    fn the_heaviest_form_is_sent_and_the_first_of_equals() {
        for (accept, wanted) in [
            ("", "application/json"),
            ("*/*", "application/json"),
            ("text/csv", "text/csv"),
            ("text/*", "text/csv"),
            ("application/json, text/csv;q=0.1", "application/json"),
            ("application/json;q=0.5, text/csv", "text/csv"),
            ("text/csv;q=0, */*", "application/json"),
            ("application/*;q=0.2, application/x-ndjson;q=0.8", "application/x-ndjson"),
            ("application/xml", "application/json"),
            ("nonsense, text/csv;q=x", "application/json"),
        ] {
            assert_eq!(chosen(accept), wanted, "{accept}");
        }
    }

    #[test]
    fn a_browser_prefers_a_page_and_a_program_what_it_names() {
        let of = |accept: &'static str| {
            let headers = [(ACCEPT, HeaderValue::from_static(accept))].into_iter().collect();
            (prefers(&headers, "application/json", "text/html"), prefers(&headers, "text/html", "application/json"))
        };
        assert_eq!(of("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), (false, true));
        assert_eq!(of("application/json, text/plain, */*"), (true, false));
        assert_eq!(of("application/json, text/plain;q=0.9, */*;q=0.8"), (true, false));
        assert_eq!(of("application/json"), (true, false));
        assert_eq!((of("*/*"), of("")), ((false, false), (false, false)));
    }
}
