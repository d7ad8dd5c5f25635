//! How is a table written as comma-separated values (RFC 4180)?

use super::Sink;
use orb_store::Cell;
use orb_store::Field;
use std::io::{self, BufWriter, Write};

/// A table being written.
pub(super) struct Csv<W: Write> {
    out: BufWriter<W>,
    line: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// Starts with the header line.
    pub(super) fn new(out: W, columns: &[Field]) -> io::Result<Self> {
        let mut csv = Self { out: BufWriter::with_capacity(1 << 16, out), line: Vec::new() };
        let names: Vec<Cell<'_>> = columns.iter().map(|(name, _)| Cell::Text(name)).collect();
        csv.row(&names)?;
        Ok(csv)
    }

    fn quoted(&mut self, text: &[u8]) {
        if !text.iter().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) {
            return self.line.extend_from_slice(text);
        }
        self.line.push(b'"');
        for part in text.split_inclusive(|b| *b == b'"') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\"") {
                self.line.push(b'"');
            }
        }
        self.line.push(b'"');
    }
}

impl<W: Write> Sink for Csv<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.line.clear();
        for (i, cell) in cells.iter().enumerate() {
            if i > 0 {
                self.line.push(b',');
            }
            match cell {
                Cell::Null => {}
                Cell::Integer(n) => write!(self.line, "{n}")?,
                Cell::Real(x) => write!(self.line, "{x}")?,
                Cell::Text(text) => self.quoted(text.as_bytes()),
                Cell::Blob(bytes) => self.quoted(String::from_utf8_lossy(bytes).as_bytes()),
            }
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_has_them() {
        let mut out = Vec::new();
        let columns = [("a", orb_store::Holds::Text), ("b", orb_store::Holds::Real)];
        let mut csv = Box::new(Csv::new(&mut out, &columns).unwrap());
        csv.row(&[Cell::Text("plain"), Cell::Null]).unwrap();
        csv.row(&[Cell::Text("say \"a, b\"\r\nor"), Cell::Real(0.5)]).unwrap();
        csv.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b\nplain,\n\"say \"\"a, b\"\"\r\nor\",0.5\n");
    }
}
