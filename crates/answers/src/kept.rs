//! Which figures are kept, so that nobody counts twice?
//!
//! Some questions take a scan of the whole catalogue. Their answers are kept in `figures/` beside
//! it, each with a mark of the catalogue it was counted from: the same mark means the same figures.
//! The mark holds the last batch and the end of the last run, since a run corrects some facts
//! between its last batch and its end. Figures are derived: what cannot be read is counted again,
//! and what cannot be written is not kept.

use crate::status::may_go_on;
use crate::{Collection, Result};
use orb_page::Moment;
use orb_store::{ProjectDir, RunRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The format that this program writes. Figures of another are counted again.
const FORMAT: u32 = 3;

/// What figures were counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FiguresMark {
    format: u32,
    batch: u64,
    nonce: u64,
    run: u32,
    pages: u64,
    sources: u64,
    finished_at: Option<i64>,
}

impl FiguresMark {
    /// The mark of the catalogue as it is now.
    pub(crate) fn now(collection: &Collection) -> Result<Self> {
        let reader = collection.catalogue();
        let (extent, last) = (reader.extent()?, reader.last_run()?);
        Ok(Self {
            format: FORMAT,
            batch: extent.batch,
            nonce: extent.nonce,
            run: extent.run.0,
            pages: extent.pages,
            sources: extent.sources,
            finished_at: last.and_then(|run| run.finished_at).map(|at| at.0),
        })
    }
}

impl FiguresMark {
    /// The same as numbers.
    pub(crate) fn numbers(&self) -> [u64; 7] {
        let Self { format, batch, nonce, run, pages, sources, finished_at } = *self;
        let finished_at = finished_at.map_or(0, i64::cast_unsigned);
        [format.into(), batch, nonce, run.into(), pages, sources, finished_at]
    }
}

/// Figures, what they were counted from, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptFigures<T> {
    mark: FiguresMark,
    /// When they were counted.
    pub(crate) at: Moment,
    /// The figures.
    pub(crate) figures: T,
}

impl<T> KeptFigures<T> {
    /// Figures that were just counted.
    pub(crate) fn new(mark: FiguresMark, figures: T) -> Self {
        Self { mark, at: Moment::now(), figures }
    }

    /// Whether they are those of a catalogue with this mark.
    pub(crate) fn is_of(&self, mark: &FiguresMark) -> bool {
        self.mark == *mark
    }
}

fn place(project: &ProjectDir, name: &str) -> PathBuf {
    project.dir.join("figures").join(format!("{name}.json"))
}

/// The figures of this name as they were last kept.
pub(crate) fn recall<T: DeserializeOwned>(project: &ProjectDir, name: &str) -> Option<KeptFigures<T>> {
    let text = fs::read(place(project, name)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Keeps figures under a name, if the disk lets us.
pub(crate) fn keep<T: Serialize>(project: &ProjectDir, name: &str, kept: &KeptFigures<T>) {
    if let Ok(text) = serde_json::to_vec(kept) {
        write(project, &place(project, name), &text);
    }
}

fn write(project: &ProjectDir, place: &Path, text: &[u8]) {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    // Another process, or another thread, may be keeping the same.
    let unfinished = place.with_extension(format!("{}-{number}.new", std::process::id()));
    let dir = fs::create_dir_all(place.parent().unwrap_or(&project.dir));
    let written = dir.and_then(|()| fs::write(&unfinished, text)).and_then(|()| fs::rename(&unfinished, place));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
}

/// A long row of figures, of which some are read: behind numbers that say what they were counted
/// from.
pub(crate) struct KeptRow {
    file: File,
    begin: u64,
    end: u64,
}

fn head_bytes(head: &[u64]) -> Vec<u8> {
    head.iter().flat_map(|number| number.to_le_bytes()).collect()
}

impl KeptRow {
    /// The row of this name, if it was counted from what these numbers say.
    pub(crate) fn recall(project: &ProjectDir, name: &str, head: &[u64]) -> Option<Self> {
        let file = File::open(row_place(project, name)).ok()?;
        let (head, end) = (head_bytes(head), file.metadata().ok()?.len());
        let row = Self { file, begin: head.len() as u64, end };
        let mut found = vec![0; head.len()];
        row.file.read_exact_at(&mut found, 0).ok()?;
        (found == head).then_some(row)
    }

    /// Keeps a row, if the disk lets us.
    pub(crate) fn keep(project: &ProjectDir, name: &str, head: &[u64], row: &[u8]) {
        write(project, &row_place(project, name), &[&head_bytes(head), row].concat());
    }

    /// At most so many bytes from a place in the row on; none where they cannot be read.
    pub(crate) fn part(&self, from: u64, most: u64) -> Vec<u8> {
        let begin = self.begin.saturating_add(from);
        let length = self.end.saturating_sub(begin).min(most);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        if self.file.read_exact_at(&mut bytes, begin).is_err() {
            bytes.clear();
        }
        bytes
    }
}

fn row_place(project: &ProjectDir, name: &str) -> PathBuf {
    project.dir.join("figures").join(format!("{name}.row"))
}

/// What is kept of a run: when it had ended, and figures of it. A run that is resumed ends again.
#[derive(Serialize, Deserialize)]
struct EndedRun<T> {
    format: u32,
    started_at: i64,
    finished_at: i64,
    figures: T,
}

fn run_place(project: &ProjectDir, run: &RunRecord) -> PathBuf {
    place(project, &format!("run-{}", run.id.0))
}

/// The figures of a run, if they were kept since it has ended.
pub(crate) fn recall_run<T: DeserializeOwned>(project: &ProjectDir, run: &RunRecord) -> Option<T> {
    let finished_at = run.finished_at?.0;
    let kept: EndedRun<T> = serde_json::from_slice(&fs::read(run_place(project, run)).ok()?).ok()?;
    let is_same = (kept.format, kept.started_at, kept.finished_at) == (FORMAT, run.started_at.0, finished_at);
    is_same.then_some(kept.figures)
}

/// Keeps figures of a run that has ended, unless something is being written that may resume it.
pub(crate) fn keep_run<T: Serialize>(project: &ProjectDir, run: &RunRecord, figures: &T) {
    let Some(finished_at) = run.finished_at.filter(|_| !may_go_on(project, run)) else { return };
    let kept = EndedRun { format: FORMAT, started_at: run.started_at.0, finished_at: finished_at.0, figures };
    if let Ok(text) = serde_json::to_vec(&kept) {
        write(project, &run_place(project, run), &text);
    }
}
