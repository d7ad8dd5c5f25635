//! `orb links`: where does a page link, who links to it and with which anchor text, and how have
//! links changed since a run?

use super::{open, tell};
use crate::args::{Common, LinksArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::{
    AnchorRow, Collection, LinkChange, LinkChangeRow, LinkFilter, LinkRow, LinkValues, Window, link_history,
    link_texts, links_in, links_out, links_since,
};
use orb_page::RunId;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Rows buffered to determine column widths.
const TABLE_ROWS: usize = 1_000;

pub(crate) fn run(common: &Common, args: &LinksArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.of)?;
    let rows = args.listing.window(u64::MAX);
    match (&args.url, args.since) {
        (_, Some(run)) => changes(common, args, &collection, RunId(run)),
        (Some(url), None) if args.history => history(common, &link_history(&collection, url, rows)?),
        (Some(url), None) if args.anchors => anchors(common, &collection, url, rows),
        (Some(url), None) => links(common, args, &collection, url),
        (None, None) => Err(CommandFailure::Usage("name a page, or a run with --since".to_owned())),
    }
}

fn links(common: &Common, args: &LinksArgs, collection: &Collection, url: &str) -> Result<(), CommandFailure> {
    let rows = args.listing.window(u64::MAX);
    let links = if args.backward {
        let found = links_in(collection, url, rows)?;
        tell(common, found.note.as_ref());
        found.links
    } else {
        links_out(collection, url, rows)?
    };
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &links)?;
        return Ok(stdout.flush()?);
    }
    let rows: Vec<Vec<String>> = links
        .iter()
        .map(|l| vec![l.kind.clone(), l.count.to_string(), l.url.clone(), l.rel.clone(), out::clip(&l.anchor, 80)])
        .collect();
    out::table(&mut stdout, &["kind", "count", "url", "rel", "anchor"], &rows)?;
    Ok(stdout.flush()?)
}

fn anchors(common: &Common, collection: &Collection, url: &str, rows: Window) -> Result<(), CommandFailure> {
    let called = link_texts(collection, url, rows)?;
    tell(common, called.note.as_ref());
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &called.anchors)?;
        return Ok(stdout.flush()?);
    }
    let row =
        |a: &AnchorRow| vec![a.count.to_string(), a.sources.to_string(), out::clip(&a.anchor, 80), a.example.clone()];
    let rows: Vec<Vec<String>> = called.anchors.iter().map(row).collect();
    out::table(&mut stdout, &["count", "pages", "anchor", "such as"], &rows)?;
    Ok(stdout.flush()?)
}

fn history(common: &Common, rows: &[LinkRow]) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &rows)?;
        return Ok(stdout.flush()?);
    }
    let row = |l: &LinkRow| {
        let last = l.last_run.map_or_else(|| "now".to_owned(), |run| run.to_string());
        let (first, count) = (l.first_run.to_string(), l.count.to_string());
        vec![first, last, l.kind.clone(), count, l.url.clone(), l.rel.clone(), out::clip(&l.anchor, 80)]
    };
    let heads = ["first run", "last run", "kind", "count", "url", "rel", "anchor"];
    out::table(&mut stdout, &heads, &rows.iter().map(row).collect::<Vec<_>>())?;
    Ok(stdout.flush()?)
}

fn changes(common: &Common, args: &LinksArgs, collection: &Collection, since: RunId) -> Result<(), CommandFailure> {
    let filter = LinkFilter { new: args.new, lost: args.lost, changed: args.changed };
    let mut printer = LinkChangePrinter { sink: out::stdout(), json: common.json, printed: 0, waiting: Vec::new() };
    let mut failed = None;
    let rows = args.listing.window(u64::MAX);
    links_since(collection, (since, args.url.as_deref()), filter, rows, |row| match printer.row(row) {
        Ok(()) => ControlFlow::Continue(()),
        Err(e) => {
            failed = Some(e);
            ControlFlow::Break(())
        }
    })?;
    match failed {
        Some(e) => Err(e.into()),
        None => Ok(printer.finish()?),
    }
}

/// Prints changes as they come.
struct LinkChangePrinter<W: Write> {
    sink: W,
    json: bool,
    printed: u64,
    waiting: Vec<Vec<String>>,
}

impl<W: Write> LinkChangePrinter<W> {
    fn row(&mut self, row: &LinkChangeRow) -> io::Result<()> {
        if self.json {
            self.sink.write_all(if self.printed == 0 { b"[" } else { b",\n" })?;
            serde_json::to_writer(&mut self.sink, row)?;
        } else {
            self.waiting.push(cells(row));
            if self.waiting.len() >= TABLE_ROWS {
                self.flush_table()?;
            }
        }
        self.printed += 1;
        Ok(())
    }

    fn flush_table(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        out::table(&mut self.sink, &["change", "page", "kind", "url", "what it says"], &rows)
    }

    fn finish(mut self) -> io::Result<()> {
        if self.json {
            writeln!(self.sink, "{}", if self.printed == 0 { "[]" } else { "]" })?;
        } else if self.printed == 0 || !self.waiting.is_empty() {
            self.flush_table()?;
        }
        self.sink.flush()
    }
}

fn cells(row: &LinkChangeRow) -> Vec<String> {
    let (change, values) = match row.change {
        LinkChange::New => ("new", said(row.now.as_ref())),
        LinkChange::Lost => ("lost", said(row.before.as_ref())),
        LinkChange::Changed => ("changed", format!("{} → {}", said(row.before.as_ref()), said(row.now.as_ref()))),
    };
    vec![change.to_owned(), row.src_url.clone(), row.kind.to_owned(), row.url.clone(), values]
}

/// Anchor text, rel and count of a link, as far as they are informative.
fn said(values: Option<&LinkValues>) -> String {
    let Some(v) = values else { return String::new() };
    let rel = if v.rel.is_empty() { String::new() } else { format!(" [{}]", v.rel) };
    let count = if v.count == 1 { String::new() } else { format!(" ×{}", v.count) };
    format!("'{}'{rel}{count}", out::clip(&v.anchor, 60))
}
