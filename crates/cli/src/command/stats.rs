//! `orb stats`: how large is a crawl, and what is in it?
//!
//! The rows of the table with which the gov.si crawl reported its results (sites, pages, kinds,
//! documents by type, images), and ours below them; one column for the seeds' own hosts, one for
//! everything.

use super::open;
use crate::args::{Common, ProjectArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::Column;
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &ProjectArgs) -> Result<(), CommandFailure> {
    let collection = open(common, args)?;
    let (project, stats) = (collection.project().clone(), orb_answers::stats(&collection)?);
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &stats)?;
        return Ok(stdout.flush()?);
    }
    let (seeds, whole) = (cells(&stats.counts.seeds), cells(&stats.counts.whole));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (name, value) in &whole {
        let seed = seeds.iter().find(|(n, _)| n == name).map_or("-", |(_, v)| v.as_str());
        rows.push(vec![name.clone(), seed.to_owned(), value.clone()]);
    }
    out::table(&mut stdout, &["measured", "seed hosts", "whole"], &rows)?;
    for host in &stats.aliases {
        writeln!(stdout, "\naliases of {}", host.host)?;
        for rule in &host.rules {
            let (withheld, tested) = (out::grouped(rule.withheld), out::grouped(rule.tested));
            let state = if rule.state == "believed" { "" } else { ", withdrawn" };
            writeln!(stdout, "  {}: {withheld} withheld, {tested} tested{state}", rule.rule)?;
        }
    }
    let called = orb_answers::intake(&project)?;
    if !called.sources.is_empty() {
        writeln!(stdout)?;
        super::intake::sources(&mut stdout, &called)?;
    }
    Ok(stdout.flush()?)
}

fn cells(c: &Column) -> Vec<(String, String)> {
    let n = out::grouped;
    let mut rows = vec![
        ("sites".to_owned(), n(c.sites)),
        ("web pages".to_owned(), n(c.pages)),
        ("HTML pages".to_owned(), n(c.html)),
        ("duplicates".to_owned(), n(c.duplicates)),
        ("binary files".to_owned(), n(c.binary)),
    ];
    if c.aliases > 0 {
        rows.insert(4, ("aliases not fetched".to_owned(), n(c.aliases)));
    }
    rows.extend(c.documents.iter().map(|(kind, count)| (format!("  {kind}"), n(*count))));
    rows.extend([
        ("images".to_owned(), n(c.images)),
        ("images per page".to_owned(), format!("{:.2}", c.images_per_page)),
        ("redirects".to_owned(), n(c.redirects)),
        ("disallowed".to_owned(), n(c.disallowed)),
    ]);
    rows.extend(c.errors.iter().map(|(kind, count)| (format!("errors: {kind}"), n(*count))));
    rows.push(("outside".to_owned(), n(c.outside)));
    rows.extend(c.traps.iter().map(|(trap, count)| (format!("  {trap}"), n(*count))));
    rows.extend([
        ("frontier".to_owned(), n(c.frontier)),
        ("links".to_owned(), n(c.links)),
        ("out-degree, mean".to_owned(), format!("{:.2}", c.out_degree.mean)),
        ("out-degree, highest".to_owned(), n(c.out_degree.max)),
        ("in-degree, mean".to_owned(), format!("{:.2}", c.in_degree.mean)),
        ("in-degree, highest".to_owned(), n(c.in_degree.max)),
        ("bytes".to_owned(), n(c.bytes)),
    ]);
    rows
}
