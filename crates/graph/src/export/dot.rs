//! How is a graph written in Graphviz's DOT?
//!
//! For small graphs that Graphviz lays out.

use super::vertex::Vertex;
use super::{ArcEnd, GraphSink};
use std::fmt;
use std::io::{self, Write};

pub(super) struct Dot<W: Write> {
    out: W,
}

/// A quoted DOT string: backslashes and newlines must be replaced, since they would start an escape
/// or end the line.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c if c.is_control() => f.write_str(" ")?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

impl<W: Write> Dot<W> {
    pub(super) fn begin(mut out: W, title: &str) -> io::Result<Self> {
        writeln!(out, "digraph {} {{", Quoted(title))?;
        Ok(Self { out })
    }
}

impl<W: Write> GraphSink for Dot<W> {
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        let (number, label, url) = (vertex.number, Quoted(vertex.label()), Quoted(vertex.name));
        write!(self.out, "n{number} [label={label}, URL={url}")?;
        if let Some(merit) = vertex.merit {
            write!(self.out, ", pagerank={:?}, indegree={}", merit.pagerank.to_string(), merit.indegree)?;
        }
        writeln!(self.out, "];")
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        writeln!(self.out, "n{} -> n{};", from.number, to.number)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        writeln!(self.out, "}}")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_stay_inside() {
        assert_eq!(Quoted("a\"b\\\n").to_string(), r#""a\"b\\ ""#);
    }
}
