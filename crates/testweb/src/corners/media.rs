//! Corner: what is there besides pages?

use super::{Corner, Fate, Spot};
use crate::picture;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Media, name: "media", title: "Things that are no pages", hosts: &[], spots, answer };

static THINGS: &[(&str, &str)] = &[
    ("picture.png", "image/png"),
    ("picture.gif", "image/gif"),
    ("picture.svg", "image/svg+xml"),
    ("style.css", "text/css"),
    ("script.js", "text/javascript"),
    ("table.json", "application/json"),
    ("notes.txt", "text/plain"),
    ("paper.pdf", "application/pdf"),
    ("noise.bin", "application/octet-stream"),
];

/// A minimal PDF.
const PDF: &[u8] = b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    THINGS.iter().map(|(name, _)| Spot::new(format!("/media/{name}"), Fate::Asset)).collect()
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let Some((name, mime)) = THINGS.iter().find(|(name, _)| *name == rest) else {
        return false;
    };
    let noise: Vec<u8>;
    let body: &[u8] = match *name {
        "picture.png" => {
            noise = picture::png(99);
            &noise
        }
        "picture.gif" => picture::GIF,
        "picture.svg" => picture::SVG,
        "style.css" => b"p { margin: 1em }\n",
        "script.js" => b"document.title += '!';\n",
        "table.json" => b"{\"rows\": [1, 2, 3]}\n",
        "notes.txt" => b"Nothing but text.\n",
        "paper.pdf" => PDF,
        _ => {
            noise = (0..4_096_u64).map(|n| crate::chance::mix(n) as u8).collect();
            &noise
        }
    };
    reply.thing(mime, body);
    true
}
