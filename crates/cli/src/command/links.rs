//! `orb links`: where a page points, and who points to it.

use super::{find_page, open_reader};
use crate::args::{Common, LinksArgs};
use crate::failure::Failure;
use crate::out;
use orb_page::PageId;
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &LinksArgs) -> Result<(), Failure> {
    let (_, reader) = open_reader(common, &args.page.project)?;
    let page = find_page(&reader, &args.page.project, &args.page.url)?;
    let (limit, offset) = (args.listing.limit.unwrap_or(u64::MAX), args.listing.offset);
    let id = PageId(page.id);
    let links =
        if args.backward { reader.links_in(id, limit, offset)? } else { reader.links_out(id, limit, offset)? };
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
