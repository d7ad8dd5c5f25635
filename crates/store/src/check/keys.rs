//! Does the table of keys name every page by its URL?
//!
//! Each run is read to its end, and a sum over its entries, whatever their order, is compared with
//! the same sum over its pages.

use super::CheckReport;
use crate::error::{Result, StoreError};
use crate::keys::{KeyEntry, KeyRun, KeyTable, PageRange, short_key};
use crate::sqlite::{Catalogue, CatalogueReader};
use orb_page::UrlKey;

pub(super) fn check(reader: &CatalogueReader, catalogue: &Catalogue, report: &mut CheckReport) -> Result<()> {
    let (table, others) = KeyTable::open(&reader.keys_dir())?;
    let end = catalogue.next_page_id().0 - 1;
    let missing: u64 = table.gaps(end).iter().map(|gap| gap.len()).sum();
    if missing > 0 {
        report
            .notes
            .push(format!("the table of URL keys lacks {missing} of {end} pages and is completed at the next start"));
    }
    for other in others.iter().filter(|other| other.extension().is_some_and(|kind| kind == "run")) {
        // Merged into another, or of no use.
        let name = other.file_name().and_then(|name| name.to_str());
        if let Some(span) = name.and_then(PageRange::of_name)
            && let Err(StoreError::Damaged { .. }) = KeyRun::open(&reader.keys_dir(), span)
        {
            report.find("keys", format!("{} is damaged and is rebuilt at the next start", other.display()));
        }
    }
    for run in table.runs() {
        let path = run.path().display();
        if !catalogue.has_recorded(run)? {
            report
                .notes
                .push(format!("{path} belongs to another history of the catalogue and is rebuilt at the next start"));
            continue;
        }
        match sum_of(run) {
            Ok(Some(sum)) if sum == implied(reader, run.span)? => {}
            Err(e @ StoreError::Io { .. }) => return Err(e),
            _ => report.find(
                "keys",
                format!("{path} is not what the catalogue implies; if it is removed, it is rebuilt at the next start"),
            ),
        }
    }
    Ok(())
}

/// How many entries there are, and a sum that does not depend on their order.
#[derive(Default, PartialEq, Eq)]
struct EntrySum {
    entries: u64,
    sum: u64,
}

impl EntrySum {
    fn add(&mut self, (key, page): KeyEntry) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&key.to_le_bytes());
        bytes[8..].copy_from_slice(&page.to_le_bytes());
        self.entries += 1;
        self.sum = self.sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(&bytes));
    }
}

/// The sum over a run, if its entries are in order.
fn sum_of(run: &KeyRun) -> Result<Option<EntrySum>> {
    let (mut sum, mut last) = (EntrySum::default(), None);
    let mut entries = run.entries();
    while let Some(entry) = entries.next()? {
        if last.is_some_and(|last| last >= entry) {
            return Ok(None);
        }
        sum.add(entry);
        last = Some(entry);
    }
    Ok(Some(sum))
}

fn implied(reader: &CatalogueReader, span: PageRange) -> Result<EntrySum> {
    let mut sum = EntrySum::default();
    reader
        .urls_between(span.first, span.last, u64::MAX >> 1, |page, url| sum.add((short_key(UrlKey::of(url)), page)))?;
    Ok(sum)
}
