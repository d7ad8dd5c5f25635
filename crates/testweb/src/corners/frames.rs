//! Corner: which responses never end, or are followed by a second one?
//!
//! All of them follow the protocol, or nearly: endless interim responses, chunk extensions and
//! trailers, a byte now and then.

use super::{Corner, Fate, Spot};
use crate::reply::{Ask, Flow, Reply, Torrent, WebView, Wire};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Frames, name: "frames", title: "Answers that go on", hosts: &[], spots, answer };

macro_rules! chunked {
    ($rest:literal) => {
        concat!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n", $rest).as_bytes()
    };
}

/// The name of each, and what it sends endlessly.
static TORRENTS: &[(&str, Torrent)] = &[
    ("interim.html", fast(b"", b"HTTP/1.1 100 Continue\r\n\r\n")),
    ("hints.html", fast(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </frames/>; rel=preload\r\n\r\n")),
    ("extension.html", fast(chunked!("5;x="), b"and so on ")),
    ("extensions.html", fast(chunked!(""), b"1;x=0123456789012345678901234567890123456789\r\na\r\n")),
    ("trailers.html", fast(chunked!("5\r\nhello\r\n0\r\n"), b"X-More: and more\r\n")),
    ("slow-head.html", slow(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")),
    ("slow-body.html", slow(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", b"x")),
    ("slow-chunks.html", slow(chunked!(""), b"1\r\nx\r\n")),
];

/// A page, followed by a response to a request that was never made.
const TWO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n<title>Mine</title>\r\n\
    HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 24\r\n\r\n<title>Poisoned</title>\r\n";

const fn fast(head: &'static [u8], block: &'static [u8]) -> Torrent {
    Torrent { head, block, slowly: false }
}

const fn slow(head: &'static [u8], block: &'static [u8]) -> Torrent {
    Torrent { head, block, slowly: true }
}

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let names = TORRENTS.iter().map(|(name, _)| *name).chain(["two.html"]);
    names.map(|name| Spot::new(format!("/frames/{name}"), Fate::Broken)).collect()
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let torrent = TORRENTS.iter().find(|(name, _)| *name == rest).map(|(_, torrent)| Flow::Forever(torrent));
    let Some(flow) = torrent.or_else(|| (rest == "two.html").then_some(Flow::Linger(TWO))) else {
        return false;
    };
    reply.wire = Wire::Flow(flow);
    true
}
