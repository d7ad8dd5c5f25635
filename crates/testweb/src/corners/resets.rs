//! Corner: at which stages can a connection be reset?

use super::{Corner, Fate, Spot};
use crate::reply::{Ask, Flow, Reply, WebView, Wire};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Resets, name: "resets", title: "Connections that break", hosts: &[], spots, answer };

/// Each stage, and what is sent before it.
static STAGES: &[(&str, &[u8])] = &[
    ("before.html", b""),
    ("in-status.html", b"HTTP/1."),
    ("in-head.html", b"HTTP/1.1 200 OK\r\nContent-Type: te"),
    ("after-head.html", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n"),
    ("in-body.html", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n<p>It begins"),
    ("in-chunk.html", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n<p>It"),
    ("in-size.html", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n4"),
    ("in-trailer.html", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-T"),
    ("at-end.html", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Until the connection closes</p>"),
];

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    STAGES.iter().map(|(name, _)| Spot::new(format!("/resets/{name}"), Fate::Broken)).collect()
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let Some((_, sent)) = STAGES.iter().find(|(name, _)| *name == rest) else {
        return false;
    };
    reply.wire = Wire::Flow(Flow::Reset(sent));
    true
}
