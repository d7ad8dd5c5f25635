//! What did a run find new, the same, updated, missing?
//!
//! A report is the account of the run and then its documents. The documents may be many and are
//! streamed; account and documents are read in one transaction, so that they agree.

use crate::kept::{keep_run, recall_run};
use crate::order::ReportOrder;
use crate::versions::ChangedVersions;
use crate::{AnswerError, CHANGES, Collection, Result, RunStanding, is_attended};
use orb_page::{Flag, Moment, RunId};
use orb_store::{
    AckRow, CatalogueReader, FlagCounts, FlagTally, ReportFilter, ReportRow, RunCounters, RunRecord, StoreError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::io;

/// Which report is wanted.
#[derive(Clone, Debug, Default)]
pub struct ReportWish {
    /// The run; the last where none is named.
    pub run: Option<u32>,
    /// The flags of the documents that are listed; those of changes where none is named.
    pub flags: Vec<Flag>,
    /// Of the unchanged documents, list those that changed around their main content; only them
    /// where no flag is named.
    pub around: bool,
    /// Documents at most, where somebody said how many.
    pub limit: Option<u64>,
    /// Documents to leave out at the beginning.
    pub offset: u64,
}

/// How a run went, and whether every document is accounted for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunReport {
    /// The project.
    pub project: String,
    /// The run.
    pub run: u32,
    /// `crawl` or `track`.
    pub kind: String,
    /// How it ended, or that it has not.
    pub state: RunStanding,
    /// When it began.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub started_at: Moment,
    /// When it ended.
    #[serde(serialize_with = "maybe_as_text")]
    #[schemars(with = "Option<String>")]
    pub finished_at: Option<Moment>,
    /// Seconds of work.
    pub seconds: f64,
    /// The documents that were there before, of those it was to visit.
    pub known: u64,
    /// The documents by flag.
    pub flags: FlagTally,
    /// Unchanged documents that changed around their main content.
    pub around: u64,
    /// Documents that were there before and of which the run says something.
    pub accounted: u64,
    /// Documents that were there before and that the run did not come to.
    pub unaccounted: u64,
    /// Who looked at its changes.
    pub acknowledged: Option<AckRow>,
}

fn as_text<S: Serializer>(at: &Moment, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

fn maybe_as_text<S: Serializer>(at: &Option<Moment>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    at.map(|at| at.to_string()).serialize(serializer)
}

/// A report, while it is read.
pub struct Report<'a> {
    collection: &'a Collection,
    record: RunRecord,
    /// The account of the run.
    pub account: RunReport,
    counts: FlagCounts,
    /// The flags of the documents that are listed.
    pub flags: Vec<Flag>,
    /// Whether of the unchanged documents only those are listed that changed around their main
    /// content.
    pub around: bool,
    /// Documents at most, where somebody said how many.
    pub limit: Option<u64>,
    /// Documents that are left out at the beginning.
    pub offset: u64,
}

/// Reads a report: all of it is as the catalogue was at one moment.
pub fn report<T>(collection: &Collection, wish: &ReportWish, read: impl FnOnce(&Report<'_>) -> T) -> Result<T> {
    collection.catalogue().at_one_moment(|_| Ok(read(&Report::of(collection, wish)?)))
}

/// What the account of a run is made of. Counting it reads all visits of the run, so it is kept
/// once the run has ended: what a run saw does not change any more.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct AccountFigures {
    known: u64,
    counts: FlagCounts,
    around: u64,
}

impl AccountFigures {
    fn of(collection: &Collection, record: &RunRecord) -> Result<Self> {
        let (reader, project) = (collection.catalogue(), collection.project());
        if let Some(kept) = recall_run(project, record) {
            return Ok(kept);
        }
        let counters = RunCounters::of(&record.counters);
        // A run may be asked to visit only some of the documents: it has to account for those.
        let known = if counters.known > 0 { counters.known } else { reader.known_before(record.id)? };
        let counts = reader.flag_counts(record.id)?;
        let figures = Self { known, counts, around: reader.around_count(record.id)? };
        keep_run(project, record, &figures);
        Ok(figures)
    }
}

impl<'a> Report<'a> {
    fn of(collection: &'a Collection, wish: &ReportWish) -> Result<Self> {
        let (reader, name) = (collection.catalogue(), collection.name());
        let record = match wish.run {
            Some(run) => {
                let found = reader.run(RunId(run))?;
                found.ok_or_else(|| AnswerError::Unknown(format!("project {name} has no run {run}")))?
            }
            None => reader
                .last_run()?
                .ok_or_else(|| AnswerError::NotBuilt(format!("project {name} was never run; run orb crawl first")))?,
        };
        let AccountFigures { known, counts, around } = AccountFigures::of(collection, &record)?;
        let account = RunReport {
            project: name.to_owned(),
            run: record.id.0,
            state: RunStanding::of(&record, is_attended(collection.project())),
            kind: record.kind.name().to_owned(),
            started_at: record.started_at,
            finished_at: record.finished_at,
            seconds: RunCounters::of(&record.counters).seconds,
            known,
            flags: FlagTally {
                new: counts.of(Flag::New),
                same: counts.of(Flag::Same),
                updated: counts.of(Flag::Updated),
                missing: counts.of(Flag::Missing),
                error: counts.of(Flag::Error),
            },
            around,
            accounted: counts.accounted(),
            unaccounted: known.saturating_sub(counts.accounted()),
            acknowledged: reader.ack(record.id)?,
        };
        let ReportWish { around, limit, offset, .. } = *wish;
        let flags = match (wish.flags.is_empty(), around) {
            (true, true) => vec![Flag::Same],
            (true, false) => CHANGES.to_vec(),
            (false, _) => wish.flags.clone(),
        };
        Ok(Self { collection, record, account, counts, flags, around, limit, offset })
    }

    /// How many documents have this flag.
    pub fn count(&self, flag: Flag) -> u64 {
        self.counts.of(flag)
    }

    /// How many of them are to be listed.
    pub fn listed(&self, flag: Flag) -> u64 {
        if self.around && flag == Flag::Same { self.account.around } else { self.count(flag) }
    }

    /// How many documents are new, updated or gone.
    pub fn changed(&self) -> u64 {
        self.counts.changed()
    }

    /// Gives the documents that are listed, one by one; where the output fails, that is why it
    /// ends.
    pub fn each(&self, each: impl FnMut(ReportRow) -> io::Result<()>) -> Result<()> {
        self.each_of(&self.flags, u64::MAX, each)
    }

    /// The same for some flags, at most so many where nobody said how many.
    pub fn each_of(&self, flags: &[Flag], usual: u64, mut each: impl FnMut(ReportRow) -> io::Result<()>) -> Result<()> {
        let limit = self.limit.unwrap_or(usual);
        let (run, around, offset) = (RunId(self.account.run), self.around, self.offset);
        let each = |row| each(row).map_err(StoreError::Output);
        // All of it is served as fast by sorting once.
        match self.limit.and_then(|_| ReportOrder::of(self.collection, &self.record)) {
            Some(order) => self.each_in_order(&order, flags, (limit, offset), each),
            None => {
                let wanted = ReportFilter { run, flags, around, limit, offset };
                Ok(self.collection.catalogue().each_report_row(&wanted, each)?)
            }
        }
    }

    /// The same by an order that is known.
    fn each_in_order(
        &self,
        order: &ReportOrder,
        flags: &[Flag],
        (mut limit, mut offset): (u64, u64),
        mut each: impl FnMut(ReportRow) -> std::result::Result<(), StoreError>,
    ) -> Result<()> {
        let (reader, run) = (self.collection.catalogue(), RunId(self.account.run));
        let mut before = 0;
        for (flag, is_ordered) in CatalogueReader::report_flags(run) {
            let all = if is_ordered { self.count(flag) } else { self.listed(flag) };
            if flags.contains(&flag) {
                let (skipped, given) = (offset.min(all), limit.min(all - offset.min(all)));
                if is_ordered {
                    for seq in order.part(before + skipped, given) {
                        reader.change(seq)?.map_or(Ok(()), &mut each)?;
                    }
                } else if given > 0 {
                    let (flags, around) = (&[flag][..], self.around);
                    let wanted = ReportFilter { run, flags, around, limit: given, offset: skipped };
                    reader.each_report_row(&wanted, &mut each)?;
                }
                (limit, offset) = (limit - given, offset - skipped);
            }
            before += if is_ordered { all } else { 0 };
        }
        Ok(())
    }

    /// What an updated document said before, and what it says now.
    pub fn versions(&self, row: &ReportRow) -> ChangedVersions {
        // Settings that cannot be read say nothing against the versions.
        ChangedVersions::of(self.collection.archive(), row, self.collection.limits().unwrap_or_default())
    }
}
