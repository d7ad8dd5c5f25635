//! How is a table written as JSON lines?

use super::Sink;
use orb_store::Cell;
use orb_store::{Holds, TableColumn};
use std::io::{self, BufWriter, Write};

/// A table being written.
pub(super) struct Jsonl<W: Write> {
    out: BufWriter<W>,
    columns: &'static [TableColumn],
    line: Vec<u8>,
}

impl<W: Write> Jsonl<W> {
    /// Rows with these column names.
    pub(super) fn new(out: W, columns: &'static [TableColumn]) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, out), columns, line: Vec::new() }
    }
}

impl<W: Write> Sink for Jsonl<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.line.clear();
        for (i, ((name, holds), cell)) in self.columns.iter().zip(cells).enumerate() {
            write!(self.line, "{}\"{name}\":", if i == 0 { '{' } else { ',' })?;
            match cell {
                Cell::Null => self.line.extend_from_slice(b"null"),
                Cell::Integer(n) if *holds == Holds::Truth => write!(self.line, "{}", *n != 0)?,
                Cell::Integer(n) => write!(self.line, "{n}")?,
                Cell::Real(x) => serde_json::to_writer(&mut self.line, x)?,
                Cell::Text(text) => serde_json::to_writer(&mut self.line, text)?,
                Cell::Blob(bytes) => serde_json::to_writer(&mut self.line, &String::from_utf8_lossy(bytes))?,
            }
        }
        self.line.extend_from_slice(b"}\n");
        self.out.write_all(&self.line)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}
