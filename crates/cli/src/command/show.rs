//! `orb show`: one page: record, versions, links.

use super::{find_page, open_reader};
use crate::args::{Common, PageArgs};
use crate::failure::Failure;
use crate::out;
use orb_crawl::structure::anchors_at_hand;
use orb_graph::{Merit, Ranks};
use orb_page::PageId;
use orb_store::{AnchorRow, LinkRow, PageRow, VisitRow};
use serde_json::json;
use std::io::Write;

/// Links shown without `--json`.
const SHOWN: u64 = 10;

/// Words of others shown.
const CALLED: u64 = 5;

pub(crate) fn run(common: &Common, args: &PageArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.project)?;
    let page = find_page(&reader, &args.project, &args.url)?;
    let id = PageId(page.id);
    let (visits, images) = (reader.visits(id)?, reader.images(id)?);
    let from = match page.discovered_from {
        Some(id) => reader.page(PageId(id))?.map(|p| p.url),
        None => None,
    };
    let anchors = anchors_at_hand(&reader, &project.graph(), id, CALLED)?;
    // A graph that is missing or damaged is told of by those who need one.
    let ranks = Ranks::open(&project.graph()).ok().flatten().and_then(|ranks| ranks.of(id).ok().flatten());
    let mut stdout = out::stdout();
    if common.json {
        let links = reader.links_out(id, u64::MAX, 0)?;
        let value = json!({"page": page, "discovered_from_url": from, "visits": visits, "ranks": ranks, "anchors": anchors,
            "links": links, "images": images});
        out::json(&mut stdout, &value)?;
    } else {
        print_page(&mut stdout, &page, from.as_deref())?;
        print_ranks(&mut stdout, ranks.as_ref())?;
        print_visits(&mut stdout, &visits)?;
        print_anchors(&mut stdout, &args.project, &page.url, anchors.as_deref())?;
        let links = reader.links_out(id, SHOWN + 1, 0)?;
        print_links(&mut stdout, &args.project, &page.url, &links)?;
        writeln!(stdout, "images   {}", images.len())?;
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
    }
    Ok(())
}

/// What others call it.
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
