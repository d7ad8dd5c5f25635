//! What is the model of sites, pages, page data, images and links (`crawldb`)?
//!
//! Page types are those of the model (HTML, BINARY, DUPLICATE, FRONTIER) and ours in addition; data
//! types likewise. A link is a pair of pages, however many elements make it. An image's `filename`
//! is its URL.

use super::copy::{PostgresLoad, place};
use crate::error::Result;
use orb_page::PageKind;
use orb_store::{CatalogueWalk, Cell, document_type, document_types};

/// Its tables, referencing ones first.
pub(super) const TABLES: &[&str] = &["link", "image", "page_data", "page", "site", "page_type", "data_type"];

/// Types whose bytes are stored: those of the model.
const KEPT: [&str; 5] = ["pdf", "doc", "docx", "ppt", "pptx"];

/// Maximum length of a URL that certainly fits a B-tree index, in bytes.
const INDEXED: usize = 2_600;

/// Creates and fills the tables in a schema (quoted).
pub(super) fn load(to: &mut PostgresLoad<'_, '_>, schema: &str) -> Result<()> {
    create(to, schema)?;
    let table = format!("{schema}.site (id, domain, robots_content, sitemap_content)");
    to.fill(&table, CatalogueWalk::Sites, |cells, out, _| out.cells(cells).end())?;
    let longest = pages(to, schema)?;
    page_data(to, schema)?;
    let mut number = 0u64;
    let table = format!("{schema}.image (id, page_id, filename, content_type, accessed_time)");
    to.fill(&table, CatalogueWalk::PageImages, |cells, out, _| {
        number += 1;
        out.plain(&number.to_string()).cells(cells).end();
    })?;
    let mut last = (0, 0);
    // Kinds of one pair are adjacent.
    to.fill(&format!("{schema}.link (from_page, to_page)"), CatalogueWalk::LinkedPages, |cells, out, _| {
        let [Cell::Integer(src), Cell::Integer(dst)] = *cells else { return };
        if std::mem::replace(&mut last, (src, dst)) != (src, dst) {
            out.plain(&src.to_string()).plain(&dst.to_string()).end();
        }
    })?;
    finish(to, schema, longest)
}

fn create(to: &mut PostgresLoad<'_, '_>, schema: &str) -> Result<()> {
    let types = PageKind::ALL.iter().map(|kind| format!("('{}')", kind.name())).collect::<Vec<_>>().join(", ");
    let documents: Vec<String> = document_types().iter().map(|name| format!("('{}')", name.to_uppercase())).collect();
    to.run(&format!(
        "CREATE TABLE {schema}.data_type (code varchar(20) NOT NULL PRIMARY KEY);
         CREATE TABLE {schema}.page_type (code varchar(20) NOT NULL PRIMARY KEY);
         CREATE TABLE {schema}.site (id serial NOT NULL, domain varchar, robots_content text, sitemap_content text);
         CREATE TABLE {schema}.page (id serial NOT NULL, site_id integer, page_type_code varchar(20), url varchar, html_content text,
           http_status_code integer, accessed_time timestamp);
         CREATE TABLE {schema}.page_data (id serial NOT NULL, page_id integer, data_type_code varchar(20), data bytea);
         CREATE TABLE {schema}.image (id serial NOT NULL, page_id integer, filename varchar, content_type varchar, data bytea,
           accessed_time timestamp);
         CREATE TABLE {schema}.link (from_page integer NOT NULL, to_page integer NOT NULL);
         INSERT INTO {schema}.page_type VALUES {types};
         INSERT INTO {schema}.data_type VALUES {}",
        documents.join(", ")
    ))
}

/// Fills the pages; returns the length of the longest URL.
fn pages(to: &mut PostgresLoad<'_, '_>, schema: &str) -> Result<usize> {
    let table =
        format!("{schema}.page (id, site_id, page_type_code, url, http_status_code, accessed_time, html_content)");
    let mut longest = 0;
    to.fill(&table, CatalogueWalk::SitePages, |cells, out, content| {
        let Cell::Text(url) = cells[3] else { return };
        longest = longest.max(url.len());
        let html = match cells[2] {
            Cell::Text("HTML") => content.text(url, place(&cells[6..]).as_ref()),
            _ => None,
        };
        out.cells(&cells[..6]).maybe(html.as_deref()).end();
    })?;
    Ok(longest)
}

/// A row for each binary file, with its bytes if it is a document.
fn page_data(to: &mut PostgresLoad<'_, '_>, schema: &str) -> Result<()> {
    let mut number = 0u64;
    let table = format!("{schema}.page_data (id, page_id, data_type_code, data)");
    let filled = to.fill(&table, CatalogueWalk::Binaries, |cells, out, content| {
        let Cell::Text(url) = cells[1] else { return };
        let mime = if let Cell::Text(mime) = cells[2] { Some(mime) } else { None };
        let kind = document_type(mime, url);
        let bytes = if KEPT.contains(&kind) { content.bytes(place(&cells[3..]).as_ref()) } else { None };
        number += 1;
        out.plain(&number.to_string()).cell(&cells[0]).plain(&kind.to_uppercase()).bytes(bytes.as_deref()).end();
    });
    filled.map(drop)
}

/// Keys and indexes. A B-tree index cannot hold very long texts: if there are any, their MD5 is
/// unique instead.
fn finish(to: &mut PostgresLoad<'_, '_>, schema: &str, longest: usize) -> Result<()> {
    let unique = if longest <= INDEXED { "url" } else { "md5(url)" };
    let quoted = schema.replace('\'', "''");
    for table in ["site", "page", "page_data", "image"] {
        to.run(&format!(
            "ALTER TABLE {schema}.{table} ADD PRIMARY KEY (id);
             SELECT setval(pg_get_serial_sequence('{quoted}.{table}', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL)
               FROM {schema}.{table}"
        ))?;
    }
    to.run(&format!(
        "CREATE UNIQUE INDEX unq_url_idx ON {schema}.page ({unique});
         CREATE INDEX idx_page_site_id ON {schema}.page (site_id);
         CREATE INDEX idx_page_page_type_code ON {schema}.page (page_type_code);
         CREATE INDEX idx_page_data_page_id ON {schema}.page_data (page_id);
         CREATE INDEX idx_image_page_id ON {schema}.image (page_id);
         ALTER TABLE {schema}.link ADD PRIMARY KEY (from_page, to_page);
         CREATE INDEX idx_link_to_page ON {schema}.link (to_page);
         ALTER TABLE {schema}.page ADD FOREIGN KEY (site_id) REFERENCES {schema}.site (id),
           ADD FOREIGN KEY (page_type_code) REFERENCES {schema}.page_type (code);
         ALTER TABLE {schema}.page_data ADD FOREIGN KEY (page_id) REFERENCES {schema}.page (id),
           ADD FOREIGN KEY (data_type_code) REFERENCES {schema}.data_type (code);
         ALTER TABLE {schema}.image ADD FOREIGN KEY (page_id) REFERENCES {schema}.page (id);
         ALTER TABLE {schema}.link ADD FOREIGN KEY (from_page) REFERENCES {schema}.page (id),
           ADD FOREIGN KEY (to_page) REFERENCES {schema}.page (id);
         ANALYZE {schema}.site, {schema}.page, {schema}.page_data, {schema}.image, {schema}.link"
    ))
}
