//! What does a document say of itself in its properties?

use super::relations::Relations;
use crate::gather::Gather;
use crate::package::{Onward, XmlNode, ZipPackage, walk_xml};
use crate::prose::folded_literal;
use crate::stamp::moment;

/// Maximum length of a property in characters.
const MAX_PROPERTY: usize = 1_000;

/// Reads title, author and dates, and how many pages or slides there are.
pub(super) fn read(package: &mut ZipPackage<'_>, found: &mut Gather) {
    let relations = Relations::of(package, "");
    let named =
        |kind: &str, usual: &str| relations.of_type(kind).next().map_or_else(|| usual.to_owned(), |r| r.target.clone());
    let (main, extended) =
        (named("core-properties", "docProps/core.xml"), named("extended-properties", "docProps/app.xml"));
    for part in [main, extended] {
        if let Some(xml) = package.xml(&part) {
            properties(&xml, found);
        }
    }
}

/// Reads the properties in an XML document. Elements of Dublin Core mean the same wherever they
/// stand, so this also reads those of OpenDocument; Office 2003 has names of its own.
pub(crate) fn properties(xml: &str, found: &mut Gather) {
    let mut text = String::new();
    walk_xml(xml, |node| {
        match node {
            XmlNode::Open(tag) => {
                text.clear();
                if tag.name() == "document-statistic" {
                    found.doc.page_count = tag.number("page-count").or(found.doc.page_count);
                }
            }
            XmlNode::Text(piece) => text.push_str(piece),
            XmlNode::Close(name) => {
                property(name, &text, found);
                text.clear();
            }
        }
        Onward::Read
    });
}

fn property(name: &str, text: &str, found: &mut Gather) {
    let value = || Some(folded_literal(text, MAX_PROPERTY)).filter(|v| !v.is_empty());
    let doc = &mut found.doc;
    match name {
        "title" | "Title" if doc.title.is_none() => doc.title = value(),
        "creator" | "Author" if doc.author.is_none() => doc.author = value(),
        // Who began it, where `creator` is who changed it last.
        "initial-creator" => doc.author = value().or(doc.author.take()),
        "description" if doc.description.is_none() => doc.description = value(),
        "language" if doc.lang.is_none() => doc.lang = value().filter(|l| l.len() >= 2),
        "created" | "creation-date" | "Created" => doc.created = moment(text).or(doc.created.take()),
        "modified" | "date" | "LastSaved" => doc.modified = moment(text).or(doc.modified.take()),
        "Pages" | "Slides" => {
            doc.page_count = text.trim().parse().ok().filter(|&n| n > 0).or(doc.page_count);
        }
        _ => {}
    }
}
