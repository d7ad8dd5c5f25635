//! How large is the collection, and what is in it?
//!
//! The statistics of a crawl (sites, pages, kinds, documents, images, links and degrees), for the
//! hosts of the seeds and for everything. One sequential scan each over pages with their visits,
//! images and links.

use super::CatalogueReader;
use super::document_types::{document_type, document_types};
use crate::error::{Result, StoreError};
use orb_page::{PageKind, Trap};
use rusqlite::Row;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The statistics of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Stats {
    /// The hosts of the seeds only.
    pub seeds: Column,
    /// Everything.
    pub whole: Column,
}

/// One column of the statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Column {
    /// Hosts of which a page was fetched or tried.
    pub sites: u64,
    /// Pages fetched: there was a response.
    pub pages: u64,
    /// Of these, HTML.
    pub html: u64,
    /// Of these, duplicates of an earlier page.
    pub duplicates: u64,
    /// Addresses never fetched because they are aliases of known pages.
    pub aliases: u64,
    /// Of these, anything but HTML.
    pub binary: u64,
    /// Of these, responses that point elsewhere.
    pub redirects: u64,
    /// Binary pages by document type: `pdf`, `doc`, `docx`, `ppt`, `pptx`, ….
    #[serde(deserialize_with = "named")]
    pub documents: BTreeMap<&'static str, u64>,
    /// Images on pages.
    pub images: u64,
    /// Images per HTML page.
    pub images_per_page: f64,
    /// Pages that could not be fetched, by kind.
    #[serde(deserialize_with = "named")]
    pub errors: BTreeMap<&'static str, u64>,
    /// Pages not fetched because robots.txt disallows them.
    pub disallowed: u64,
    /// Pages known and never to be fetched.
    pub outside: u64,
    /// Of these, cut off as a trap, by its name.
    #[serde(deserialize_with = "named")]
    pub traps: BTreeMap<&'static str, u64>,
    /// Pages still queued.
    pub frontier: u64,
    /// Bodies as transferred.
    pub bytes: u64,
    /// Current links.
    pub links: u64,
    /// Links out of a fetched page.
    pub out_degree: Degrees,
    /// Links into a known page.
    pub in_degree: Degrees,
}

/// Reads counts by names, all of which this program knows.
fn named<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<BTreeMap<&'static str, u64>, D::Error> {
    let counts = BTreeMap::<String, u64>::deserialize(from)?;
    let kinds = PageKind::ALL.iter().map(|kind| kind.name()).chain(Trap::ALL.iter().map(|trap| trap.name()));
    let known: Vec<&'static str> = document_types().into_iter().chain(kinds).collect();
    let name = |name: &str| known.iter().find(|known| **known == name).copied();
    let unknown = || serde::de::Error::custom("another version counted this");
    counts.iter().map(|(text, count)| Ok((name(text).ok_or_else(unknown)?, *count))).collect()
}

/// A degree distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Degrees {
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: u64,
}

/// What one page adds to the statistics.
struct CountedPage<'a> {
    kind: PageKind,
    url: &'a str,
    mime: Option<&'a str>,
    transferred: u64,
    answered: bool,
    visited: bool,
    queued: bool,
    trap: Option<Trap>,
}

/// What a page is, in a byte: the code of its kind, whether it is of a seed's host, and whether it
/// waits to be fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageMark(pub u8);

impl PageMark {
    const OF_SEED: u8 = 0x40;
    const QUEUED: u8 = 0x80;

    /// A number without a page.
    const NOBODY: Self = Self(!(Self::OF_SEED | Self::QUEUED));

    fn of(page: &CountedPage<'_>, is_of_seed: bool) -> Self {
        let seed = if is_of_seed { Self::OF_SEED } else { 0 };
        Self(page.kind.code() | seed | if page.queued { Self::QUEUED } else { 0 })
    }

    fn is_of_seed(self) -> bool {
        self.0 & Self::OF_SEED != 0
    }

    /// Whether it waits to be fetched.
    pub fn is_queued(self) -> bool {
        self.0 & Self::QUEUED != 0
    }

    /// Whether it is of this kind.
    pub fn is_a(self, kind: PageKind) -> bool {
        self.0 & !(Self::OF_SEED | Self::QUEUED) == kind.code()
    }
}

impl CatalogueReader {
    /// The table of the crawl, and what every page is, by its number.
    pub fn stats(&self) -> Result<(Stats, Vec<PageMark>)> {
        let mut stats = Stats::default();
        let seeds = self.seed_hosts()?;
        let marks = self.count_pages(&seeds, &mut stats)?;
        self.count_images(&marks, &mut stats)?;
        self.count_links(&marks, &mut stats)?;
        for column in [&mut stats.seeds, &mut stats.whole] {
            column.images_per_page = ratio(column.images, column.html + column.duplicates);
            column.out_degree.mean = ratio(column.links, column.pages);
        }
        Ok((stats, marks))
    }

    fn seed_hosts(&self) -> Result<HashSet<u32>> {
        let sql = "SELECT DISTINCT host FROM page_row WHERE origin IS NULL";
        let hosts = self.all_for(("count the seeds", sql), [], |r| r.get(0))?;
        Ok(hosts.into_iter().collect())
    }

    /// The traps, by the numbers of their names.
    fn traps(&self) -> Result<HashMap<i64, Trap>> {
        let named = |r: &Row<'_>| Ok((r.get(0)?, Trap::from_name(r.get_ref(1)?.as_str()?)));
        let names = self.all_for(("read the names of traps", "SELECT id, name FROM name_row"), [], named)?;
        Ok(names.into_iter().filter_map(|(id, trap)| Some((id, trap?))).collect())
    }

    /// Counts pages; returns what each of them is, by number.
    fn count_pages(&self, seeds: &HashSet<u32>, stats: &mut Stats) -> Result<Vec<PageMark>> {
        let what = "count the pages";
        let fail = self.fail(what);
        let (latest, queued) = (super::schema::LATEST, super::schema::QUEUED);
        let kind = super::schema::KIND;
        let sql = format!(
            "SELECT p.id, p.host, p.url, {kind}, v.mime, v.transferred, v.status, v.run, {queued}, p.why FROM page_row p {latest} ORDER BY p.id"
        );
        let traps = self.traps()?;
        let (mut marks, mut sites) = (vec![PageMark::default()], [HashSet::new(), HashSet::new()]);
        self.each((what, &sql), [], |row| {
            let read = || -> rusqlite::Result<(u64, u32, CountedPage<'_>)> {
                let code: u8 = row.get(3)?;
                let seen = CountedPage {
                    kind: PageKind::from_code(code).unwrap_or(PageKind::Outside),
                    url: row.get_ref(2)?.as_str()?,
                    mime: row.get_ref(4)?.as_str_or_null()?,
                    transferred: row.get::<_, Option<i64>>(5)?.map_or(0, i64::cast_unsigned),
                    answered: row.get::<_, Option<u16>>(6)?.is_some(),
                    visited: row.get::<_, Option<u32>>(7)?.is_some(),
                    queued: row.get(8)?,
                    trap: row.get::<_, Option<i64>>(9)?.and_then(|why| traps.get(&why)).copied(),
                };
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?, seen))
            };
            let (id, host, seen) = read().map_err(&fail)?;
            let here = seeds.contains(&host);
            let id = usize::try_from(id).map_err(|_| StoreError::damaged(&self.path, "a page number is too large"))?;
            // Workers of a shared project draw numbers in blocks: whole blocks may be without a
            // page.
            if id > marks.len() + (1 << 26) {
                return Err(StoreError::damaged(&self.path, format!("page numbers jump to {id}")));
            }
            // A number without a page is of no kind.
            marks.resize(id + 1, PageMark::NOBODY);
            marks[id] = PageMark::of(&seen, here);
            for (column, sites) in columns(stats, here).zip(&mut sites) {
                column.add(&seen);
                if seen.visited {
                    sites.insert(host);
                }
            }
            Ok::<(), StoreError>(())
        })?;
        (stats.whole.sites, stats.seeds.sites) = (sites[0].len() as u64, sites[1].len() as u64);
        Ok(marks)
    }

    fn count_images(&self, marks: &[PageMark], stats: &mut Stats) -> Result<()> {
        let sql = "SELECT page, count(*) FROM image_row GROUP BY page";
        self.each_read(("count the pictures", sql), [], pair, |(page, count)| {
            for column in columns(stats, is_seed(marks, page)) {
                column.images += count;
            }
            Ok(())
        })
    }

    fn count_links(&self, marks: &[PageMark], stats: &mut Stats) -> Result<()> {
        let sql =
            "SELECT s.page, l.dst FROM source_row s CROSS JOIN link_row l ON l.source = s.id WHERE l.last_run IS NULL";
        let mut into = vec![0u32; marks.len()];
        let (mut source, mut out) = (0, 0);
        self.each_read(("count the links", sql), [], pair, |(src, dst)| {
            out = if src == source { out + 1 } else { 1 };
            source = src;
            for column in columns(stats, is_seed(marks, src)) {
                column.links += 1;
                column.out_degree.max = column.out_degree.max.max(out);
            }
            if let Some(n) = usize::try_from(dst).ok().and_then(|i| into.get_mut(i)) {
                *n = n.saturating_add(1);
            }
            Ok::<(), StoreError>(())
        })?;
        let mut sums = [(0u64, 0u64); 2];
        for (degree, mark) in into.iter().zip(marks).skip(1).filter(|(_, mark)| **mark != PageMark::NOBODY) {
            for (column, sum) in columns(stats, mark.is_of_seed()).zip(&mut sums) {
                column.in_degree.max = column.in_degree.max.max(u64::from(*degree));
                *sum = (sum.0 + u64::from(*degree), sum.1 + 1);
            }
        }
        stats.whole.in_degree.mean = ratio(sums[0].0, sums[0].1);
        stats.seeds.in_degree.mean = ratio(sums[1].0, sums[1].1);
        Ok(())
    }
}

/// The columns a page counts in: everything, and the seeds' if it belongs to one.
fn columns(stats: &mut Stats, seed: bool) -> impl Iterator<Item = &mut Column> {
    std::iter::once(&mut stats.whole).chain(seed.then_some(&mut stats.seeds))
}

fn is_seed(marks: &[PageMark], page: u64) -> bool {
    usize::try_from(page).ok().and_then(|i| marks.get(i)).is_some_and(|mark| mark.is_of_seed())
}

fn pair(row: &Row<'_>) -> rusqlite::Result<(u64, u64)> {
    Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned()))
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

impl Column {
    fn add(&mut self, seen: &CountedPage<'_>) {
        self.pages += u64::from(seen.answered);
        self.bytes += seen.transferred;
        self.frontier += u64::from(seen.queued);
        match seen.kind {
            PageKind::Frontier | PageKind::Listing => {}
            PageKind::Html => self.html += 1,
            PageKind::Duplicate if !seen.visited => self.aliases += 1,
            PageKind::Duplicate => self.duplicates += 1,
            PageKind::Redirect => self.redirects += 1,
            PageKind::Disallowed => self.disallowed += 1,
            PageKind::Outside => {
                self.outside += 1;
                if let Some(trap) = seen.trap {
                    *self.traps.entry(trap.name()).or_default() += 1;
                }
            }
            PageKind::Binary => {
                self.binary += 1;
                *self.documents.entry(document_type(seen.mime, seen.url)).or_default() += 1;
            }
            PageKind::DomainError | PageKind::Timeout | PageKind::BrowserError | PageKind::HttpError => {
                *self.errors.entry(seen.kind.name()).or_default() += 1;
            }
        }
    }
}
