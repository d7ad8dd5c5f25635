//! `orb show`: what is known about one page: record, versions, links?

use super::open;
use crate::args::{Common, PageArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::{AnchorRow, DocumentProperties, LinkRow, Merit, PageRow, VisitRow};
use std::io::Write;

/// Number of links shown without `--json`.
const SHOWN: u64 = 10;

pub(crate) fn run(common: &Common, args: &PageArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.of)?;
    let links = if common.json { u64::MAX } else { SHOWN + 1 };
    let shown = orb_answers::show(&collection, &args.url, links)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &shown)?;
        return Ok(stdout.flush()?);
    }
    let page = &shown.page;
    print_page(&mut stdout, page, shown.discovered_from_url.as_deref())?;
    if let Some(document) = &shown.document {
        print_document(&mut stdout, document)?;
    }
    if let Some(alias) = &shown.alias {
        let tested = if alias.tested { "; fetched to test it" } else { "" };
        writeln!(stdout, "alias of {} ({}{tested})", alias.url, alias.rule)?;
    }
    print_ranks(&mut stdout, shown.ranks.as_ref())?;
    print_visits(&mut stdout, &shown.visits)?;
    print_anchors(&mut stdout, &args.of.project, &page.url, shown.anchors.as_deref())?;
    print_links(&mut stdout, &args.of.project, &page.url, &shown.links)?;
    writeln!(stdout, "images   {}", shown.images.len())?;
    if let Some(size) = shown.screenshot {
        let (size, project, url) = (out::bytes(size), &args.of.project, &page.url);
        writeln!(stdout, "picture  {size}; orb cat {project} '{url}' --as picture > page.jpg")?;
    }
    Ok(stdout.flush()?)
}

fn print_page(sink: &mut impl Write, p: &PageRow, from: Option<&str>) -> std::io::Result<()> {
    writeln!(sink, "{}", p.url)?;
    let text = |v: &Option<String>| v.clone();
    let rows: [(&str, Option<String>); 16] = [
        ("id", Some(p.id.to_string())),
        ("kind", Some(p.kind.clone())),
        ("why", text(&p.why)),
        ("status", p.status.map(|s| s.to_string())),
        ("problem", text(&p.problem)),
        ("title", text(&p.title)),
        ("type", p.mime.as_ref().map(|m| format!("{m} {}", p.charset.clone().unwrap_or_default()).trim().to_owned())),
        ("language", text(&p.lang)),
        ("length", p.length.filter(|_| p.status.is_some()).map(out::grouped)),
        ("sha256", text(&p.digest)),
        ("same as", p.duplicate_of.map(|d| format!("page {d}"))),
        ("depth", Some(p.depth.to_string())),
        ("found", Some(format!("{} by {}", p.discovered_at, p.discovered_by.clone().unwrap_or_default()))),
        ("found on", from.map(str::to_owned).or_else(|| p.seed.then(|| "a seed".to_owned()))),
        ("fetched", p.fetched_at.as_ref().map(|at| format!("{at} by {}", p.fetched_by.clone().unwrap_or_default()))),
        ("due", text(&p.next_due)),
    ];
    for (name, value) in rows {
        if let Some(value) = value {
            writeln!(sink, "{name:<9}{value}")?;
        }
    }
    Ok(())
}

/// Prints what a document says about itself; its title is the page's.
fn print_document(sink: &mut impl Write, document: &DocumentProperties) -> std::io::Result<()> {
    let size = document.width.zip(document.height).map(|(width, height)| format!("{width} × {height} pixels"));
    let rows = [
        ("author", document.author.clone()),
        ("created", document.created.clone()),
        ("modified", document.modified.clone()),
        ("pages", document.pages.map(|pages| out::grouped(pages.into()))),
        ("size", size),
    ];
    for (name, value) in rows {
        if let Some(value) = value {
            writeln!(sink, "{name:<9}{}", out::clip(&value, 200))?;
        }
    }
    Ok(())
}

fn print_ranks(sink: &mut impl Write, ranks: Option<&Merit>) -> std::io::Result<()> {
    let Some(m) = ranks else { return Ok(()) };
    let n = |n: u32| out::grouped(n.into());
    writeln!(
        sink,
        "pagerank {:.7}, hub {:.7}, authority {:.7}, harmonic {:.1}",
        m.pagerank, m.hub, m.authority, m.harmonic
    )?;
    writeln!(sink, "degrees  {} in, {} out", n(m.indegree), n(m.outdegree))?;
    writeln!(sink, "bow-tie  {}, component {}", m.bowtie.name(), m.component)
}

fn print_visits(sink: &mut impl Write, visits: &[VisitRow]) -> std::io::Result<()> {
    for v in visits {
        let status = v.status.map_or_else(|| "-".to_owned(), |s| s.to_string());
        let place = match (&v.warc_file, v.warc_offset) {
            (Some(file), Some(offset)) => format!("{file}:{offset}"),
            _ => "not archived".to_owned(),
        };
        writeln!(sink, "run {:<5}{} {} {} {} bytes  {place}", v.run, v.at, v.flag, status, v.length)?;
        if let Some(around) = &v.around {
            writeln!(sink, "         {}", out::clip(around, 200))?;
        }
    }
    Ok(())
}

/// Prints its anchor texts.
fn print_anchors(
    sink: &mut impl Write,
    project: &str,
    url: &str,
    anchors: Option<&[AnchorRow]>,
) -> std::io::Result<()> {
    match anchors {
        Some([]) => Ok(()),
        Some(anchors) => {
            let words = anchors.iter().map(|a| format!("'{}' ({})", out::clip(&a.anchor, 60), a.count));
            writeln!(sink, "called   {}", words.collect::<Vec<_>>().join(", "))
        }
        None => writeln!(sink, "called   orb links {project} '{url}' --in --anchors tells"),
    }
}

fn print_links(sink: &mut impl Write, project: &str, url: &str, links: &[LinkRow]) -> std::io::Result<()> {
    writeln!(sink, "links")?;
    for l in links.iter().take(usize::try_from(SHOWN).unwrap_or(usize::MAX)) {
        writeln!(sink, "  {:<8} {}  {}", l.kind, l.url, out::clip(&l.anchor, 60))?;
    }
    if links.len() as u64 > SHOWN {
        writeln!(sink, "  … orb links {project} '{url}' --out lists them all")?;
    }
    Ok(())
}
