//! How is a graph written in GEXF?
//!
//! GEXF 1.2 (gexf.net) is Gephi's own XML.

use super::vertex::{FACTS, Fact, Vertex};
use super::xml::{Escaped, Real};
use super::{ArcEnd, GraphSink};
use std::io::{self, Write};

pub(super) struct Gexf<W: Write> {
    out: W,
    arcs: u64,
}

impl<W: Write> Gexf<W> {
    pub(super) fn begin(mut out: W, title: &str) -> io::Result<Self> {
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(out, r#"<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">"#)?;
        writeln!(out, "<meta><creator>Orbweaver</creator><description>{}</description></meta>", Escaped(title))?;
        writeln!(out, r#"<graph mode="static" defaultedgetype="directed">"#)?;
        writeln!(out, r#"<attributes class="node">"#)?;
        for (place, (name, kind)) in FACTS.iter().enumerate() {
            writeln!(out, r#"<attribute id="{place}" title="{name}" type="{kind}"/>"#)?;
        }
        writeln!(out, "</attributes>\n<nodes>")?;
        Ok(Self { out, arcs: 0 })
    }

    /// Closes the nodes and opens the edges.
    fn edges(&mut self) -> io::Result<()> {
        if self.arcs == 0 {
            writeln!(self.out, "</nodes>\n<edges>")?;
        }
        Ok(())
    }
}

impl<W: Write> GraphSink for Gexf<W> {
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        write!(self.out, r#"<node id="{}" label="{}"><attvalues>"#, vertex.number, Escaped(vertex.label()))?;
        for (place, fact) in vertex.facts().into_iter().enumerate() {
            match fact {
                Some(Fact::Text(t)) => write!(self.out, r#"<attvalue for="{place}" value="{}"/>"#, Escaped(t))?,
                Some(Fact::Real(x)) => write!(self.out, r#"<attvalue for="{place}" value="{}"/>"#, Real(x))?,
                Some(Fact::Whole(n)) => write!(self.out, r#"<attvalue for="{place}" value="{n}"/>"#)?,
                None => {}
            }
        }
        writeln!(self.out, "</attvalues></node>")
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        self.edges()?;
        writeln!(self.out, r#"<edge id="{}" source="{}" target="{}"/>"#, self.arcs, from.number, to.number)?;
        self.arcs += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.edges()?;
        writeln!(self.out, "</edges>\n</graph>\n</gexf>")?;
        self.out.flush()
    }
}
