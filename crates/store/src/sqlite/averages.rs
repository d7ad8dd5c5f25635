//! What is an average page like, and what does it take?
//!
//! Sums over one project, from which averages follow: the basis for planning the next crawl.

use super::CatalogueReader;
use crate::error::Result;
use crate::home::ProjectDir;
use std::ops::AddAssign;
use std::path::Path;

/// Sums over what was collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Projects with at least one page.
    pub projects: u64,
    /// Pages fetched.
    pub pages: u64,
    /// Bytes of bodies as transferred.
    pub transferred: u64,
    /// URLs known.
    pub known: u64,
    /// Bytes of these URLs.
    pub url_bytes: u64,
    /// Links.
    pub links: u64,
    /// Hosts of which a page was fetched.
    pub hosts: u64,
    /// Pages fetched of the largest host.
    pub largest_host: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// Bytes of the catalogue.
    pub catalogue_bytes: u64,
    /// Bytes of the frontier index and the table of keys.
    pub frontier_bytes: u64,
    /// Bytes of the text indexes.
    pub index_bytes: u64,
    /// Bodies, as transferred, and pages of the projects that have one.
    pub indexed: (u64, u64),
    /// Bytes of the graphs.
    pub graph_bytes: u64,
    /// Links, known URLs and bytes of these URLs of the projects that have one.
    pub graphed: (u64, u64, u64),
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.projects += other.projects;
        self.pages += other.pages;
        self.transferred += other.transferred;
        self.known += other.known;
        self.url_bytes += other.url_bytes;
        self.links += other.links;
        self.hosts += other.hosts;
        self.largest_host = self.largest_host.max(other.largest_host);
        self.archive_bytes += other.archive_bytes;
        self.catalogue_bytes += other.catalogue_bytes;
        self.frontier_bytes += other.frontier_bytes;
        self.index_bytes += other.index_bytes;
        self.indexed = (self.indexed.0 + other.indexed.0, self.indexed.1 + other.indexed.1);
        self.graph_bytes += other.graph_bytes;
        let ((links, known, urls), more) = (self.graphed, other.graphed);
        self.graphed = (links + more.0, known + more.1, urls + more.2);
    }
}

impl Sums {
    /// The sums over a project. Scans all its rows once.
    pub fn of(project: &ProjectDir) -> Result<Self> {
        let reader = CatalogueReader::open(project)?;
        let mut sums = Self {
            pages: reader.count("SELECT count(*) FROM visit_row WHERE status NOTNULL")?,
            transferred: reader.count("SELECT coalesce(sum(transferred), 0) FROM visit_row")?,
            known: reader.count("SELECT count(*) FROM page_row")?,
            url_bytes: reader.count("SELECT coalesce(sum(octet_length(url)), 0) FROM page_row")?,
            links: reader.count("SELECT count(*) FROM link_row WHERE last_run IS NULL")?,
            hosts: reader.count("SELECT count(*) FROM tally_row WHERE pages > 0")?,
            largest_host: reader.count("SELECT coalesce(max(pages), 0) FROM tally_row")?,
            archive_bytes: size(&project.archive()),
            catalogue_bytes: size(&project.catalogue()),
            frontier_bytes: size(&project.frontier()) + size(&project.keys()),
            index_bytes: size(&project.text_index()),
            graph_bytes: size(&project.graph()),
            ..Self::default()
        };
        sums.projects = u64::from(sums.pages > 0);
        if sums.index_bytes > 0 {
            sums.indexed = (sums.transferred, sums.pages);
        }
        if sums.graph_bytes > 0 {
            sums.graphed = (sums.links, sums.known, sums.url_bytes);
        }
        Ok(sums)
    }
}

/// The size of a file, or of everything in a directory; 0 if there is nothing.
fn size(path: &Path) -> u64 {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| size(&entry.path())).sum(),
        Err(_) => std::fs::metadata(path).map_or(0, |m| m.len()),
    }
}
