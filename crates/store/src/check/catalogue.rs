//! Does the catalogue contradict itself?

use super::CheckReport;
use crate::error::Result;
use crate::sqlite::CatalogueReader;

/// Each query counts rows that must not exist. Numbers of a shared project are drawn in blocks and
/// have gaps, also in its copies.
const RULES: &[(&str, &str)] = &[
    (
        "page numbers are not dense",
        "SELECT abs(count(*) - coalesce(max(id), 0)) FROM page_row WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'copied')",
    ),
    (
        "host numbers are not dense",
        "SELECT abs(count(*) - coalesce(max(id), 0)) FROM host_row WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'copied')",
    ),
    (
        "pages belong to no host",
        "SELECT count(*) FROM page_row WHERE host < 1 OR host > (SELECT coalesce(max(id), 0) FROM host_row)",
    ),
    (
        "pages were discovered on pages that are not there",
        "SELECT count(*) FROM page_row WHERE origin < 0 OR origin > (SELECT max(id) FROM page_row)",
    ),
    (
        "visits belong to no page",
        "SELECT count(*) FROM visit_row WHERE page < 1 OR page > (SELECT coalesce(max(id), 0) FROM page_row)",
    ),
    ("visits belong to no run", "SELECT count(*) FROM visit_row WHERE run NOT IN (SELECT id FROM run_row)"),
    (
        "visits name archive files that are not listed",
        "SELECT count(*) FROM visit_row WHERE warc NOTNULL AND warc NOT IN (SELECT id FROM warc_row)",
    ),
    (
        "duplicates repeat pages that are not there",
        "SELECT count(*) FROM visit_row WHERE duplicate_of < 1 OR duplicate_of > (SELECT max(id) FROM page_row)",
    ),
    (
        "aliases name pages that are not there",
        "SELECT count(*) FROM alias_row, (SELECT coalesce(max(id), 0) AS last FROM page_row)
         WHERE page < 1 OR page > last OR target < 1 OR target > last OR page = target",
    ),
    (
        "addresses are withheld and no aliases, or aliases and not withheld",
        "SELECT (SELECT count(*) FROM page_row p WHERE p.kind = 3
           AND NOT EXISTS (SELECT 1 FROM alias_row a WHERE a.host = p.host AND a.page = p.id AND a.tested = 0))
         + (SELECT count(*) FROM alias_row a JOIN page_row p ON p.id = a.page WHERE a.tested = 0 AND (p.kind <> 3 OR p.host <> a.host))",
    ),
    (
        "links begin or end at pages that are not there",
        "SELECT count(*) FROM link_row, (SELECT coalesce(max(id), 0) AS last FROM page_row)
         WHERE dst < 1 OR dst > last OR source NOT IN (SELECT id FROM source_row)",
    ),
    (
        "links belong to no visit",
        "SELECT count(*) FROM source_row s
         WHERE 1 <> (SELECT count(*) FROM visit_row v WHERE v.page = s.page AND v.source = s.id)",
    ),
    (
        "pages are counted for no host",
        "SELECT count(*) FROM tally_row WHERE host < 1 OR host > (SELECT coalesce(max(id), 0) FROM host_row)",
    ),
    ("links end before they begin", "SELECT count(*) FROM link_row WHERE last_run < first_run"),
    (
        "what links said begins or ends at pages that are not there",
        "SELECT count(*) FROM past_row, (SELECT coalesce(max(id), 0) AS last FROM page_row)
         WHERE dst < 1 OR dst > last OR last_run < first_run OR source NOT IN (SELECT id FROM source_row)",
    ),
    (
        "pictures belong to no page",
        "SELECT count(*) FROM image_row WHERE page < 1 OR page > (SELECT coalesce(max(id), 0) FROM page_row)",
    ),
    (
        "robots.txt belong to no host",
        "SELECT count(*) FROM robots_row WHERE host < 1 OR host > (SELECT coalesce(max(id), 0) FROM host_row)",
    ),
];

pub(super) fn check(reader: &CatalogueReader, report: &mut CheckReport) -> Result<()> {
    for problem in reader.integrity()? {
        report.find("catalogue", format!("crawl.db is damaged: {problem}"));
    }
    if !report.is_clean() {
        return Ok(());
    }
    for (what, sql) in RULES {
        match reader.count(sql)? {
            0 => {}
            n => report.find("catalogue", format!("{what}: {n}")),
        }
    }
    report.counts.pages = reader.count("SELECT count(*) FROM page_row")?;
    report.counts.visits = reader.count("SELECT count(*) FROM visit_row")?;
    report.counts.links = reader.count("SELECT count(*) FROM link_row")?;
    Ok(())
}
