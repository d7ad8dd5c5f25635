//! In which order are the changes of a run reported?
//!
//! A report is ordered by flag and URL, changes are stored in the order of their discovery, and
//! there is no index of URLs: to give one part of a report, all its URLs are read and sorted. For a
//! run that has ended the order does not change any more, so it is kept with the other figures: the
//! numbers of the changes, eight bytes each, of which a part of the report reads its own.

use crate::Collection;
use crate::kept::KeptRow;
use crate::status::may_go_on;
use orb_store::RunRecord;

/// The format that this program writes.
const FORMAT: u64 = 1;

/// Bytes of a number.
const WIDTH: u64 = 8;

/// The order of a report.
pub(crate) enum ReportOrder {
    /// As it is kept.
    Kept(KeptRow),
    /// As it was just made.
    Made(Vec<u64>),
}

impl ReportOrder {
    /// The order of a run's report, made if it is not kept yet; `None` for a run that has not ended
    /// or may be about to go on.
    pub(crate) fn of(collection: &Collection, run: &RunRecord) -> Option<Self> {
        let (project, name) = (collection.project(), format!("run-{}", run.id.0));
        // A run that is resumed ends again.
        let head = [FORMAT, run.started_at.0.cast_unsigned(), run.finished_at?.0.cast_unsigned()];
        if let Some(kept) = KeptRow::recall(project, &name, &head) {
            return Some(Self::Kept(kept));
        }
        if may_go_on(project, run) {
            return None;
        }
        let order = collection.catalogue().change_order(run.id).ok()?;
        let bytes: Vec<u8> = order.iter().flat_map(|number| number.to_le_bytes()).collect();
        KeptRow::keep(project, &name, &head, &bytes);
        Some(Self::Made(order))
    }

    /// At most so many numbers of changes, from a place in the order on.
    pub(crate) fn part(&self, from: u64, most: u64) -> Vec<u64> {
        match self {
            Self::Kept(row) => {
                let bytes = row.part(from.saturating_mul(WIDTH), most.saturating_mul(WIDTH));
                let numbers = bytes.chunks_exact(WIDTH as usize);
                numbers.map(|number| u64::from_le_bytes(number.try_into().unwrap_or_default())).collect()
            }
            Self::Made(order) => {
                let within = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(order.len());
                order[within(from)..within(from.saturating_add(most))].to_vec()
            }
        }
    }
}
