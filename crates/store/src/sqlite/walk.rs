//! Which rows does an export want, and in which columns?
//!
//! Every walk is one query over the whole catalogue in storage order: nothing is sorted, and memory
//! holds one row. The tables that SQL sees are walked as readers see them; the other walks are
//! shaped for the relational models in which this kind of collection was first stored.

use super::tables::Table;

/// A walk over the rows of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogueWalk {
    /// A table with all its columns.
    Table(Table),
    /// The hosts: id, name.
    HostNames,
    /// The hosts as sites: id, name with its port if it is not the default, robots.txt, sitemaps.
    Sites,
    /// The pages: URL, media type, charset, discovered when and by whom, fetched when and by whom,
    /// host, kind, and the three columns of their archive position.
    Resources,
    /// The pages: id, host, kind, URL, status, fetched when, and the three columns of their archive
    /// position.
    SitePages,
    /// The binary pages: id, URL, media type, and the three columns of their archive position.
    Binaries,
    /// The images: page, URL, media type, and when their page was last fetched.
    PageImages,
    /// The current links: URLs of source and target, one row for each kind of element.
    LinkedUrls,
    /// The current links: ids of source and target; kinds of one pair are adjacent.
    LinkedPages,
}

impl CatalogueWalk {
    pub(super) fn query(self) -> String {
        let sql = match self {
            Self::Table(table) => return table.query(),
            Self::HostNames => "SELECT id, name FROM host",
            Self::Sites => {
                "SELECT id, CASE WHEN port = CASE scheme WHEN 'https' THEN 443 ELSE 80 END THEN name ELSE name || ':' || port END,
                 robots, sitemaps FROM host"
            }
            Self::Resources => {
                "SELECT url, mime, charset, discovered_at, discovered_by, fetched_at, fetched_by, host_id, kind, warc_file, warc_offset,
                 warc_length FROM page"
            }
            Self::SitePages => {
                "SELECT id, host_id, kind, url, status, fetched_at, warc_file, warc_offset, warc_length FROM page"
            }
            Self::Binaries => {
                "SELECT id, url, mime, warc_file, warc_offset, warc_length FROM page WHERE kind = 'BINARY'"
            }
            Self::PageImages => {
                "SELECT i.page_id, i.url, i.mime, strftime('%Y-%m-%dT%H:%M:%fZ', v.at / 1000.0, 'unixepoch') FROM image i
                 LEFT JOIN visit_row v ON v.page = i.page_id AND v.run = (SELECT max(run) FROM visit_row w WHERE w.page = i.page_id)"
            }
            Self::LinkedUrls => "SELECT src_url, dst_url FROM link_url",
            Self::LinkedPages => {
                "SELECT s.page, l.dst FROM source_row s CROSS JOIN link_row l ON l.source = s.id WHERE l.last_run IS NULL"
            }
        };
        sql.to_owned()
    }
}
