//! How is each kind of problem found?
//!
//! What a page's own latest visit tells is found by reading the visits in the order they were
//! written and looking only at those that match; what links tell, by reading the links in the same
//! order against a set of targets that is put together first. Either is one pass. There is no index
//! by target, which every page that is crawled would pay for, so a pass over the links is what the
//! kinds `broken_link`, `disallowed_link`, `canonical_elsewhere` and `orphan` cost, and
//! `mixed_content` where pages came by https.
//!
//! `since` is the run since which it is so: the first of the latest visits in a row that agree
//! (visits that failed for the moment are passed over), for a link also the run that first saw it.

use super::super::schema::{DOCUMENTS, case, name};
use orb_page::{Flag, LinkKind, PageKind};

/// Whether visit `v` is its page's latest.
const IS_LATEST: &str = "NOT EXISTS (SELECT 1 FROM visit_row w WHERE w.page = v.page AND w.run > v.run)";

/// Redirects that are followed to find the end of a chain; browsers give up after twenty.
const MOST_HOPS: u32 = 50;

/// Links from the nearest seed from which on a page is deep.
const DEEP: u32 = 6;

/// Milliseconds from which on a page is slow.
const SLOW_MS: u32 = 2_000;

/// Bytes from which on an HTML page is large.
const LARGE: u32 = 1_000_000;

/// Names and definitions of the views.
pub(in crate::sqlite) fn definitions() -> Vec<(&'static str, String)> {
    vec![
        ("broken_link", broken_link()),
        ("redirect_loop", redirect_loop()),
        ("mixed_content", mixed_content()),
        ("redirect_chain", redirect_chain()),
        ("missing_title", latest("", |v| format!("{v}.kind = {HTML} AND coalesce({v}.title, '') = ''"))),
        ("equal_title", equal_title()),
        ("duplicate", duplicate()),
        ("missing_alt", missing_alt()),
        ("slow_page", latest("v.elapsed_ms, v.status, ", |v| format!("{v}.elapsed_ms >= {SLOW_MS}"))),
        ("large_page", latest("v.length, ", |v| format!("{v}.kind = {HTML} AND {v}.length >= {LARGE}"))),
        ("orphan", orphan()),
        ("trap", trap()),
        ("near_duplicate", near_duplicate()),
        ("canonical_elsewhere", canonical_elsewhere()),
        ("disallowed_link", disallowed_link()),
        ("deep_page", deep_page()),
    ]
}

const HTML: u8 = PageKind::Html.code();

/// Pages whose latest visit satisfies a condition, with some more columns of it.
fn latest(columns: &str, holds: impl Fn(&str) -> String) -> String {
    format!(
        "SELECT p.url, {columns}p.id AS page_id, {since} AS since
         FROM visit_row v CROSS JOIN page_row p ON p.id = v.page WHERE {here} AND p.kind = 0 AND {IS_LATEST}",
        since = since(&holds("x")),
        here = holds("v"),
    )
}

/// The first of the latest visits of page `v.page` that all satisfy a condition on visit `x`.
fn since(holds: &str) -> String {
    let error = Flag::Error.code();
    format!(
        "(SELECT min(w.run) FROM visit_row w WHERE w.page = v.page AND w.run > coalesce((SELECT max(x.run) FROM visit_row x
           WHERE x.page = v.page AND x.run < v.run AND x.flag <> {error} AND NOT coalesce({holds}, 0)), 0))"
    )
}

/// The run in which page `p` was found.
const FOUND_IN: &str = "(SELECT max(r.id) FROM run_row r WHERE r.started_at <= p.at)";

/// The columns of a link: words and kind of link `l`.
fn link_columns() -> String {
    let kind = case("l.kind", LinkKind::ALL.iter().map(|k| (k.code(), k.name())));
    format!("{kind} AS kind, coalesce(l.anchor, '') AS anchor")
}

/// Current links to the pages of the table `t`, from page `a`. Without such pages no link is read.
const LINKS_TO: &str = "FROM source_row s CROSS JOIN link_row l ON l.source = s.id CROSS JOIN t ON t.id = l.dst
   CROSS JOIN page_row a ON a.id = s.page WHERE l.last_run IS NULL AND EXISTS (SELECT 1 FROM t)";

fn broken_link() -> String {
    let failed = PageKind::FAILED.iter().map(|k| k.code().to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "WITH t AS MATERIALIZED (SELECT p.id, p.url, v.kind, v.status, v.problem, {since} AS since
           FROM visit_row v CROSS JOIN page_row p ON p.id = v.page WHERE v.kind IN ({failed}) AND p.kind = 0 AND {IS_LATEST})
         SELECT a.url AS src_url, t.url AS dst_url, {link}, {kind} AS dst_kind, t.status, t.problem, s.page AS src, l.dst,
           max(l.first_run, t.since) AS since {LINKS_TO}",
        since = since(&format!("x.kind IN ({failed})")),
        link = link_columns(),
        kind = case("t.kind", PageKind::FAILED.iter().map(|k| (k.code(), k.name()))),
    )
}

fn disallowed_link() -> String {
    format!(
        "WITH t AS MATERIALIZED (SELECT id, url FROM page_row WHERE kind = {})
         SELECT a.url AS src_url, t.url AS dst_url, {}, s.page AS src, l.dst, l.first_run AS since {LINKS_TO}",
        PageKind::Disallowed.code(),
        link_columns(),
    )
}

fn canonical_elsewhere() -> String {
    format!(
        "SELECT a.url AS src_url, b.url AS dst_url, s.page AS src, l.dst, l.first_run AS since
         FROM source_row s CROSS JOIN link_row l ON l.source = s.id CROSS JOIN page_row a ON a.id = s.page
         CROSS JOIN page_row b ON b.id = l.dst
         WHERE l.kind = {} AND l.last_run IS NULL AND l.dst <> s.page AND a.kind = 0",
        LinkKind::Canonical.code()
    )
}

fn mixed_content() -> String {
    let embedded: Vec<_> = LinkKind::ALL.iter().filter(|k| k.is_embedded()).map(|k| k.code().to_string()).collect();
    format!(
        "SELECT a.url AS src_url, b.url AS dst_url, {}, s.page AS src, l.dst, l.first_run AS since
         FROM source_row s CROSS JOIN page_row a ON a.id = s.page CROSS JOIN link_row l ON l.source = s.id
         CROSS JOIN page_row b ON b.id = l.dst
         WHERE substr(a.url, 1, 6) = 'https:' AND l.kind IN ({}) AND l.last_run IS NULL AND substr(b.url, 1, 5) = 'http:'
           AND a.kind = 0",
        link_columns(),
        embedded.join(", ")
    )
}

/// The current link of every page that redirects. What it says lies with the number that the page
/// got when links were first seen on it, which one of its visits knows.
fn hops() -> String {
    format!(
        "hop AS MATERIALIZED (SELECT v.page AS src, l.dst, l.first_run AS since
           FROM visit_row v CROSS JOIN page_row p ON p.id = v.page
           CROSS JOIN visit_row n ON n.page = v.page AND n.source NOTNULL
           CROSS JOIN link_row l ON l.source = n.source
           WHERE v.kind = {} AND p.kind = 0 AND l.kind = {} AND l.last_run IS NULL AND {IS_LATEST})",
        PageKind::Redirect.code(),
        LinkKind::Redirect.code()
    )
}

/// From pages that no redirect leads to, as far as redirects lead.
fn redirect_chain() -> String {
    format!(
        "WITH RECURSIVE {},
         chain(start, at, hops, since) AS (
           SELECT src, dst, 1, since FROM hop WHERE src NOT IN (SELECT dst FROM hop)
           UNION ALL SELECT c.start, h.dst, c.hops + 1, max(c.since, h.since)
             FROM chain c CROSS JOIN hop h ON h.src = c.at WHERE c.hops < {MOST_HOPS})
         SELECT a.url AS src_url, b.url AS dst_url, c.hops, c.start AS src, c.at AS dst, c.since
         FROM chain c CROSS JOIN page_row a ON a.id = c.start CROSS JOIN page_row b ON b.id = c.at
         WHERE c.hops > 1 AND c.at NOT IN (SELECT src FROM hop)",
        hops()
    )
}

/// Only pages with larger numbers are passed on the way back: so every loop is found from the
/// smallest of its numbers, once.
fn redirect_loop() -> String {
    format!(
        "WITH RECURSIVE {},
         trail(start, at, hops, since) AS (
           SELECT src, dst, 1, since FROM hop
           UNION ALL SELECT t.start, h.dst, t.hops + 1, max(t.since, h.since)
             FROM trail t CROSS JOIN hop h ON h.src = t.at WHERE t.at > t.start AND t.hops < {MOST_HOPS})
         SELECT a.url AS src_url, b.url AS dst_url, t.hops, t.start AS src, n.dst, t.since
         FROM trail t CROSS JOIN hop n ON n.src = t.start CROSS JOIN page_row a ON a.id = t.start
         CROSS JOIN page_row b ON b.id = n.dst WHERE t.at = t.start",
        hops()
    )
}

fn duplicate() -> String {
    format!(
        "SELECT p.url, o.url AS original_url, lower(hex(v.digest)) AS digest, v.length, p.id, v.duplicate_of, {since} AS since
         FROM visit_row v CROSS JOIN page_row p ON p.id = v.page CROSS JOIN page_row o ON o.id = v.duplicate_of
         WHERE v.duplicate_of NOTNULL AND p.kind = 0 AND {IS_LATEST}",
        since = since("x.duplicate_of NOTNULL")
    )
}

/// Equal SimHashes of other bytes. Hashes that differ in a few bits would need a comparison of
/// pairs.
fn near_duplicate() -> String {
    format!(
        "WITH t AS MATERIALIZED (SELECT v.simhash, min(v.page) AS first FROM visit_row v
           WHERE v.kind = {HTML} AND v.simhash <> 0 AND {IS_LATEST} GROUP BY v.simhash HAVING count(*) > 1)
         SELECT p.url, o.url AS original_url, v.length, p.id, o.id AS duplicate_of, {since} AS since
         FROM visit_row v CROSS JOIN t ON t.simhash = v.simhash CROSS JOIN page_row p ON p.id = v.page
         CROSS JOIN page_row o ON o.id = t.first
         WHERE v.kind = {HTML} AND v.page <> t.first AND p.kind = 0 AND {IS_LATEST}",
        since = since("x.simhash = v.simhash")
    )
}

fn equal_title() -> String {
    format!(
        "WITH t AS MATERIALIZED (SELECT p.host, v.title, min(v.page) AS first, count(*) AS pages
           FROM visit_row v CROSS JOIN page_row p ON p.id = v.page
           WHERE v.kind = {HTML} AND v.title <> '' AND p.kind = 0 AND {IS_LATEST} GROUP BY v.title, p.host HAVING count(*) > 1)
         SELECT p.url, v.title, t.pages, o.url AS original_url, p.id, o.id AS duplicate_of, {since} AS since
         FROM visit_row v CROSS JOIN page_row p ON p.id = v.page CROSS JOIN t ON t.title = v.title AND t.host = p.host
         CROSS JOIN page_row o ON o.id = t.first
         WHERE v.kind = {HTML} AND v.page <> t.first AND p.kind = 0 AND {IS_LATEST}",
        since = since("x.title = v.title")
    )
}

fn missing_alt() -> String {
    format!(
        "SELECT p.url, i.url AS image_url, p.id AS page_id FROM image_row i CROSS JOIN page_row p ON p.id = i.page
         CROSS JOIN visit_row v ON v.page = p.id
         WHERE i.alt IS NULL AND p.kind = 0 AND v.kind IN ({DOCUMENTS}) AND {IS_LATEST}"
    )
}

/// Sitemaps are documents that are not HTML. What they list counts as linked to if any page but
/// itself links to it. The plus keeps SQLite from looking for every listed page among the links of
/// every page.
fn orphan() -> String {
    let sitemap = LinkKind::Sitemap.code();
    format!(
        "WITH listed AS MATERIALIZED (SELECT v.page AS src, l.dst, l.first_run FROM visit_row v
           CROSS JOIN visit_row n ON n.page = v.page AND n.source NOTNULL CROSS JOIN link_row l ON l.source = n.source
           WHERE v.kind IN ({binary}, {duplicate}) AND l.kind = {sitemap} AND l.last_run IS NULL AND {IS_LATEST}),
         t AS MATERIALIZED (SELECT dst, min(src) AS src, min(first_run) AS since FROM listed GROUP BY dst)
         SELECT p.url, m.url AS sitemap_url, p.id AS page_id, t.src AS sitemap_id, t.since
         FROM t CROSS JOIN page_row p ON p.id = t.dst CROSS JOIN page_row m ON m.id = t.src CROSS JOIN visit_row v ON v.page = p.id
         WHERE p.kind = 0 AND p.origin NOTNULL AND v.kind IN ({DOCUMENTS}) AND {IS_LATEST}
           AND p.id NOT IN (SELECT src FROM listed)
           AND p.id NOT IN (SELECT l.dst FROM source_row s CROSS JOIN link_row l ON l.source = s.id
             WHERE l.kind <> {sitemap} AND l.last_run IS NULL AND l.dst <> s.page AND +l.dst IN (SELECT dst FROM t))",
        binary = PageKind::Binary.code(),
        duplicate = PageKind::Duplicate.code(),
    )
}

fn trap() -> String {
    format!(
        "SELECT p.url, {why} AS why, a.url AS found_on, p.id AS page_id, a.id AS found_on_id, {FOUND_IN} AS since
         FROM page_row p LEFT JOIN page_row a ON a.id = p.origin
         WHERE p.why IN (SELECT id FROM name_row WHERE name LIKE 'trap-%')",
        why = name("p.why")
    )
}

fn deep_page() -> String {
    format!(
        "SELECT p.url, p.depth, p.id AS page_id, {FOUND_IN} AS since FROM page_row p CROSS JOIN visit_row v ON v.page = p.id
         WHERE p.depth >= {DEEP} AND p.kind = 0 AND v.kind IN ({DOCUMENTS}) AND {IS_LATEST}"
    )
}
