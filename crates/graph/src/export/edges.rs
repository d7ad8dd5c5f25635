//! A list of edges: two addresses a line, a tab between them. An address has no blanks, so nothing needs escaping.

use super::vertex::Vertex;
use super::{End, Form};
use std::io::{self, Write};

pub(super) struct Edges<W: Write> {
    pub(super) out: W,
}

impl<W: Write> Form for Edges<W> {
    fn vertex(&mut self, _: &Vertex<'_>) -> io::Result<()> {
        Ok(())
    }

    fn arc(&mut self, from: End<'_>, to: End<'_>) -> io::Result<()> {
        writeln!(self.out, "{}\t{}", from.name, to.name)
    }

    fn names_ends(&self) -> bool {
        true
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}
