//! Corner: which servers violate the protocol?
//!
//! Some only use its rarer features, which every client must understand; the others send what no
//! client can trust.

use super::{Corner, Fate, Spot};
use crate::press;
use crate::reply::{Ask, Reply, WebView, Wire};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Lies, name: "lies", title: "Servers that lie", hosts: &[], spots, answer };

/// The content of every page here.
const PAGE: &str = "<!doctype html><title>Believe me</title><p>All of this is true.</p>";

/// Rare but valid.
static RARE: &[&str] = &["chunked.html", "until-close.html", "early-hints.html", "no-reason.html", "no-type.html"];

/// Invalid: the header as sent after the status line, with `@` for the true length, and the body.
static WRONG: &[(&str, &str, &[u8])] = &[
    ("short.html", "Content-Length: 500\r\n", PAGE.as_bytes()),
    ("long.html", "Content-Length: 40\r\n", PAGE.as_bytes()),
    ("two-lengths.html", "Content-Length: 40\r\nContent-Length: 41\r\n", PAGE.as_bytes()),
    ("negative.html", "Content-Length: -5\r\n", PAGE.as_bytes()),
    ("vast.html", "Content-Length: 99999999999999999999\r\n", PAGE.as_bytes()),
    ("bad-chunk.html", "Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\nzz\r\nworld\r\n0\r\n\r\n"),
    ("vast-chunk.html", "Transfer-Encoding: chunked\r\n", b"ffffffffffffffffff\r\nhello"),
    ("cut-chunk.html", "Transfer-Encoding: chunked\r\n", b"20\r\nonly this"),
    ("bad-gzip.html", "Content-Encoding: gzip\r\nContent-Length: @\r\n", b"\x1f\x8b\x08\0\0\0\0\0\0\x03garbage!!!"),
    ("not-gzip.html", "Content-Encoding: gzip\r\nContent-Length: @\r\n", b"<p>This was never zipped.</p>"),
    ("unknown-coding.html", "Content-Encoding: rot13\r\nContent-Length: @\r\n", b"<c>Uryyb</c>"),
    ("folded.html", "X-Long: one\r\n two\r\nContent-Length: @\r\n", b"<p>Folded</p>"),
    ("nameless.html", ": empty\r\nno colon here\r\nContent-Length: @\r\n", b"<p>Nameless</p>"),
];

/// Invalid from the first byte.
static RAW: &[(&str, &[u8])] = &[
    ("garbage.html", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03 this is no HTTP\r\n\r\n"),
    ("old.html", b"<p>An answer as in 1991.</p>"),
    ("half-head.html", b"HTTP/1.1 200 OK\r\nContent-Type: text/ht"),
    ("no-status.html", b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n"),
    ("status-99.html", b"HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n"),
    ("bare-lf.html", b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 9\n\n<p>LF</p>"),
    ("nul.html", b"HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 0\r\n\r\n"),
];

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let at = |name: &str| format!("/lies/{name}");
    let wrong =
        WRONG.iter().map(|lie| lie.0).chain(RAW.iter().map(|lie| lie.0)).chain(["cut-gzip.html", "deflate.html"]);
    RARE.iter()
        .map(|name| Spot::page(at(name)))
        .chain(wrong.map(|name| Spot::new(at(name), Fate::Broken)))
        .chain([Spot::new(at("wrong-type.png"), Fate::Asset)])
        .collect()
}

/// A whole response with this header, byte for byte.
fn whole(reply: &mut Reply, header: &str, body: &[u8]) {
    let header = header.replace('@', &body.len().to_string());
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n{header}\r\n");
    reply.verbatim(&[head.as_bytes(), body].concat());
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if let Some((_, header, body)) = WRONG.iter().find(|lie| lie.0 == rest) {
        whole(reply, header, body);
        return true;
    }
    if let Some((_, bytes)) = RAW.iter().find(|lie| lie.0 == rest) {
        reply.verbatim(bytes);
        return true;
    }
    let length = PAGE.len();
    reply.page(200, "Believe me", "<p>All of this is true.</p>");
    reply.identity = true;
    match rest {
        "chunked.html" => reply.wire = Wire::Chunked,
        "until-close.html" => reply.wire = Wire::UntilClose,
        "early-hints.html" => reply.verbatim(
            format!(
                "HTTP/1.1 103 Early Hints\r\nLink: </lies/>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\n\
                 Content-Type: text/html\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{PAGE}"
            )
            .as_bytes(),
        ),
        "no-reason.html" => reply.verbatim(
            format!("HTTP/1.1 200 \r\nConnection: close\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{PAGE}")
                .as_bytes(),
        ),
        "no-type.html" => reply.mime = "",
        "wrong-type.png" => reply.mime = "image/png",
        "cut-gzip.html" => {
            let zipped = press::gzip(PAGE.as_bytes());
            let kept = zipped.get(..zipped.len() / 2).unwrap_or_default();
            whole(reply, "Content-Encoding: gzip\r\nContent-Length: @\r\n", kept);
        }
        "deflate.html" => {
            let deflated = press::deflate(PAGE.as_bytes());
            whole(reply, "Content-Encoding: deflate\r\nContent-Length: @\r\n", &deflated);
        }
        _ => return false,
    }
    true
}
