//! How does the index of a copy come to hold what workers have indexed?
//!
//! Before pages are read from the archive ([`super::catch_up`]), the splits that the copy knows of
//! and has not looked at yet are downloaded, one at a time, and the documents that are lacking are
//! taken over from them. Which ones are is for the catalogue to say: the page must have been
//! fetched when the catalogue says it was. So of two documents of one page the later is taken, and
//! one whose batch never happened is not. Whatever cannot be used is left to the archive.

use crate::CrawlError;
use orb_answers::index::{each_searchable, stale_pages};
use orb_index::{IndexSplitReader, PageIndexWriter, SplitEntry, Stems};
use orb_page::{Moment, PageId};
use orb_store::{CatalogueReader, CopySplits, ProjectDir, SplitRow, StoreError};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Splits between two commits.
const TOGETHER: usize = 32;

/// What was taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatheredSplits {
    /// Splits that were downloaded.
    pub splits: u64,
    /// Pages that were taken over from them.
    pub pages: u64,
    /// Splits that could not be used.
    pub unfit: u64,
}

/// A page that an index lacks: its number, when it was fetched, and what it duplicates.
type LackingPage = (PageId, Moment, PageId);

/// What an index lacks, by number.
struct Lacking {
    pages: Vec<LackingPage>,
    taken: Vec<bool>,
    left: usize,
}

/// Brings into an index what the splits of its project have and it lacks; `go_on` is asked before
/// each of them.
pub(super) fn gather(
    project: &ProjectDir,
    stems: &Stems,
    writer: &mut PageIndexWriter,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<GatheredSplits, CrawlError> {
    let mut gathered = GatheredSplits::default();
    let Some(splits) = CopySplits::of(project)? else { return Ok(gathered) };
    let mut seen = SeenSplits::of(project);
    let new: Vec<&SplitRow> = splits.rows.iter().filter(|row| !seen.objects.contains(&row.object)).collect();
    if new.is_empty() {
        return Ok(gathered);
    }
    let mut lacking = Lacking::of(project, &writer.holdings()?)?;
    let place = project.dir.join("split");
    fs::create_dir_all(&place).map_err(CrawlError::TextIndex)?;
    let (file, dir) = (place.join("packed"), place.join("index"));
    for some in new.chunks(TOGETHER) {
        for row in some {
            // Of those that follow there is nothing to take.
            if lacking.left == 0 {
                break;
            }
            if !go_on() {
                return Ok(gathered);
            }
            gathered.splits += 1;
            let unfit = match fetched(&splits, row, (&file, &dir), stems)? {
                Ok(split) => {
                    gathered.pages += writer.take_over(&split, &mut |entry| lacking.take(entry))?;
                    continue;
                }
                Err(why) => why,
            };
            tracing::warn!("the split {}: {unfit}; its pages are read from the archive", row.object);
            gathered.unfit += 1;
        }
        if writer.uncommitted() > 0 {
            writer.commit(None)?;
        }
        seen.objects.extend(some.iter().map(|row| row.object.clone()));
        seen.keep();
    }
    // What is left here is made again the next time.
    let _ = fs::remove_dir_all(&place);
    Ok(gathered)
}

/// Downloads and unpacks a split, or says why it cannot be used. An archive that is away is an
/// error: pages could not be read from it either.
fn fetched(
    splits: &CopySplits,
    row: &SplitRow,
    (file, dir): (&Path, &Path),
    stems: &Stems,
) -> Result<Result<IndexSplitReader, String>, CrawlError> {
    match splits.fetch(row, file) {
        Err(e @ StoreError::ArchiveAway { .. }) => return Err(e.into()),
        Err(e) => return Ok(Err(e.to_string())),
        Ok(()) => {}
    }
    match IndexSplitReader::unpack(file, dir, stems) {
        Err(e) if e.is_unfit() => Ok(Err(e.to_string())),
        other => Ok(Ok(other?)),
    }
}

impl Lacking {
    /// What an index with these pages lacks.
    fn of(project: &ProjectDir, held: &[(PageId, Moment)]) -> Result<Self, CrawlError> {
        let reader = CatalogueReader::open(project)?;
        reader.at_one_moment(|reader| {
            let (missing, _) = stale_pages(reader, held)?;
            let mut pages = Vec::with_capacity(missing.len());
            each_searchable(reader, |page| {
                if missing.binary_search(&page.page).is_ok() {
                    pages.push((page.page, page.at, page.duplicate_of.unwrap_or(page.page)));
                }
                Ok::<_, CrawlError>(())
            })?;
            Ok(Self { taken: vec![false; pages.len()], left: pages.len(), pages })
        })
    }

    /// Whether a document is what is lacking; only once.
    fn take(&mut self, entry: SplitEntry) -> bool {
        let Ok(place) = self.pages.binary_search_by_key(&entry.page, |(page, ..)| *page) else { return false };
        let (_, at, cluster) = self.pages[place];
        // Whom it duplicates may have become known later, from another worker. Search finds
        // duplicates by their SimHash as well; a page without one has to be read again.
        let is_right = entry.at == at && (entry.cluster == cluster || entry.hashed);
        if is_right && !self.taken[place] {
            self.taken[place] = true;
            self.left -= 1;
            return true;
        }
        false
    }
}

/// The splits that an index has been filled from, noted beside it: one that is rebuilt has seen
/// none.
struct SeenSplits {
    path: PathBuf,
    objects: BTreeSet<String>,
}

impl SeenSplits {
    fn of(project: &ProjectDir) -> Self {
        let path = project.text_index().join("splits.json");
        // What is not known is downloaded again, for nothing.
        let text = fs::read(&path).unwrap_or_default();
        Self { path, objects: serde_json::from_slice(&text).unwrap_or_default() }
    }

    fn keep(&self) {
        let _ = fs::write(&self.path, serde_json::to_vec(&self.objects).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_taken_once_and_only_as_the_catalogue_knows_it() {
        let page = |number, at, of| (PageId(number), Moment(at), PageId(of));
        let pages = vec![page(3, 30, 3), page(4, 40, 3), page(9, 90, 9)];
        let mut lacking = Lacking { taken: vec![false; 3], left: 3, pages };
        let entry = |(page, at, cluster), hashed| SplitEntry { page, at, cluster, hashed };
        assert!(!lacking.take(entry(page(3, 29, 3), true)), "from an earlier visit");
        assert!(!lacking.take(entry(page(5, 50, 5), true)), "of a page that is not lacking");
        assert!(lacking.take(entry(page(3, 30, 3), false)));
        assert!(!lacking.take(entry(page(3, 30, 3), false)), "taken already");
        assert!(!lacking.take(entry(page(4, 40, 4), false)), "nothing says that it is a duplicate");
        assert!(lacking.take(entry(page(4, 40, 4), true)));
        assert_eq!(lacking.left, 1);
    }
}
