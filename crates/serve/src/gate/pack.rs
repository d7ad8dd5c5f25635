//! Which responses are compressed?
//!
//! Pages, JSON and the like, with gzip, which every browser takes, when they are long enough and
//! there as a whole. Compressing what is secret beside what an attacker chooses tells the secret by
//! the length of the result, to whoever can have it requested again and again and sees the lengths
//! (BREACH). So two things are asked, each of which is enough
//! ([decision 63](../../../../docs/decisions/0063-what-is-compressed.md)):
//!
//! - Who has it requested? Nothing is compressed for a request with a cookie that another site's
//!   page may have caused: the browser says of each whether it comes from one of our own pages or
//!   from the user.
//! - Is there a secret in it? Routes whose pages hold one say so in the table, and are never
//!   compressed.

use crate::request::text_of;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, COOKIE, ETAG, HeaderName,
    HeaderValue, VARY,
};
use http::{HeaderMap, Method};
use http_body_util::BodyExt as _;
use std::io::Write as _;

/// The lengths that are worth it.
const SHORTEST: u64 = 1_000;
const LONGEST: u64 = 8 << 20;

/// What takes longer than a moment is not done on a thread that serves sockets.
const LONG: usize = 100_000;

/// Fast: the line to a browser is rarely slower than this.
const LEVEL: Compression = Compression::new(4);

/// What is text of ours.
const KINDS: [&str; 7] = [
    "text/html",
    "text/plain",
    "text/csv",
    "application/json",
    "application/problem+json",
    "application/x-ndjson",
    "application/atom+xml",
];

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Marks a response that holds a secret.
#[derive(Clone, Copy, Debug)]
pub(super) struct HoldsSecret;

/// Whether the client takes gzip.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let offers = text_of(headers, &ACCEPT_ENCODING).split(',');
    offers.map(|offer| offer.split(';').map(str::trim)).any(|mut parts| {
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        is_gzip && parts.all(|part| !matches!(part.replace(' ', "").as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// Whether the response to a request may be compressed, as far as the request tells.
pub(super) fn may_pack(request: &Request) -> bool {
    let headers = request.headers();
    let is_our_own = matches!(text_of(headers, &FETCH_SITE), "same-origin" | "none");
    request.method() == Method::GET && takes_gzip(headers) && (is_our_own || !headers.contains_key(COOKIE))
}

/// The response, compressed if that is allowed and worth it.
pub(super) async fn packed(mut response: Response, may_pack: bool) -> Response {
    let headers = response.headers();
    let kind = text_of(headers, &CONTENT_TYPE).split(';').next().unwrap_or_default();
    let is_fixed = [CONTENT_ENCODING, CONTENT_RANGE, ETAG].iter().any(|name| headers.contains_key(name));
    if !KINDS.contains(&kind) || is_fixed || response.extensions().get::<HoldsSecret>().is_some() {
        return response;
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding, accept, sec-fetch-site, cookie"));
    let length = response.body().size_hint().exact();
    if !may_pack || !length.is_some_and(|length| (SHORTEST..=LONGEST).contains(&length)) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // A body that is there as a whole is read without waiting.
    let Ok(plain) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return Response::from_parts(parts, Body::empty());
    };
    let packed = if plain.len() < LONG {
        gzip(&plain, LEVEL)
    } else {
        let whole = plain.clone();
        tokio::task::spawn_blocking(move || gzip(&whole, LEVEL)).await.unwrap_or_default()
    };
    if packed.is_empty() || packed.len() >= plain.len() {
        return Response::from_parts(parts, Body::from(plain));
    }
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    // Instead of that of the plain body, which the router has added.
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(packed.len()));
    Response::from_parts(parts, Body::from(packed))
}

/// Bytes, compressed; empty if that fails.
pub(crate) fn gzip(plain: &[u8], level: Compression) -> Bytes {
    let mut out = GzEncoder::new(Vec::with_capacity(plain.len() / 3), level);
    // Writing to memory does not fail.
    out.write_all(plain).and_then(|()| out.finish()).map(Bytes::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_for_those_who_take_it() {
        let takes = |offer: &'static str| {
            takes_gzip(&[(ACCEPT_ENCODING, HeaderValue::from_static(offer))].into_iter().collect())
        };
        assert!(takes("gzip") && takes("br, gzip;q=0.5") && takes("deflate, GZIP") && takes("*"));
        assert!(!takes("") && !takes("br") && !takes("gzip;q=0") && !takes("identity, gzip; q=0.0"));
    }
}
