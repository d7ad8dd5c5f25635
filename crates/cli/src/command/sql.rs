//! `orb sql`: what does a read-only SQL query over the catalogue return?

use super::{ProjectPlace, find_facts};
use crate::args::{Common, RowFormat, SqlArgs};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use orb_answers::{Cell, Collection, QueryCaller, SqlQuery, TableNote, cell_text, cell_value};
use orb_crawl::SharedAddress;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::io::{self, Read as _, Write};
use std::ops::ControlFlow;

/// Rows buffered to determine column widths.
const TABLE_ROWS: usize = 1_000;

/// What answers the query: a project here, or the store of one.
enum SqlDesk {
    Here(Box<Collection>),
    There(Box<SharedAddress>),
}

pub(crate) fn run(common: &Common, args: &SqlArgs) -> Result<(), CommandFailure> {
    let desk = match find_facts(common, &args.of)? {
        ProjectPlace::Here(project) => SqlDesk::Here(Box::new(Collection::of(project)?)),
        ProjectPlace::There(at) => SqlDesk::There(at),
    };
    let format = if common.json { RowFormat::Json } else { args.format };
    let mut stdout = if matches!(format, RowFormat::Csv) { out::content() } else { out::stdout() };
    if args.schema {
        let tables = match &desk {
            SqlDesk::Here(collection) => orb_answers::schema(collection)?,
            SqlDesk::There(at) => orb_answers::shared_schema(at, &args.of.project)?,
        };
        schema(common, &tables, &mut stdout)?;
        return Ok(stdout.flush()?);
    }
    let mut query = args.sql.clone().unwrap_or_default();
    if query == "-" {
        query.clear();
        io::stdin().read_to_string(&mut query).context("cannot read the query from standard input")?;
    }
    let printer = RefCell::new(Printer::new(&mut stdout, format));
    let (time, rows, caller) = (args.timeout.0, args.listing.window(u64::MAX), QueryCaller::Owner);
    let query = SqlQuery { text: &query, time, caller, rows };
    let mut failed = None;
    let names = |names: &[&str]| printer.borrow_mut().names = names.iter().map(|n| (*n).to_owned()).collect();
    let each = |row: &[Cell<'_>]| match printer.borrow_mut().row(row) {
        Ok(()) => ControlFlow::Continue(()),
        Err(e) => {
            failed = Some(e);
            ControlFlow::Break(())
        }
    };
    match &desk {
        SqlDesk::Here(collection) => orb_answers::sql(collection, query, names, each)?,
        SqlDesk::There(at) => orb_answers::shared_sql((at, &args.of.project), query, names, each)?,
    };
    if let Some(error) = failed {
        return Err(error.into());
    }
    printer.into_inner().finish()?;
    Ok(stdout.flush()?)
}

fn schema(common: &Common, tables: &[TableNote], sink: &mut impl Write) -> Result<(), CommandFailure> {
    if common.json {
        return Ok(out::json(sink, &tables)?);
    }
    for (i, table) in tables.iter().enumerate() {
        let columns: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
        let width = columns.iter().map(|name| name.len()).max().unwrap_or(0);
        writeln!(sink, "{}{} ({})", if i == 0 { "" } else { "\n" }, table.table, columns.join(", "))?;
        writeln!(sink, "  {}", table.about)?;
        for column in &table.columns {
            writeln!(sink, "  {:<width$}  {}", column.name, column.about)?;
        }
    }
    Ok(())
}

/// Prints rows as they come.
struct Printer<'a, W: Write> {
    out: SqlOutput<'a, W>,
    names: Vec<String>,
    waiting: Vec<Vec<String>>,
    printed: u64,
}

/// Where rows go, and in which format.
enum SqlOutput<'a, W: Write> {
    Table(&'a mut W),
    Csv(Box<csv::Writer<&'a mut W>>),
    Json(&'a mut W),
}

impl<'a, W: Write> Printer<'a, W> {
    fn new(out: &'a mut W, format: RowFormat) -> Self {
        let out = match format {
            RowFormat::Table => SqlOutput::Table(out),
            RowFormat::Csv => SqlOutput::Csv(Box::new(csv::Writer::from_writer(out))),
            RowFormat::Json => SqlOutput::Json(out),
        };
        Self { out, names: Vec::new(), waiting: Vec::new(), printed: 0 }
    }

    fn row(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        match &mut self.out {
            SqlOutput::Table(out) => {
                self.waiting.push(row.iter().map(text).collect());
                if self.waiting.len() >= TABLE_ROWS {
                    flush_table(*out, &self.names, &mut self.waiting)?;
                }
            }
            SqlOutput::Csv(out) => {
                csv_head(out, &mut self.names)?;
                out.write_record(row.iter().map(cell_text))?;
            }
            SqlOutput::Json(out) => {
                out.write_all(if self.printed == 0 { b"[" } else { b",\n" })?;
                let object: Map<String, Value> = self.names.iter().cloned().zip(row.iter().map(cell_value)).collect();
                serde_json::to_writer(out, &object)?;
            }
        }
        self.printed += 1;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        match &mut self.out {
            SqlOutput::Table(out) if self.printed == 0 || !self.waiting.is_empty() => {
                flush_table(*out, &self.names, &mut self.waiting)
            }
            SqlOutput::Table(_) => Ok(()),
            SqlOutput::Csv(out) => {
                csv_head(out, &mut self.names)?;
                out.flush()
            }
            SqlOutput::Json(out) => writeln!(out, "{}", if self.printed == 0 { "[]" } else { "]" }),
        }
    }
}

/// Writes the names of the columns, once.
fn csv_head(out: &mut csv::Writer<impl Write>, names: &mut Vec<String>) -> io::Result<()> {
    match std::mem::take(names) {
        names if names.is_empty() => Ok(()),
        names => Ok(out.write_record(names)?),
    }
}

fn flush_table(out: &mut impl Write, names: &[String], waiting: &mut Vec<Vec<String>>) -> io::Result<()> {
    let heads: Vec<&str> = names.iter().map(String::as_str).collect();
    out::table(out, &heads, &std::mem::take(waiting))
}

/// A cell on one line.
fn text(cell: &Cell<'_>) -> String {
    cell_text(cell).replace(['\n', '\r', '\t'], " ")
}
