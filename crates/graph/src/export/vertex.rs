//! What is told of a page or host?

use crate::error::Result;
use crate::rank::Merit;
use crate::read::{WebGraph, Which};
use std::rc::Rc;

/// A page or host on its way out.
pub(super) struct Vertex<'a> {
    /// Its number in the catalogue.
    pub(super) number: u64,
    /// Its URL, or how the URLs of its pages begin.
    pub(super) name: &'a str,
    /// A page's title.
    pub(super) title: Option<&'a str>,
    /// Its ranks, where there are any.
    pub(super) merit: Option<Merit>,
}

/// A fact about a vertex.
pub(super) enum Fact<'a> {
    Text(&'a str),
    Real(f64),
    Whole(u32),
}

/// The facts a vertex can have: the name, the type in XML formats, and how to find it.
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
    /// Its host, with the port where it has an unusual one.
    pub(super) fn host(&self) -> &str {
        let rest = self.name.split_once("://").map_or(self.name, |(_, rest)| rest);
        rest.split(['/', '?', '#']).next().unwrap_or(rest)
    }

    /// What to call it.
    pub(super) fn label(&self) -> &str {
        self.title.filter(|title| !title.is_empty()).unwrap_or(self.name)
    }

    /// Its facts in the order of [`FACTS`]; `None` where one is not known.
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

/// How many names are remembered: pages point to their neighbours, and to the same few others.
const REMEMBERED: usize = 1 << 14;

/// The names and numbers of nodes, the last ones remembered.
pub(super) struct Names<'a> {
    graph: &'a WebGraph,
    which: Which,
    known: Vec<Option<(u32, u64, Rc<str>)>>,
}

impl<'a> Names<'a> {
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

    /// The end of an arc, with its name where that is wanted.
    pub(super) fn end(&mut self, node: u32, named: bool) -> Result<Option<(u64, Rc<str>)>> {
        if named { self.of(node) } else { Ok(self.number(node)?.map(|number| (number, Rc::from("")))) }
    }
}
