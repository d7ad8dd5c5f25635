//! What is exported about a page or host?

use crate::error::Result;
use crate::rank::Merit;
use crate::read::{WebGraph, Which};
use std::rc::Rc;

/// A page or host to export.
pub(super) struct Vertex<'a> {
    /// Its number in the catalogue.
    pub(super) number: u64,
    /// Its URL, or the common prefix of its pages' URLs.
    pub(super) name: &'a str,
    /// A page's title.
    pub(super) title: Option<&'a str>,
    /// Its ranks, if it was ranked.
    pub(super) merit: Option<Merit>,
}

/// An attribute of a vertex.
pub(super) enum Fact<'a> {
    Text(&'a str),
    Real(f64),
    Whole(u32),
}

/// The attributes of a vertex: name and type in XML formats.
pub(super) const FACTS: [(&str, &str); 11] = [
    ("url", "string"),
    ("host", "string"),
    ("title", "string"),
    ("pagerank", "double"),
    ("hub", "double"),
    ("authority", "double"),
    ("harmonic", "double"),
    ("indegree", "long"),
    ("outdegree", "long"),
    ("component", "long"),
    ("bowtie", "string"),
];

impl Vertex<'_> {
    /// Its host, with the port if it is not the default.
    pub(super) fn host(&self) -> &str {
        let rest = self.name.split_once("://").map_or(self.name, |(_, rest)| rest);
        rest.split(['/', '?', '#']).next().unwrap_or(rest)
    }

    /// Its label.
    pub(super) fn label(&self) -> &str {
        self.title.filter(|title| !title.is_empty()).unwrap_or(self.name)
    }

    /// Its attributes in the order of [`FACTS`]; `None` if unknown.
    pub(super) fn facts(&self) -> [Option<Fact<'_>>; FACTS.len()] {
        let s = self.merit.as_ref();
        [
            Some(Fact::Text(self.name)),
            Some(Fact::Text(self.host())),
            self.title.map(Fact::Text),
            s.map(|s| Fact::Real(s.pagerank)),
            s.map(|s| Fact::Real(s.hub)),
            s.map(|s| Fact::Real(s.authority)),
            s.map(|s| Fact::Real(s.harmonic)),
            s.map(|s| Fact::Whole(s.indegree)),
            s.map(|s| Fact::Whole(s.outdegree)),
            s.map(|s| Fact::Whole(s.component)),
            s.map(|s| Fact::Text(s.bowtie.name())),
        ]
    }
}

/// Size of the name cache: pages link to their neighbours, and to the same few others.
const REMEMBERED: usize = 1 << 14;

/// Names and numbers of nodes, with a cache.
pub(super) struct NameCache<'a> {
    graph: &'a WebGraph,
    which: Which,
    known: Vec<Option<(u32, u64, Rc<str>)>>,
}

impl<'a> NameCache<'a> {
    pub(super) fn new(graph: &'a WebGraph, which: Which) -> Self {
        Self { graph, which, known: vec![None; REMEMBERED] }
    }

    fn number(&self, node: u32) -> Result<Option<u64>> {
        Ok(match self.which {
            Which::Host | Which::HostT => self.graph.host_of(node)?.map(|host| u64::from(host.0)),
            _ => self.graph.page_of(node)?.map(|page| page.0),
        })
    }

    /// The number and name of a node.
    pub(super) fn of(&mut self, node: u32) -> Result<Option<(u64, Rc<str>)>> {
        let place = node as usize % REMEMBERED;
        if let Some((_, number, name)) = self.known[place].as_ref().filter(|(known, ..)| *known == node) {
            return Ok(Some((*number, name.clone())));
        }
        let name = match self.which {
            Which::Host | Which::HostT => self.graph.origin(node)?,
            _ => self.graph.url(node)?,
        };
        let (Some(number), Some(name)) = (self.number(node)?, name) else { return Ok(None) };
        let name: Rc<str> = name.into();
        self.known[place] = Some((node, number, name.clone()));
        Ok(Some((number, name)))
    }

    /// An end of an arc, with its name if wanted.
    pub(super) fn end(&mut self, node: u32, named: bool) -> Result<Option<(u64, Rc<str>)>> {
        if named { self.of(node) } else { Ok(self.number(node)?.map(|number| (number, Rc::from("")))) }
    }
}
