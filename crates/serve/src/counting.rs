//! Who counts what takes long?
//!
//! Some figures take a scan of the whole catalogue, which on a large collection is a minute.
//! Nobody waits for that: a thread counts, one count at a time, and keeps the figures beside the
//! catalogue (see `orb_answers`); whoever asked waits a moment and is then shown what is there,
//! which says how old it is. While a run changes a collection, it is counted again at most for a
//! tenth of the time.

use crate::desk::OpenShelf;
use crate::problem::ProblemDetails;
use crate::request::AdmittedRequest;
use orb_answers::{
    AnswerError, Collection, CountStanding, CrawlStats, Health, HealthWish, ReportWish, Window, counted_health,
    counted_stats, health, is_beyond_kept, is_running, report, stats, uncounted_health,
};
use orb_project::ProjectDir;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::watch::{Receiver, Sender, channel};

/// How long whoever asked waits for a count: small collections are counted by then.
const PATIENCE: Duration = Duration::from_millis(800);

/// Between two looks of a thread that waits.
const LOOK: Duration = Duration::from_millis(20);

/// How long a kind of problem may take in the background.
const TIME: Duration = Duration::from_secs(900);

/// A pause after a count is this many times as long as the count.
const PAUSE: u32 = 9;

/// Counts that are remembered.
const REMEMBERED: usize = 1_024;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CountedFigure {
    /// What a collection contains, and the account of its last run.
    Stats,
    /// The problems of every kind; those since this run are new.
    Health(Option<u32>),
}

/// How a count ended.
#[derive(Clone, Copy, Debug)]
struct CountEnd {
    at: Instant,
    took: Duration,
    has_failed: bool,
}

/// When a count began, and how it ends.
#[derive(Clone)]
struct CountUnderWay {
    begun: Instant,
    end: Receiver<Option<CountEnd>>,
}

impl CountEnd {
    fn is_recent(&self) -> bool {
        self.at.elapsed() < self.took * PAUSE
    }
}

/// The counts that go on, and those that have ended.
#[derive(Default)]
pub(crate) struct Counting {
    counts: Mutex<HashMap<(PathBuf, CountedFigure), CountUnderWay>>,
    turn: Arc<Mutex<()>>,
}

impl Counting {
    /// Has something counted, and waits for it a moment; not for one that has been going on for
    /// longer.
    pub(crate) async fn wait(&self, project: &ProjectDir, figure: CountedFigure) {
        if let Some(mut count) = self.start(project, figure) {
            // It may take longer, or have failed: the figures that are kept say so.
            let left = PATIENCE.saturating_sub(count.begun.elapsed());
            let _ = tokio::time::timeout(left, count.end.wait_for(Option::is_some)).await;
        }
    }

    /// The same for a thread that may wait.
    fn wait_here(&self, project: &ProjectDir, figure: CountedFigure) {
        let Some(count) = self.start(project, figure) else { return };
        while count.end.borrow().is_none() && count.begun.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
        }
    }

    /// Has something counted, unless that was done just now; a count that goes on is enough.
    fn start(&self, project: &ProjectDir, figure: CountedFigure) -> Option<CountUnderWay> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (project.dir.clone(), figure);
        if let Some(count) = counts.get(&key) {
            match *count.end.borrow() {
                Some(end) if end.is_recent() && (end.has_failed || is_running(project)) => return None,
                None if count.end.has_changed().is_ok() => return Some(count.clone()),
                _ => {}
            }
        }
        if counts.len() >= REMEMBERED {
            counts.retain(|_, count| count.end.borrow().is_none());
        }
        let (told, end) = channel(None);
        let count = CountUnderWay { begun: Instant::now(), end };
        let (project, turn) = (project.clone(), Arc::clone(&self.turn));
        let thread = std::thread::Builder::new().name("count".into());
        // Without a thread nothing is counted, and the next question tries again.
        thread.spawn(move || count_in_turn(project, figure, (&turn, &told))).ok()?;
        counts.insert(key, count.clone());
        Some(count)
    }
}

fn count_in_turn(project: ProjectDir, figure: CountedFigure, (turn, told): (&Mutex<()>, &Sender<Option<CountEnd>>)) {
    let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = Instant::now();
    // Figures that cannot be counted are not there, and a question that needs them says why.
    let has_failed = count(project, figure).is_err();
    drop(turn);
    told.send_replace(Some(CountEnd { at: Instant::now(), took: begun.elapsed(), has_failed }));
}

fn count(project: ProjectDir, figure: CountedFigure) -> Result<(), AnswerError> {
    let collection = Collection::of(project)?;
    match figure {
        CountedFigure::Stats => {
            stats(&collection)?;
            report(&collection, &ReportWish::default(), |_| ())
        }
        CountedFigure::Health(run) => health(&collection, HealthWish { run, time: TIME }).map(drop),
    }
}

/// What a collection contains, and when that was counted if something was recorded since.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CountedStats {
    /// The numbers.
    #[serde(flatten)]
    stats: CrawlStats,
    /// When they were counted, if something was recorded since.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_at: Option<String>,
}

impl AdmittedRequest {
    /// Has the project's statistics counted if something was recorded since, and waits a moment.
    pub(crate) async fn count_stats(&self) -> Result<(), ProblemDetails> {
        let look = |collection: &Collection| counted_stats(collection).map(|found| found.map(|(_, age)| age));
        if !self.ask(look).await?.is_some_and(|age| age.is_current) {
            self.state.counting.wait(self.project()?, CountedFigure::Stats).await;
        }
        Ok(())
    }

    /// The project's statistics as they were last counted.
    pub(crate) async fn stats(&self) -> Result<CountedStats, ProblemDetails> {
        self.count_stats().await?;
        let found = self.ask(counted_stats).await?;
        let (stats, age) = found.ok_or_else(|| ProblemDetails::busy("it is being counted; ask again"))?;
        Ok(CountedStats { stats, counted_at: (!age.is_current).then(|| age.at.to_string()) })
    }

    /// A place among the queries for rows of problems that were not kept with the counts: to find
    /// them takes as long, and threads that answer others must be left.
    pub(crate) fn health_turn(&self, wanted: Window) -> Result<Option<OwnedSemaphorePermit>, ProblemDetails> {
        is_beyond_kept(wanted).then(|| self.state.query_turn()).transpose()
    }

    /// The problems of the project as they were last counted.
    pub(crate) async fn health(&self, run: Option<u32>) -> Result<Health, ProblemDetails> {
        let wish = HealthWish { run, time: TIME };
        let found = self.ask(move |collection| counted_health(collection, wish)).await?;
        if let Some(found) = found.filter(|found| found.standing == CountStanding::Current) {
            return Ok(found);
        }
        self.state.counting.wait(self.project()?, CountedFigure::Health(run)).await;
        self.ask(move |collection| known_health(collection, wish)).await
    }
}

/// The problems as they were last counted; the kinds alone if they never were.
fn known_health(collection: &Collection, wish: HealthWish) -> Result<Health, AnswerError> {
    counted_health(collection, wish)?.map_or_else(|| uncounted_health(collection, wish), Ok)
}

impl Counting {
    /// The problems of a project as they were last counted, for a thread that may wait a moment.
    pub(crate) fn health_here(&self, shelf: &OpenShelf, project: &ProjectDir) -> Result<Health, ProblemDetails> {
        let wish = HealthWish { run: None, time: TIME };
        let known = || shelf.ask(project.clone(), |collection| known_health(collection, wish));
        let found = known()?;
        if found.standing == CountStanding::Current {
            return Ok(found);
        }
        self.wait_here(project, CountedFigure::Health(None));
        known()
    }
}
