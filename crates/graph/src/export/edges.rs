//! How is a graph written as an edge list?
//!
//! Two URLs per line, separated by a tab. URLs contain no white space, so nothing needs escaping.

use super::vertex::Vertex;
use super::{ArcEnd, GraphSink};
use std::io::{self, Write};

pub(super) struct Edges<W: Write> {
    pub(super) out: W,
}

impl<W: Write> GraphSink for Edges<W> {
    fn vertex(&mut self, _: &Vertex<'_>) -> io::Result<()> {
        Ok(())
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        writeln!(self.out, "{}\t{}", from.name, to.name)
    }

    fn names_ends(&self) -> bool {
        true
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}
