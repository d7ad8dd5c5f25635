//! How is a table written as comma-separated values (RFC 4180)?

use super::Sink;
use orb_store::Cell;
use orb_store::TableColumn;
use std::io::{self, Write};

/// A table that is being written.
pub(super) struct Csv<W: Write> {
    out: csv::Writer<W>,
    number: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// Begins with the line of names.
    pub(super) fn new(out: W, columns: &[TableColumn]) -> io::Result<Self> {
        let mut out = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(out);
        out.write_record(columns.iter().map(|(name, _)| name))?;
        Ok(Self { out, number: Vec::new() })
    }
}

impl<W: Write> Sink for Csv<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for cell in cells {
            self.number.clear();
            match cell {
                Cell::Null => self.out.write_field(b"")?,
                Cell::Integer(n) => {
                    write!(self.number, "{n}")?;
                    self.out.write_field(&self.number)?;
                }
                Cell::Real(x) => {
                    write!(self.number, "{x}")?;
                    self.out.write_field(&self.number)?;
                }
                Cell::Text(text) => self.out.write_field(text)?,
                Cell::Blob(bytes) => self.out.write_field(String::from_utf8_lossy(bytes).as_bytes())?,
            }
        }
        Ok(self.out.write_record(None::<&[u8]>)?)
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
