//! What is the model of hosts, resources and links?
//!
//! A resource's id is the MD5 of its URL in upper-case hexadecimal, so it needs no look-up; links
//! are pairs of ids, one for each kind of element by which one resource links to another.

use super::copy::{PostgresLoad, place};
use crate::error::Result;
use md5::{Digest, Md5};
use orb_store::{CatalogueWalk, Cell};
use std::fmt::Write as _;

/// Its tables, referencing ones first.
pub(super) const TABLES: &[&str] = &["links", "resources", "hosts"];

/// Creates and fills the tables in a schema (quoted).
pub(super) fn load(to: &mut PostgresLoad<'_, '_>, schema: &str) -> Result<()> {
    to.run(&format!(
        "CREATE TABLE {schema}.hosts (hid bigint NOT NULL GENERATED ALWAYS AS IDENTITY (START WITH 1 INCREMENT BY 1), hname varchar);
         CREATE TABLE {schema}.resources (rid char(32) NOT NULL, url varchar, rtype varchar, charset varchar, dtime timestamp,
           dbot varchar, ptime timestamp, pbot varchar, source text, hid bigint NOT NULL);
         CREATE TABLE {schema}.links (frid char(32) NOT NULL, rid char(32) NOT NULL)"
    ))?;
    to.fill(&format!("{schema}.hosts (hid, hname)"), CatalogueWalk::HostNames, |cells, out, _| {
        out.cell(&cells[0]).cell(&cells[1]).end();
    })?;
    resources(to, schema)?;
    let (mut from, mut from_id) = (String::new(), String::new());
    to.fill(&format!("{schema}.links (frid, rid)"), CatalogueWalk::LinkedUrls, |cells, out, _| {
        let [Cell::Text(src), Cell::Text(dst)] = cells else { return };
        if *src != from {
            (*src).clone_into(&mut from);
            from_id = id(src);
        }
        out.plain(&from_id).plain(&id(dst)).end();
    })?;
    to.run(&format!(
        "ALTER TABLE {schema}.hosts ADD PRIMARY KEY (hid);
         SELECT setval(pg_get_serial_sequence('{}.hosts', 'hid'), coalesce(max(hid), 1), max(hid) IS NOT NULL) FROM {schema}.hosts;
         ALTER TABLE {schema}.resources ADD PRIMARY KEY (rid), ADD FOREIGN KEY (hid) REFERENCES {schema}.hosts (hid);
         CREATE INDEX ON {schema}.resources (hid);
         CREATE INDEX ON {schema}.links (frid);
         CREATE INDEX ON {schema}.links (rid);
         ALTER TABLE {schema}.links ADD FOREIGN KEY (frid) REFERENCES {schema}.resources (rid),
           ADD FOREIGN KEY (rid) REFERENCES {schema}.resources (rid);
         ANALYZE {schema}.hosts, {schema}.resources, {schema}.links",
        schema.replace('\'', "''")
    ))
}

fn resources(to: &mut PostgresLoad<'_, '_>, schema: &str) -> Result<()> {
    let table = format!("{schema}.resources (rid, url, rtype, charset, dtime, dbot, ptime, pbot, source, hid)");
    let filled = to.fill(&table, CatalogueWalk::Resources, |cells, out, content| {
        let Cell::Text(url) = cells[0] else { return };
        let source = match cells[8] {
            Cell::Text("HTML") => content.text(url, place(&cells[9..]).as_ref()),
            _ => None,
        };
        out.plain(&id(url)).cells(&cells[..7]).maybe(source.as_deref()).cell(&cells[7]).end();
    });
    filled.map(drop)
}

/// A resource's id: the MD5 of its URL.
fn id(url: &str) -> String {
    Md5::digest(url.as_bytes()).iter().fold(String::with_capacity(32), |mut out, byte| {
        let _ = write!(out, "{byte:02X}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_has_the_number_its_url_gives() {
        // RFC 1321, A.5.
        assert_eq!(id(""), "D41D8CD98F00B204E9800998ECF8427E");
        assert_eq!(id("message digest"), "F96B697D7CB7938D525A2F31AAF161D0");
    }
}
