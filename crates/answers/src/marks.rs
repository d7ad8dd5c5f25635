//! Which pages are of a kind, however rare it is?
//!
//! What a page is follows from its latest visit, so a list of the pages of one kind examines all of
//! them. Counting the statistics does so anyway: it leaves a byte for every page beside them, and
//! as long as nothing was recorded since, those of one kind, or those that wait, are found by a
//! look at the bytes.

use crate::kept::{FiguresMark, KeptRow};
use crate::{Collection, Result};
use orb_store::PageMark;

/// Under which name they are kept.
const KEPT: &str = "pages";

/// Bytes that are read at a time.
const READ: u64 = 1 << 16;

/// What every page is.
pub(crate) struct PageMarks(KeptRow);

/// Keeps what every page is, by its number.
pub(crate) fn keep_marks(collection: &Collection, mark: &FiguresMark, marks: &[PageMark]) {
    let bytes: Vec<u8> = marks.iter().map(|mark| mark.0).collect();
    KeptRow::keep(collection.project(), KEPT, &mark.numbers(), &bytes);
}

impl PageMarks {
    /// As they were counted, if nothing was recorded since.
    pub(crate) fn now(collection: &Collection) -> Result<Option<Self>> {
        let mark = FiguresMark::now(collection)?;
        Ok(KeptRow::recall(collection.project(), KEPT, &mark.numbers()).map(Self))
    }

    /// Whether any page after the first number and up to the second waits to be fetched.
    pub(crate) fn has_queued(&self, (after, last): (u64, u64)) -> bool {
        let part = self.0.part(after.saturating_add(1), last.saturating_sub(after));
        part.into_iter().any(|mark| PageMark(mark).is_queued())
    }

    /// The numbers of the pages after one that are wanted.
    pub(crate) fn after(&self, page: u64, wanted: impl Fn(PageMark) -> bool) -> impl Iterator<Item = u64> {
        // Number 0 is nobody's.
        let mut next = page.saturating_add(1);
        let parts = std::iter::from_fn(move || {
            let part = self.0.part(next, READ);
            let first = next;
            next = first.saturating_add(part.len() as u64);
            (!part.is_empty()).then_some((first, part))
        });
        parts.flat_map(move |(first, part)| {
            let found = part.iter().zip(first..).filter(|(mark, _)| wanted(PageMark(**mark))).map(|(_, page)| page);
            found.collect::<Vec<_>>()
        })
    }
}
