//! Which parts, and which addresses, does a part of a package refer to?
//!
//! `word/document.xml` has its relationships in `word/_rels/document.xml.rels`: an id, a type and
//! a target, which is another part or, if it is external, an address (ECMA-376-2, 6.5).

use crate::package::{Onward, XmlNode, XmlTag, ZipPackage, resolve, walk_xml};
use std::collections::HashMap;

/// Maximum number of relationships of a part.
const MAX_RELATIONS: usize = 100_000;

/// A relationship.
#[derive(Debug)]
pub(super) struct Relation {
    /// The last part of its type: `hyperlink`, `image`.
    pub(super) kind: String,
    /// The name of a part, or an address if it is external.
    pub(super) target: String,
    /// Whether it leads out of the package.
    pub(super) external: bool,
}

/// The relationships of a part.
#[derive(Debug, Default)]
pub(super) struct Relations {
    all: Vec<Relation>,
    by_id: HashMap<String, usize>,
}

impl Relations {
    /// The relationships of a part; of the package itself if it is unnamed.
    pub(super) fn of(package: &mut ZipPackage<'_>, part: &str) -> Self {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
        let mut relations = Self::default();
        let Some(xml) = package.xml(&name) else { return relations };
        walk_xml(&xml, |node| {
            if let XmlNode::Open(tag) = node {
                relations.add(tag, part);
            }
            Onward::Read
        });
        relations
    }

    /// The relationships of the text in a package that is one XML file.
    pub(super) fn of_flat(xml: &str) -> Self {
        let mut relations = Self::default();
        walk_xml(xml, |node| match node {
            XmlNode::Open(tag) if tag.name() == "part" => {
                let is_of_text = tag.attr("name").is_some_and(|name| name.ends_with("/document.xml.rels"));
                if is_of_text { Onward::Read } else { Onward::Skip }
            }
            XmlNode::Open(tag) => {
                relations.add(tag, "word/document.xml");
                Onward::Read
            }
            _ => Onward::Read,
        });
        relations
    }

    /// Adds what an element says, if it is a relationship.
    fn add(&mut self, tag: &XmlTag<'_>, part: &str) {
        if tag.name() != "Relationship" || self.all.len() >= MAX_RELATIONS {
            return;
        }
        let external = tag.is("TargetMode", "External");
        let target = tag.attr("Target").unwrap_or_default();
        let target = if external { target.into_owned() } else { resolve(part, &target) };
        let kind = tag.attr("Type").unwrap_or_default();
        let kind = kind.rsplit('/').next().unwrap_or("").to_owned();
        self.by_id.insert(tag.attr("Id").unwrap_or_default().into_owned(), self.all.len());
        self.all.push(Relation { kind, target, external });
    }

    /// The relationship of this id.
    pub(super) fn get(&self, id: &str) -> Option<&Relation> {
        self.all.get(*self.by_id.get(id)?)
    }

    /// The address that an id leads to, if it leads out of the document.
    pub(super) fn address(&self, id: &str) -> Option<&str> {
        self.get(id).filter(|r| r.external).map(|r| r.target.as_str())
    }

    /// The parts of a type.
    pub(super) fn of_type<'r>(&'r self, kind: &'r str) -> impl Iterator<Item = &'r Relation> {
        self.all.iter().filter(move |r| r.kind == kind && !r.external)
    }

    /// The names of the parts of a type.
    pub(super) fn parts(&self, kind: &str) -> Vec<String> {
        self.of_type(kind).map(|r| r.target.clone()).collect()
    }

    /// The addresses of the web that are not the targets of clickable links: linked pictures,
    /// frames, objects.
    pub(super) fn embedded(&self) -> impl Iterator<Item = &str> {
        let external = self.all.iter().filter(|r| r.external && r.kind != "hyperlink");
        external.map(|r| r.target.as_str()).filter(|t| t.starts_with("http://") || t.starts_with("https://"))
    }
}
