//! What does each table and column mean?
//!
//! A sentence for each, shown by `orb sql --schema`; a test compares them with the database.

use super::CatalogueReader;
use crate::error::Result;
use serde::Serialize;

/// A table or view as described to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TableNote {
    /// Its name.
    pub table: &'static str,
    /// What a row of it is.
    pub about: &'static str,
    /// Its columns with their meanings, in order.
    pub columns: Vec<ColumnNote>,
}

/// A column as described to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ColumnNote {
    /// Its name.
    pub name: String,
    /// What it means.
    pub about: &'static str,
}

impl CatalogueReader {
    /// The tables and views that users may rely on, with their meanings.
    pub fn schema(&self) -> Result<Vec<TableNote>> {
        let described = notes().map(|note| {
            let names: Vec<String> = self.all("SELECT name FROM pragma_table_info(?1)", [note.0], |r| r.get(0))?;
            // The ranks are described even if they have not been computed.
            let names =
                if names.is_empty() { note.2.iter().map(|(name, _)| (*name).to_owned()).collect() } else { names };
            Ok(described(note, names))
        });
        described.collect()
    }
}

/// The tables that users may rely on, with the columns that they have where they are asked; all
/// tables if none is known to have any.
pub(crate) fn described_tables(columns: impl Fn(&str) -> Vec<String>) -> Vec<TableNote> {
    let all: Vec<TableNote> = notes().map(|note| described(note, columns(note.0))).collect();
    if all.iter().all(|note| note.columns.is_empty()) {
        return all;
    }
    all.into_iter().filter(|note| !note.columns.is_empty()).collect()
}

fn notes() -> impl Iterator<Item = &'static Note> {
    NOTES.iter().chain(super::health::NOTES)
}

fn described((table, about, columns): &'static Note, names: Vec<String>) -> TableNote {
    let meaning = |name: &String| columns.iter().find(|(n, _)| n == name).map_or("", |(_, about)| about);
    let columns = names.into_iter().map(|name| ColumnNote { about: meaning(&name), name }).collect();
    TableNote { table, about, columns }
}

/// A table with its meaning and those of its columns.
pub(super) type Note = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const NOTES: &[Note] = &[
    (
        "host",
        "A server that was met: scheme, name and port.",
        &[
            ("id", "its number"),
            ("name", "name or address, as in URLs"),
            ("scheme", "http or https"),
            ("port", "port"),
            ("ip", "the address it resolved to last"),
            ("robots", "its robots.txt"),
            ("robots_at", "when that was read"),
            ("sitemaps", "sitemaps it names, one a line"),
            ("crawl_delay", "seconds it asks to be left alone between requests"),
            ("pages", "pages fetched from it"),
            ("errors", "errors met there"),
            ("first_seen", "when it was first met"),
            ("robots_status", "status code of the robots.txt"),
            ("not_before", "it is not asked before this time"),
            ("backoff_ms", "the current length of its back-off, in milliseconds"),
        ],
    ),
    (
        "page",
        "A resource with one canonical URL, of any type, with what its latest visit found.",
        &[
            ("id", "its number, given at discovery and never reused"),
            ("url", "its canonical URL"),
            ("host_id", "its host: host.id"),
            (
                "kind",
                "FRONTIER HTML BINARY DUPLICATE REDIRECT LISTING DISALLOWED DOMAIN_ERROR TIMEOUT BROWSER_ERROR HTTP_ERROR OUTSIDE",
            ),
            ("status", "status code"),
            ("mime", "media type"),
            ("charset", "character encoding"),
            ("length", "bytes of the content, codings taken off"),
            ("digest", "sha256 of the content, hexadecimal"),
            ("simhash", "SimHash of the text: near texts differ in few bits"),
            ("title", "title"),
            ("lang", "language"),
            ("depth", "links from the nearest seed"),
            ("priority", "importance for the order best, 0 to 1"),
            ("discovered_at", "when it was first heard of"),
            ("discovered_by", "the worker that heard of it"),
            ("discovered_from", "the page it was found on: page.id; NULL for a seed"),
            ("fetched_at", "when its latest visit was"),
            ("fetched_by", "the worker that read it"),
            ("etag", "the server's version of it"),
            ("last_modified", "when it last changed, as the server wrote it"),
            ("warc_file", "the archive file that holds it, in warc/"),
            ("warc_offset", "where in that file its record begins"),
            ("warc_length", "bytes of that record, compressed"),
            ("duplicate_of", "an earlier page with the same content, or the page it is an alias of: page.id"),
            ("next_due", "when it is to be visited again under the project's budget; NULL without one"),
            ("changes", "visits that found it changed"),
            ("visits", "visits"),
            ("why", "why it is not fetched: scope, depth, nofollow, robots, alias, trap-…"),
            ("problem", "what went wrong, one line"),
            ("elapsed_ms", "how long the fetch took, in milliseconds"),
            ("transferred", "bytes of the body as transferred"),
            ("redirects", "redirects in a row that led here"),
            ("seed", "1 for a seed"),
        ],
    ),
    (
        "visit",
        "What one run saw of one page.",
        &[
            ("run", "the run: run.id"),
            ("page_id", "the page: page.id"),
            ("flag", "NEW SAM UPD MIS ERR, against the visit before"),
            ("at", "when the request was sent"),
            ("status", "status code"),
            ("digest", "sha256 of the content, hexadecimal"),
            ("length", "bytes of the content, codings taken off"),
            ("warc_file", "the archive file that holds it"),
            ("warc_offset", "where in that file its record begins"),
            ("warc_length", "bytes of that record, compressed"),
            ("kind", "what it was found to be, as page.kind"),
            ("fetched_by", "the worker that read it"),
            ("mime", "media type"),
            ("charset", "character encoding"),
            ("transferred", "bytes of the body as transferred"),
            ("simhash", "SimHash of the text"),
            ("title", "title"),
            ("lang", "language"),
            ("etag", "the server's version of it"),
            ("last_modified", "when it last changed, as the server wrote it"),
            ("duplicate_of", "an earlier page with the same content: page.id"),
            ("problem", "what went wrong, one line"),
            ("elapsed_ms", "how long the fetch took, in milliseconds"),
            ("around", "what changed around its main content, if nothing else did"),
        ],
    ),
    (
        "link",
        "A link from one page to another by one kind of element, living or gone.",
        &[
            ("src", "the page it stands on: page.id"),
            ("dst", "the page it points to: page.id"),
            ("kind", "a area img script css frame form redirect canonical sitemap refresh link media …"),
            ("anchor", "its words: the first anchor text, alt or title"),
            ("rel", "its rel, lower case"),
            ("count", "how often it stands on the page"),
            ("first_run", "the run that first saw it"),
            ("last_run", "the last run that saw it; NULL while it is still there"),
        ],
    ),
    (
        "image",
        "A picture on a page.",
        &[
            ("page_id", "the page: page.id"),
            ("url", "where the picture is"),
            ("alt", "its text; NULL if the element has none, empty if it says that the picture is decoration"),
            ("width", "width in pixels, as the page says"),
            ("height", "height in pixels, as the page says"),
            ("mime", "media type guessed from the name"),
        ],
    ),
    (
        "run",
        "One execution of the project.",
        &[
            ("id", "its number, from 1"),
            ("kind", "crawl or track"),
            ("state", "running, or how it ended"),
            ("started_at", "when it began"),
            ("finished_at", "when it ended"),
            ("counters", "what it counted, as JSON"),
            ("settings", "the settings it ran under"),
        ],
    ),
    (
        "link_past",
        "What a link said before it changed, or before it was lost and came back.",
        &[
            ("src", "the page it stood on: page.id"),
            ("dst", "the page it pointed to: page.id"),
            ("kind", "by what"),
            ("anchor", "its words then"),
            ("rel", "its rel then"),
            ("count", "how often it stood there then"),
            ("first_run", "the run that first saw the link"),
            ("last_run", "the last run that saw it say this"),
        ],
    ),
    (
        "link_url",
        "A living link with the URLs of both its ends.",
        &[
            ("src_url", "the URL of the page it stands on"),
            ("dst_url", "the URL it points to"),
            ("kind", "by what"),
            ("anchor", "its words"),
            ("rel", "its rel"),
            ("count", "how often it stands on the page"),
            ("src", "page.id of the page it stands on"),
            ("dst", "page.id of its target"),
            ("first_run", "the run that first saw it"),
        ],
    ),
    (
        "redirect",
        "A page that leads to another.",
        &[
            ("src_url", "the URL that leads away"),
            ("dst_url", "where it leads"),
            ("status", "its status code"),
            ("src", "page.id of the one"),
            ("dst", "page.id of the other"),
        ],
    ),
    (
        "change",
        "What a run after the first found out about a document: new, updated, gone or failed.",
        &[
            ("seq", "its place among all changes; never given twice"),
            ("run", "run.id"),
            ("page_id", "page.id"),
            ("url", "its URL"),
            ("flag", "NEW, UPD, MIS or ERR"),
            ("at", "when it was seen"),
            ("moved_to", "where the document has moved to"),
            ("detail", "what is different, or what went wrong"),
        ],
    ),
    (
        "ack",
        "Somebody's acknowledgement of the changes that a run found.",
        &[("run", "run.id"), ("at", "when"), ("by", "by whom"), ("note", "what they had to say")],
    ),
    (
        "alias",
        "An address that was learnt to be another one of a known page.",
        &[
            ("url", "the address"),
            ("target_url", "the URL of the page it is another address of"),
            ("rule", "how the two differ"),
            ("tested", "1 if it was fetched nevertheless, as a test of the rule"),
            ("id", "page.id of the address"),
            ("target", "page.id of the page"),
            ("host_id", "host.id"),
        ],
    ),
    (
        "host_count",
        "A host with its pages counted.",
        &[
            ("scheme", "http or https"),
            ("name", "its name"),
            ("port", "its port"),
            ("known", "pages known"),
            ("fetched", "pages with an answer"),
            ("html", "HTML pages"),
            ("binary", "binary files"),
            ("duplicates", "duplicates"),
            ("errors", "pages that could not be fetched"),
            ("queued", "pages that wait"),
            ("bytes", "bytes of bodies as transferred"),
            ("host_id", "host.id"),
        ],
    ),
    (
        "rank",
        "What the graph says of a page, as of the last orb graph build.",
        &[
            ("page_id", "the page: page.id"),
            ("pagerank", "the probability that a reader is there who follows links at random; the sum is 1"),
            ("hub", "how much it points to what matters; the sum is 1"),
            ("authority", "how much it is pointed to by those who know; the sum is 1"),
            ("harmonic", "how near it is to all others: the sum of 1/d over all that lead here by d links"),
            ("indegree", "how many point to it"),
            ("outdegree", "how many it points to"),
            ("component", "its strongly connected component; 0 is the largest"),
            ("bowtie", "core in out tube tendril disconnected"),
        ],
    ),
    (
        "host_rank",
        "What the graph of hosts says of a host, as of the last orb graph build.",
        &[
            ("host_id", "the host: host.id"),
            ("pagerank", "the probability that a reader is there who follows links at random; the sum is 1"),
            ("hub", "how much it points to what matters; the sum is 1"),
            ("authority", "how much it is pointed to by those who know; the sum is 1"),
            ("harmonic", "how near it is to all others: the sum of 1/d over all that lead here by d links"),
            ("indegree", "how many point to it"),
            ("outdegree", "how many it points to"),
            ("component", "its strongly connected component; 0 is the largest"),
            ("bowtie", "core in out tube tendril disconnected"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_described_and_every_description_has_its_column() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("crawl.db");
        drop(super::super::Catalogue::create_or_open(&path).unwrap());
        let tables = CatalogueReader::at(&path).unwrap().schema().unwrap();
        for (table, (name, _, notes)) in tables.iter().zip(NOTES.iter().chain(super::super::health::NOTES)) {
            assert_eq!(table.table, *name);
            let columns: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
            assert_eq!(columns, notes.iter().map(|(n, _)| *n).collect::<Vec<_>>(), "{name}");
        }
    }
}
