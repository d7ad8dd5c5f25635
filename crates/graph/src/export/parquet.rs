//! How is a graph written as Parquet?
//!
//! As columns for data frames. The requested file holds the arcs with the numbers and URLs of both
//! ends; a second file beside it, `<name>.nodes.parquet`, holds the vertices with their ranks. Each
//! row group has 131,072 rows.

use super::vertex::{FACTS, Fact, Vertex};
use super::{ArcEnd, GraphSink};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows per row group.
const GROUP: usize = 1 << 17;

const ARCS: &str = "message arcs {
  required int64 src; required int64 dst; required binary src_url (UTF8); required binary dst_url (UTF8); }";

/// The vertex file that belongs to an arc file.
pub(super) fn nodes_path(path: &Path) -> PathBuf {
    path.with_extension("nodes.parquet")
}

pub(super) struct ParquetSink<W: Write + Send> {
    arcs: SerializedFileWriter<W>,
    nodes: SerializedFileWriter<W>,
    ends: [Vec<i64>; 2],
    names: [Vec<ByteArray>; 2],
    numbers: Vec<i64>,
    facts: [Values; FACTS.len()],
}

/// The values of a column, and which are null.
enum Values {
    Text(Vec<ByteArray>, Vec<i16>),
    Real(Vec<f64>, Vec<i16>),
    Whole(Vec<i64>, Vec<i16>),
}

impl Values {
    fn new(kind: &str) -> Self {
        match kind {
            "double" => Self::Real(Vec::new(), Vec::new()),
            "long" => Self::Whole(Vec::new(), Vec::new()),
            _ => Self::Text(Vec::new(), Vec::new()),
        }
    }

    fn push(&mut self, fact: Option<Fact<'_>>) {
        let there = i16::from(fact.is_some());
        match (self, fact) {
            (Self::Text(values, levels), fact) => {
                levels.push(there);
                if let Some(Fact::Text(text)) = fact {
                    values.push(text.as_bytes().to_vec().into());
                }
            }
            (Self::Real(values, levels), fact) => {
                levels.push(there);
                if let Some(Fact::Real(x)) = fact {
                    values.push(x);
                }
            }
            (Self::Whole(values, levels), fact) => {
                levels.push(there);
                if let Some(Fact::Whole(n)) = fact {
                    values.push(i64::from(n));
                }
            }
        }
    }

    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        match self {
            Self::Text(values, levels) => column::<ByteArrayType, W>(group, values, Some(levels)),
            Self::Real(values, levels) => column::<DoubleType, W>(group, values, Some(levels)),
            Self::Whole(values, levels) => column::<Int64Type, W>(group, values, Some(levels)),
        }
    }
}

/// Writes a column and clears it.
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    levels: Option<&mut Vec<i16>>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the file has too few columns".to_owned()));
    };
    column.typed::<T>().write_batch(values, levels.as_ref().map(|levels| levels.as_slice()), None)?;
    values.clear();
    if let Some(levels) = levels {
        levels.clear();
    }
    column.close()
}

impl<W: Write + Send> ParquetSink<W> {
    pub(super) fn begin(arcs: W, nodes: W) -> io::Result<Self> {
        let mut schema = "message nodes { required int64 id;".to_owned();
        for (name, kind) in FACTS {
            schema += &match kind {
                "double" => format!(" optional double {name};"),
                "long" => format!(" optional int64 {name};"),
                _ => format!(" optional binary {name} (UTF8);"),
            };
        }
        schema += " }";
        Ok(Self {
            arcs: begun(arcs, ARCS)?,
            nodes: begun(nodes, &schema)?,
            ends: Default::default(),
            names: Default::default(),
            numbers: Vec::new(),
            facts: FACTS.map(|(_, kind)| Values::new(kind)),
        })
    }

    fn flush_nodes(&mut self) -> Result<(), ParquetError> {
        if self.numbers.is_empty() {
            return Ok(());
        }
        let mut group = self.nodes.next_row_group()?;
        column::<Int64Type, W>(&mut group, &mut self.numbers, None)?;
        self.facts.iter_mut().try_for_each(|values| values.write(&mut group))?;
        group.close().map(|_| ())
    }

    fn flush_arcs(&mut self) -> Result<(), ParquetError> {
        if self.ends[0].is_empty() {
            return Ok(());
        }
        let mut group = self.arcs.next_row_group()?;
        self.ends.iter_mut().try_for_each(|ends| column::<Int64Type, W>(&mut group, ends, None))?;
        self.names.iter_mut().try_for_each(|names| column::<ByteArrayType, W>(&mut group, names, None))?;
        group.close().map(|_| ())
    }
}

fn begun<W: Write + Send>(out: W, schema: &str) -> io::Result<SerializedFileWriter<W>> {
    let level = ZstdLevel::try_new(3).map_err(io::Error::other)?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
    let schema = parse_message_type(schema).map_err(io::Error::other)?;
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(io::Error::other)
}

impl<W: Write + Send> GraphSink for ParquetSink<W> {
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()> {
        self.numbers.push(vertex.number.cast_signed());
        self.facts.iter_mut().zip(vertex.facts()).for_each(|(values, fact)| values.push(fact));
        if self.numbers.len() >= GROUP { self.flush_nodes().map_err(io::Error::other) } else { Ok(()) }
    }

    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()> {
        for (place, end) in [from, to].into_iter().enumerate() {
            self.ends[place].push(end.number.cast_signed());
            self.names[place].push(end.name.as_bytes().to_vec().into());
        }
        if self.ends[0].len() >= GROUP { self.flush_arcs().map_err(io::Error::other) } else { Ok(()) }
    }

    fn names_ends(&self) -> bool {
        true
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush_nodes().and_then(|()| self.flush_arcs()).map_err(io::Error::other)?;
        let Self { arcs, nodes, .. } = *self;
        nodes.close().and_then(|_| arcs.close()).map(|_| ()).map_err(io::Error::other)
    }
}
