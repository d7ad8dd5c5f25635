//! How do the facts get into somebody's PostgreSQL?
//!
//! As the two relational models in which this kind of collection was first stored: hosts, resources
//! and links (`classic`), and site, page, page data, image and link (`crawldb`). Rows are
//! transferred by COPY, keys and indexes are created afterwards, and all of it is one transaction:
//! a reader sees the whole export or nothing of it. Names, order and keys of the columns are the
//! models' own; text lengths are unlimited, since the web does not respect them.
//!
//! There is no TLS here: a server is reached through a Unix socket, the loopback or a tunnel.

mod classic;
mod copy;
mod crawldb;

use super::ExportProgress;
use crate::error::{ExportError, Result};
use copy::PostgresLoad;
use orb_store::{ArchiveReader, CatalogueReader};
use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};
use std::time::Duration;

/// Which models to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// `hosts`, `resources`, `links`.
    Classic,
    /// `site`, `page`, `page_type`, `page_data`, `data_type`, `image`, `link`.
    Crawldb,
    /// Both.
    Both,
}

/// Where the export goes and what it creates there.
#[derive(Clone)]
pub struct PostgresTarget {
    /// `postgres://user@host/database`, or `host=… dbname=…`.
    pub url: String,
    /// The password, if the URL has none.
    pub password: Option<String>,
    /// Which models.
    pub model: Model,
    /// The schema for their tables; by default `public` for the classic model and `crawldb` for the
    /// other.
    pub schema: Option<String>,
    /// Whether existing tables with these names are replaced.
    pub replace: bool,
    /// Whether pages come with their content.
    pub contents: bool,
}

/// Rows written, by table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresCounts {
    /// Schema and table with its rows, in the order in which they were written.
    pub tables: Vec<(String, u64)>,
    /// Pages whose content the archive should have but could not provide.
    pub unreadable: u64,
}

/// Creates the models in a database, with the contents of pages if they are wanted.
pub(crate) fn export_postgres<'a>(
    reader: &'a CatalogueReader,
    target: &PostgresTarget,
    archive: ArchiveReader,
    watch: &'a mut ExportProgress<'a>,
) -> Result<PostgresCounts> {
    let mut client = connect(target)?;
    let tx = client.transaction().map_err(failed("begin"))?;
    let mut load = PostgresLoad::new(tx, reader, target.contents.then_some(archive), watch);
    if target.model != Model::Crawldb {
        let schema = prepare(&mut load, target, "public", classic::TABLES)?;
        classic::load(&mut load, &schema)?;
    }
    if target.model != Model::Classic {
        let schema = prepare(&mut load, target, "crawldb", crawldb::TABLES)?;
        crawldb::load(&mut load, &schema)?;
    }
    load.commit()
}

fn connect(target: &PostgresTarget) -> Result<Client> {
    let refuse = |why: &str| Err(ExportError::Refused(why.to_owned()));
    let mut config: Config = match target.url.parse() {
        Ok(config) => config,
        Err(_) => return refuse("this is not the address of a PostgreSQL database: postgres://user@host/database"),
    };
    if config.get_ssl_mode() == SslMode::Require {
        return refuse(
            "TLS to PostgreSQL is not spoken here: reach it through a Unix socket or a tunnel, without sslmode=require",
        );
    }
    if let (None, Some(password)) = (config.get_password(), &target.password) {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(20));
    }
    config.application_name("orb").ssl_mode(SslMode::Disable);
    config.connect(NoTls).map_err(failed("connect"))
}

/// Prepares the schema and makes sure that its tables are not in the way; returns its quoted name.
fn prepare(load: &mut PostgresLoad<'_, '_>, target: &PostgresTarget, usual: &str, tables: &[&str]) -> Result<String> {
    let name = target.schema.as_deref().unwrap_or(usual);
    let schema = quoted(name)?;
    load.run(&format!("CREATE SCHEMA IF NOT EXISTS {schema}"))?;
    let there = load.existing(name, tables)?;
    if !there.is_empty() {
        if !target.replace {
            let names = there.join(", ");
            return Err(ExportError::Refused(format!(
                "schema {name} has tables of these names already: {names} (--force replaces them)"
            )));
        }
        let names: Vec<String> = there.iter().map(|table| format!("{schema}.{table}")).collect();
        load.run(&format!("DROP TABLE {}", names.join(", ")))?;
    }
    Ok(schema)
}

fn quoted(name: &str) -> Result<String> {
    if name.is_empty() || name.len() > 63 || name.contains('\0') {
        return Err(ExportError::Refused(format!("{name:?} is not a name for a schema")));
    }
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}

fn failed(what: &'static str) -> impl Fn(postgres::Error) -> ExportError {
    move |reason| ExportError::Postgres { what, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_quoted_whatever_it_is_called() {
        assert_eq!(quoted("a\"b; DROP").unwrap(), "\"a\"\"b; DROP\"");
        assert!(quoted("").is_err() && quoted(&"x".repeat(64)).is_err() && quoted("a\0").is_err());
    }
}
