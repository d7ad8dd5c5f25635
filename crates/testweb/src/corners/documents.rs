//! Corner: what is there besides pages that says something?
//!
//! A document of every kind, each with a word that no other has: its name behind `document`.

use super::{Corner, Fate, Spot};
use crate::documents::{DocumentKind, DocumentText};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Documents,
    name: "documents",
    title: "Documents of every kind",
    hosts: &[],
    spots,
    answer,
};

/// PDF files are among the things that are no pages.
fn kinds() -> impl Iterator<Item = DocumentKind> {
    DocumentKind::ALL.into_iter().filter(|kind| *kind != DocumentKind::Pdf)
}

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    kinds().map(|kind| Spot::new(format!("/documents/report.{}", kind.ending()), Fate::Asset)).collect()
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let Some(kind) = kinds().find(|kind| rest.strip_prefix("report.") == Some(kind.ending())) else { return false };
    let word = format!("document{}", kind.ending());
    let text = DocumentText {
        title: "A report on burrows",
        author: "Ann Example",
        saved: "2026-11-17T06:00:00Z",
        paragraphs: &["where wolf spiders dig", &word],
        link: "/",
    };
    reply.thing(kind.mime(), &text.made(kind));
    true
}
