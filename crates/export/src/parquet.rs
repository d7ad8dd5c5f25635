//! How is a table written as Apache Parquet?
//!
//! The format is columnar, so rows are buffered into row groups that are bounded both in rows and
//! in bytes: that bound is the memory of an export. Every column is nullable; times are
//! milliseconds in UTC; column pages are compressed with zstd.

use super::Sink;
use orb_page::Moment;
use orb_store::Cell;
use orb_store::{Holds, TableColumn};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// A row group is closed at this many rows, or bytes of text.
const GROUP_ROWS: usize = 100_000;
const GROUP_BYTES: usize = 32 << 20;

/// A table being written.
pub(super) struct Parquet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Gathered>,
    rows: usize,
    bytes: usize,
}

/// A column's values in the current row group, and which rows have one.
struct Gathered {
    holds: Holds,
    levels: Vec<i16>,
    integers: Vec<i64>,
    reals: Vec<f64>,
    texts: Vec<ByteArray>,
    truths: Vec<bool>,
}

impl<W: Write + Send> Parquet<W> {
    /// A file with one table.
    pub(super) fn new(out: W, name: &str, columns: &[TableColumn]) -> io::Result<Self> {
        let mut message = format!("message {name} {{\n");
        for (column, holds) in columns {
            let (kind, logical) = match holds {
                Holds::Integer => ("INT64", ""),
                Holds::Real => ("DOUBLE", ""),
                Holds::Text => ("BYTE_ARRAY", " (UTF8)"),
                Holds::Time => ("INT64", " (TIMESTAMP(MILLIS,true))"),
                Holds::Truth => ("BOOLEAN", ""),
            };
            let _ = writeln!(message, "OPTIONAL {kind} {column}{logical};");
        }
        let schema = parse_message_type(&(message + "}")).map_err(io::Error::other)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("orb ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer =
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(io::Error::other)?;
        let columns = columns.iter().map(|(_, holds)| Gathered::new(*holds)).collect();
        Ok(Self { writer, columns, rows: 0, bytes: 0 })
    }

    fn close_group(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(io::Error::other)?;
        for column in &mut self.columns {
            let next = group.next_column().map_err(io::Error::other)?;
            column.write(next.ok_or_else(|| io::Error::other("a column too many"))?)?;
        }
        group.close().map_err(io::Error::other)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

impl<W: Write + Send> Sink for Parquet<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            self.bytes += column.take(cell);
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES { self.close_group() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.close_group()?;
        let mut out = self.writer.into_inner().map_err(io::Error::other)?;
        out.flush()
    }
}

impl Gathered {
    fn new(holds: Holds) -> Self {
        let (integers, reals, texts, truths) = Default::default();
        Self { holds, levels: Vec::new(), integers, reals, texts, truths }
    }

    /// Adds a cell and returns its bytes of text. A value that does not fit the column becomes
    /// NULL.
    fn take(&mut self, cell: &Cell<'_>) -> usize {
        let mut bytes = 0;
        let taken = match (self.holds, cell) {
            (_, Cell::Null) => false,
            (Holds::Integer, Cell::Integer(n)) => push(&mut self.integers, *n),
            (Holds::Time, Cell::Text(text)) => Moment::parse(text).is_some_and(|at| push(&mut self.integers, at.0)),
            (Holds::Real, Cell::Real(x)) => push(&mut self.reals, *x),
            #[expect(clippy::cast_precision_loss, reason = "a column of fractions that holds a whole number")]
            (Holds::Real, Cell::Integer(n)) => push(&mut self.reals, *n as f64),
            (Holds::Truth, Cell::Integer(n)) => push(&mut self.truths, *n != 0),
            (Holds::Text, Cell::Text(text)) => {
                bytes = text.len();
                push(&mut self.texts, ByteArray::from(text.as_bytes().to_vec()))
            }
            (Holds::Text, Cell::Blob(blob)) => {
                let text = String::from_utf8_lossy(blob).into_owned();
                bytes = text.len();
                push(&mut self.texts, ByteArray::from(text.into_bytes()))
            }
            (Holds::Text, Cell::Integer(n)) => push(&mut self.texts, ByteArray::from(n.to_string().into_bytes())),
            _ => false,
        };
        self.levels.push(i16::from(taken));
        bytes
    }

    fn write(&mut self, mut to: SerializedColumnWriter<'_>) -> io::Result<()> {
        match self.holds {
            Holds::Integer | Holds::Time => fill::<Int64Type>(&mut to, &self.integers, &self.levels)?,
            Holds::Real => fill::<DoubleType>(&mut to, &self.reals, &self.levels)?,
            Holds::Text => fill::<ByteArrayType>(&mut to, &self.texts, &self.levels)?,
            Holds::Truth => fill::<BoolType>(&mut to, &self.truths, &self.levels)?,
        }
        to.close().map_err(io::Error::other)?;
        self.levels.clear();
        self.integers.clear();
        self.reals.clear();
        self.texts.clear();
        self.truths.clear();
        Ok(())
    }
}

fn push<T>(values: &mut Vec<T>, value: T) -> bool {
    values.push(value);
    true
}

fn fill<T: DataType>(to: &mut SerializedColumnWriter<'_>, values: &[T::T], levels: &[i16]) -> io::Result<()> {
    to.typed::<T>().write_batch(values, Some(levels), None).map(drop).map_err(io::Error::other)
}
