//! How are rows transferred in bulk?
//!
//! With COPY in its text format: fields separated by tabs, rows by newlines, both escaped within
//! texts. PostgreSQL text cannot contain NUL, which is dropped.

use super::{PostgresCounts, failed};
use crate::error::Result;
use crate::{ExportProgress, step};
use orb_answers::content::{decoded, source};
use orb_page::WarcPosition;
use orb_store::{ArchiveReader, CatalogueReader, CatalogueWalk, Cell, StoreError, StoredExchange};
use postgres::Transaction;
use std::io::Write;

/// An export in progress.
pub(super) struct PostgresLoad<'a, 'c> {
    tx: Transaction<'a>,
    reader: &'c CatalogueReader,
    content: PageContents,
    watch: &'c mut ExportProgress<'c>,
    rows: u64,
    counts: PostgresCounts,
}

/// Page contents from the archive, requested row by row.
pub(super) struct PageContents {
    archive: Option<ArchiveReader>,
    unreadable: u64,
}

impl PageContents {
    /// The source of an HTML page as text, if content is wanted.
    pub(super) fn text(&mut self, url: &str, at: Option<&WarcPosition>) -> Option<String> {
        self.read(at, |stored, content| source(url, stored, content))
    }

    /// The bytes of a document, if content is wanted.
    pub(super) fn bytes(&mut self, at: Option<&WarcPosition>) -> Option<Vec<u8>> {
        self.read(at, |_, content| content.to_vec())
    }

    fn read<T>(&mut self, at: Option<&WarcPosition>, with: impl FnOnce(&StoredExchange, &[u8]) -> T) -> Option<T> {
        let (archive, at) = (self.archive.as_ref()?, at?);
        let read = archive.exchange(at).ok().and_then(|stored| Some((decoded(&stored).ok()?, stored)));
        self.unreadable += u64::from(read.is_none());
        read.map(|(content, stored)| with(&stored, &content))
    }
}

impl<'a, 'c> PostgresLoad<'a, 'c> {
    /// An export within a transaction.
    pub(super) fn new(
        tx: Transaction<'a>,
        reader: &'c CatalogueReader,
        archive: Option<ArchiveReader>,
        watch: &'c mut ExportProgress<'c>,
    ) -> Self {
        let content = PageContents { archive, unreadable: 0 };
        Self { tx, reader, content, watch, rows: 0, counts: PostgresCounts::default() }
    }

    /// Runs statements without a result.
    pub(super) fn run(&mut self, sql: &str) -> Result<()> {
        self.tx.batch_execute(sql).map_err(failed("prepare tables"))
    }

    /// Which of these tables a schema has.
    pub(super) fn existing(&mut self, schema: &str, tables: &[&str]) -> Result<Vec<String>> {
        let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY($2)";
        let rows = self.tx.query(sql, &[&schema, &tables]).map_err(failed("look for tables"))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Fills a table (with its columns) from a walk over the catalogue; `each` adds the fields of
    /// any number of rows.
    pub(super) fn fill(
        &mut self,
        table: &str,
        walk: CatalogueWalk,
        mut each: impl FnMut(&[Cell<'_>], &mut Fields, &mut PageContents),
    ) -> Result<u64> {
        let (before, rows, watch) = (self.rows, &mut self.rows, &mut *self.watch);
        let mut writer = self.tx.copy_in(&format!("COPY {table} FROM STDIN")).map_err(failed("copy"))?;
        let content = &mut self.content;
        let mut fields = Fields::default();
        self.reader.each_row(walk, |cells| {
            each(cells, &mut fields, content);
            *rows += std::mem::take(&mut fields.rows);
            // The server's error is reported when the copy ends.
            writer.write_all(&fields.text).map_err(StoreError::Output)?;
            fields.text.clear();
            step(*rows, watch)
        })?;
        writer.finish().map_err(failed("copy"))?;
        let written = *rows - before;
        self.counts.tables.push((table.split(" (").next().unwrap_or(table).replace('"', ""), written));
        Ok(written)
    }

    /// Commits the transaction.
    pub(super) fn commit(self) -> Result<PostgresCounts> {
        self.tx.commit().map_err(failed("commit"))?;
        Ok(PostgresCounts { unreadable: self.content.unreadable, ..self.counts })
    }
}

/// The fields of rows in COPY format.
#[derive(Default)]
pub(super) struct Fields {
    text: Vec<u8>,
    begun: bool,
    rows: u64,
}

impl Fields {
    fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.text.push(b'\t');
        }
    }

    /// A field from a catalogue cell.
    pub(super) fn cell(&mut self, cell: &Cell<'_>) -> &mut Self {
        match cell {
            Cell::Null => self.null(),
            Cell::Integer(n) => self.plain(&n.to_string()),
            Cell::Real(x) => self.plain(&x.to_string()),
            Cell::Text(text) => self.words(text),
            Cell::Blob(bytes) => self.words(&String::from_utf8_lossy(bytes)),
        }
    }

    /// Fields from catalogue cells.
    pub(super) fn cells(&mut self, cells: &[Cell<'_>]) -> &mut Self {
        for cell in cells {
            self.cell(cell);
        }
        self
    }

    /// NULL.
    pub(super) fn null(&mut self) -> &mut Self {
        self.plain("\\N")
    }

    /// A field without characters to escape.
    pub(super) fn plain(&mut self, text: &str) -> &mut Self {
        self.begin();
        self.text.extend_from_slice(text.as_bytes());
        self
    }

    /// A text.
    pub(super) fn words(&mut self, text: &str) -> &mut Self {
        self.begin();
        for byte in text.bytes() {
            match byte {
                b'\\' => self.text.extend_from_slice(b"\\\\"),
                b'\t' => self.text.extend_from_slice(b"\\t"),
                b'\n' => self.text.extend_from_slice(b"\\n"),
                b'\r' => self.text.extend_from_slice(b"\\r"),
                0 => {}
                _ => self.text.push(byte),
            }
        }
        self
    }

    /// A text, or NULL.
    pub(super) fn maybe(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.words(text),
            None => self.null(),
        }
    }

    /// Bytes, or NULL.
    pub(super) fn bytes(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let Some(bytes) = bytes else { return self.null() };
        self.begin();
        self.text.extend_from_slice(b"\\\\x");
        self.text.extend(bytes.iter().flat_map(|b| [HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]));
        self
    }

    /// Ends the row.
    pub(super) fn end(&mut self) {
        self.text.push(b'\n');
        self.begun = false;
        self.rows += 1;
    }
}

/// The archive position of a row, from the cells that contain it.
pub(super) fn place(cells: &[Cell<'_>]) -> Option<WarcPosition> {
    let [Cell::Text(file), Cell::Integer(offset), Cell::Integer(length)] = cells else { return None };
    Some(WarcPosition { file: (*file).into(), offset: offset.cast_unsigned(), length: length.cast_unsigned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_its_field_or_row() {
        let mut fields = Fields::default();
        fields.words("a\tb\nc\\d\0\r").null().bytes(Some(&[0, 255])).cell(&Cell::Integer(-7)).end();
        assert_eq!(String::from_utf8(fields.text).unwrap(), "a\\tb\\nc\\\\d\\r\t\\N\t\\\\x00ff\t-7\n");
    }
}
