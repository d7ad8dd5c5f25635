//! `orb sql`: what does a read-only SQL query over the catalogue return?

use super::open;
use crate::args::{Common, RowFormat, SqlArgs};
use crate::failure::Failure;
use crate::out;
use anyhow::Context as _;
use orb_answers::{Cell, SqlQuery, TableNote, cell_text, cell_value};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::io::{self, Read as _, Write};
use std::ops::ControlFlow;

/// Rows buffered to determine column widths.
const TABLE_ROWS: usize = 1_000;

pub(crate) fn run(common: &Common, args: &SqlArgs) -> Result<(), Failure> {
    let collection = open(common, &args.project)?;
    let format = if common.json { RowFormat::Json } else { args.format };
    let mut stdout = if matches!(format, RowFormat::Csv) { out::content() } else { out::stdout() };
    if args.schema {
        schema(common, &orb_answers::schema(&collection)?, &mut stdout)?;
        return Ok(stdout.flush()?);
    }
    let mut query = args.sql.clone().unwrap_or_default();
    if query == "-" {
        query.clear();
        io::stdin().read_to_string(&mut query).context("cannot read the query from standard input")?;
    }
    let printer =
        RefCell::new(Printer { out: &mut stdout, format, names: Vec::new(), waiting: Vec::new(), printed: 0 });
    let query = SqlQuery { text: &query, time: args.timeout.0, rows: args.listing.window(u64::MAX) };
    let mut failed = None;
    let names = |names: &[&str]| printer.borrow_mut().names = names.iter().map(|n| (*n).to_owned()).collect();
    let each = |row: &[Cell<'_>]| match printer.borrow_mut().row(row) {
        Ok(()) => ControlFlow::Continue(()),
        Err(e) => {
            failed = Some(e);
            ControlFlow::Break(())
        }
    };
    orb_answers::sql(&collection, query, names, each)?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    printer.into_inner().finish()?;
    Ok(stdout.flush()?)
}

fn schema(common: &Common, tables: &[TableNote], sink: &mut impl Write) -> Result<(), Failure> {
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
    out: &'a mut W,
    format: RowFormat,
    names: Vec<String>,
    waiting: Vec<Vec<String>>,
    printed: u64,
}

impl<W: Write> Printer<'_, W> {
    fn row(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
        match self.format {
            RowFormat::Table => {
                self.waiting.push(row.iter().map(text).collect());
                if self.waiting.len() >= TABLE_ROWS {
                    self.flush_table()?;
                }
            }
            RowFormat::Csv => {
                self.csv_head()?;
                let cells: Vec<String> = row.iter().map(|c| quoted(&cell_text(c))).collect();
                writeln!(self.out, "{}", cells.join(","))?;
            }
            RowFormat::Json => {
                self.out.write_all(if self.printed == 0 { b"[" } else { b",\n" })?;
                let object: Map<String, Value> = self.names.iter().cloned().zip(row.iter().map(cell_value)).collect();
                serde_json::to_writer(&mut self.out, &object)?;
            }
        }
        self.printed += 1;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        match self.format {
            RowFormat::Table if self.printed == 0 || !self.waiting.is_empty() => self.flush_table(),
            RowFormat::Table => Ok(()),
            RowFormat::Csv => self.csv_head(),
            RowFormat::Json => writeln!(self.out, "{}", if self.printed == 0 { "[]" } else { "]" }),
        }
    }

    fn csv_head(&mut self) -> io::Result<()> {
        let names = std::mem::take(&mut self.names);
        if names.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "{}", names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(","))
    }

    fn flush_table(&mut self) -> io::Result<()> {
        let heads: Vec<&str> = self.names.iter().map(String::as_str).collect();
        out::table(self.out, &heads, &std::mem::take(&mut self.waiting))
    }
}

/// A cell on one line.
fn text(cell: &Cell<'_>) -> String {
    cell_text(cell).replace(['\n', '\r', '\t'], " ")
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
