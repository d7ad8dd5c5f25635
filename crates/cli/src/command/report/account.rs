//! How did a run go, and is every document accounted for?

use crate::failure::Failure;
use anyhow::anyhow;
use orb_crawl::Counters;
use orb_page::{Flag, Moment, RunId};
use orb_store::{AckRow, CatalogueReader, FlagCounts, ProjectDir, ProjectLock};
use serde_json::{Map, Value, json};

/// The account of a run.
pub(super) struct Account {
    pub(super) id: RunId,
    /// `crawl` or `track`.
    pub(super) kind: String,
    /// How it ended, or that it has not.
    pub(super) state: String,
    pub(super) started_at: Moment,
    pub(super) finished_at: Option<Moment>,
    pub(super) counters: Counters,
    /// The documents by flag.
    pub(super) counts: FlagCounts,
    /// The previously known documents that it was to visit.
    pub(super) known: u64,
    pub(super) ack: Option<AckRow>,
}

/// The flags in display order.
pub(super) const FLAGS: [Flag; 5] = [Flag::New, Flag::Same, Flag::Updated, Flag::Missing, Flag::Error];

impl Account {
    /// The account of a run, by default the last one.
    pub(super) fn of(project: &ProjectDir, reader: &CatalogueReader, run: Option<u32>) -> Result<Self, Failure> {
        let name = &project.name;
        let record = match run {
            Some(run) => reader.run(RunId(run))?.ok_or_else(|| anyhow!("project {name} has no run {run}"))?,
            None => {
                let runs = reader.runs()?;
                runs.into_iter().next().ok_or_else(|| anyhow!("project {name} was never run; orb crawl does that"))?
            }
        };
        let counters: Counters = serde_json::from_str(&record.counters).unwrap_or_default();
        // A run may visit only some of the documents: those are what it has to account for.
        let known = if counters.known > 0 { counters.known } else { reader.known_before(record.id)? };
        let interrupted = record.state == "running" && !ProjectLock::is_held(project);
        Ok(Self {
            id: record.id,
            kind: record.kind,
            state: if interrupted { "interrupted".to_owned() } else { record.state },
            started_at: record.started_at,
            finished_at: record.finished_at,
            counters,
            counts: reader.flag_counts(record.id)?,
            known,
            ack: reader.ack(record.id)?,
        })
    }

    /// Previously known documents that the run did not reach.
    pub(super) fn unaccounted(&self) -> u64 {
        self.known.saturating_sub(self.counts.accounted())
    }

    /// `known before = SAM + UPD + MIS + ERR`, in numbers.
    pub(super) fn line(&self) -> String {
        let terms = FLAGS[1..].iter().map(|flag| format!("{} {flag}", crate::out::grouped(self.counts.of(*flag))));
        let sum = terms.collect::<Vec<_>>().join(" + ");
        let known = crate::out::grouped(self.known);
        match self.unaccounted() {
            0 => format!("known before: {known} = {sum}"),
            left => format!("known before: {known} = {sum} + {} not visited yet", crate::out::grouped(left)),
        }
    }

    /// The account as an object, to which the documents may be added.
    pub(super) fn object(&self, project: &str) -> Map<String, Value> {
        let flags: Map<String, Value> =
            FLAGS.iter().map(|flag| (flag.name().to_owned(), json!(self.counts.of(*flag)))).collect();
        let pairs = [
            ("project", json!(project)),
            ("run", json!(self.id.0)),
            ("kind", json!(self.kind)),
            ("state", json!(self.state)),
            ("started_at", json!(self.started_at.to_string())),
            ("finished_at", json!(self.finished_at.map(|at| at.to_string()))),
            ("seconds", json!(self.counters.seconds)),
            ("known", json!(self.known)),
            ("flags", Value::Object(flags)),
            ("accounted", json!(self.counts.accounted())),
            ("unaccounted", json!(self.unaccounted())),
            ("acknowledged", json!(self.ack)),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
