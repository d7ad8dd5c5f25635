//! How is a graph written in GraphML?
//!
//! GraphML (graphml.graphdrawing.org) is XML with typed keys that nearly every tool reads.

use super::vertex::{FACTS, Fact, Vertex};
use super::xml::{Escaped, Real};
use super::{ArcEnd, GraphSink};
use std::io::{self, Write};

pub(super) struct Graphml<W: Write> {
    out: W,
}

impl<W: Write> Graphml<W> {
    pub(super) fn begin(mut out: W) -> io::Result<Self> {
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(out, r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns">"#)?;
        for (name, kind) in FACTS {
            writeln!(out, r#"<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>"#)?;
        }
        writeln!(out, r#"<graph edgedefault="directed">"#)?;
        Ok(Self { out })
    }
}

impl<W: Write> GraphSink for Graphml<W> {
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        write!(self.out, r#"<node id="n{}">"#, vertex.number)?;
        for ((name, _), fact) in FACTS.iter().zip(vertex.facts()) {
            match fact {
                Some(Fact::Text(text)) => write!(self.out, r#"<data key="{name}">{}</data>"#, Escaped(text))?,
                Some(Fact::Real(x)) => write!(self.out, r#"<data key="{name}">{}</data>"#, Real(x))?,
                Some(Fact::Whole(n)) => write!(self.out, r#"<data key="{name}">{n}</data>"#)?,
                None => {}
            }
        }
        writeln!(self.out, "</node>")
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        writeln!(self.out, r#"<edge source="n{}" target="n{}"/>"#, from.number, to.number)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        writeln!(self.out, "</graph>\n</graphml>")?;
        self.out.flush()
    }
}
