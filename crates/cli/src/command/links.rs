//! `orb links`: where a page points, who points to it and with which words, and what became of links since a run.

use super::{find_page, open_reader};
use crate::args::{Common, LinksArgs};
use crate::failure::{Failure, complain};
use crate::out;
use anyhow::anyhow;
use orb_crawl::structure::links_in;
use orb_page::{PageId, RunId};
use orb_store::{CatalogueReader, LinkChange, LinkChangeRow, LinkRow, LinkValues};
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Rows gathered before their columns' widths are settled.
const TABLE_ROWS: usize = 1_000;

pub(crate) fn run(common: &Common, args: &LinksArgs) -> Result<(), Failure> {
    let (_, reader) = open_reader(common, &args.project)?;
    let page = match &args.url {
        Some(url) => Some(PageId(find_page(&reader, &args.project, url)?.id)),
        None => None,
    };
    match (page, args.since) {
        (page, Some(run)) => changes(common, args, &reader, RunId(run), page),
        (Some(page), None) if args.history => history(common, args, &reader, page),
        (Some(page), None) if args.anchors => anchors(common, args, &reader, page),
        (Some(page), None) => links(common, args, &reader, page),
        (None, None) => Err(Failure::Usage("say which page's links, or --since which run".to_owned())),
    }
}

fn links(common: &Common, args: &LinksArgs, reader: &CatalogueReader, id: PageId) -> Result<(), Failure> {
    let (limit, offset) = (args.listing.limit.unwrap_or(u64::MAX), args.listing.offset);
    let links = if args.backward {
        let found = links_in(reader, &reader.path().with_file_name("graph"), id, (limit, offset))?;
        if let Some(note) = found.note.filter(|_| !common.quiet) {
            complain(&note);
        }
        found.links
    } else {
        reader.links_out(id, limit, offset)?
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

fn anchors(common: &Common, args: &LinksArgs, reader: &CatalogueReader, id: PageId) -> Result<(), Failure> {
    let (limit, offset) = (args.listing.limit.unwrap_or(u64::MAX), args.listing.offset);
    let graph = reader.path().with_file_name("graph");
    let called = orb_crawl::structure::anchors(reader, &graph, id, limit.saturating_add(offset))?;
    if let Some(note) = called.note.filter(|_| !common.quiet) {
        complain(&note);
    }
    let mut anchors = called.anchors;
    anchors.drain(..anchors.len().min(usize::try_from(offset).unwrap_or(usize::MAX)));
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &anchors)?;
        return Ok(stdout.flush()?);
    }
    let row = |a: &orb_store::AnchorRow| {
        vec![a.count.to_string(), a.sources.to_string(), out::clip(&a.anchor, 80), a.example.clone()]
    };
    let rows: Vec<Vec<String>> = anchors.iter().map(row).collect();
    out::table(&mut stdout, &["count", "pages", "anchor", "such as"], &rows)?;
    Ok(stdout.flush()?)
}

fn history(common: &Common, args: &LinksArgs, reader: &CatalogueReader, id: PageId) -> Result<(), Failure> {
    let within = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let rows = reader.link_history(id)?;
    let rows = rows.into_iter().skip(within(args.listing.offset)).take(args.listing.limit.map_or(usize::MAX, within));
    let rows: Vec<LinkRow> = rows.collect();
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

fn changes(
    common: &Common,
    args: &LinksArgs,
    reader: &CatalogueReader,
    since: RunId,
    page: Option<PageId>,
) -> Result<(), Failure> {
    if reader.run(since)?.is_none() {
        return Err(anyhow!(
            "project {} has no run {}; orb sql … \"SELECT * FROM run\" lists them",
            args.project,
            since.0
        )
        .into());
    }
    let all = !(args.new || args.lost || args.changed);
    let wanted = |change| match change {
        LinkChange::New => all || args.new,
        LinkChange::Lost => all || args.lost,
        LinkChange::Changed => all || args.changed,
    };
    let mut printer = Changes { sink: out::stdout(), json: common.json, printed: 0, waiting: Vec::new() };
    let (mut skip, mut left) = (args.listing.offset, args.listing.limit.unwrap_or(u64::MAX));
    let mut failed = None;
    reader.link_changes(since, page, |row| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        if !wanted(row.change) {
            return ControlFlow::Continue(());
        }
        if skip > 0 {
            skip -= 1;
            return ControlFlow::Continue(());
        }
        left -= 1;
        match printer.row(&row) {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                failed = Some(e);
                ControlFlow::Break(())
            }
        }
    })?;
    match failed {
        Some(e) => Err(e.into()),
        None => Ok(printer.finish()?),
    }
}

/// Prints changes as they come.
struct Changes<W: Write> {
    sink: W,
    json: bool,
    printed: u64,
    waiting: Vec<Vec<String>>,
}

impl<W: Write> Changes<W> {
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

/// Words, rel and count of a link, as far as they say anything.
fn said(values: Option<&LinkValues>) -> String {
    let Some(v) = values else { return String::new() };
    let rel = if v.rel.is_empty() { String::new() } else { format!(" [{}]", v.rel) };
    let count = if v.count == 1 { String::new() } else { format!(" ×{}", v.count) };
    format!("'{}'{rel}{count}", out::clip(&v.anchor, 60))
}
