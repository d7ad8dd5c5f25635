//! Which projects are on the shared store, and how old is what we show of them?
//!
//! Everything that is shown of a shared project comes from its copy below the home, which looks
//! like a project of the home. The store itself is asked by threads of their own and never while
//! somebody waits: one lists the projects every few seconds, and whoever asks for a project whose
//! copy has become old has it brought up to date for whoever asks next. A copy is brought up to
//! date by one thread at a time. When the store does not answer, the copies stay as they are, and
//! every page says how old they are.

mod home;
mod schedule;
mod shown;

pub(crate) use home::ServedHome;
pub(crate) use schedule::keep_shared_schedule;
pub(crate) use shown::ShownProject;

use crate::error::ServeError;
use orb_answers::{
    AnswerError, ListedShared, SharedStatus, copied_at, refresh_copy, shared_copies, shared_projects, shared_status,
};
use orb_crawl::SharedAddress;
use orb_page::Moment;
use orb_project::{Home, ProjectDir, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How old a copy may be that is shown without another look at the store.
const FRESH: Duration = Duration::from_secs(3);

/// Between two looks at which projects there are.
const LISTED_EVERY: Duration = Duration::from_secs(5);

/// How many projects are looked at at once.
const AT_ONCE: usize = 8;

/// How long whoever has changed something on the store waits until that is seen here.
const PATIENCE: Duration = Duration::from_secs(3);

/// Between two looks of whoever waits.
const LOOK: Duration = Duration::from_millis(25);

/// The projects on the shared store.
pub(crate) struct SharedProjects {
    /// Where it is.
    pub(crate) at: SharedAddress,
    home: PathBuf,
    copies: PathBuf,
    view: Mutex<StoreView>,
}

/// What is known of the store.
#[derive(Default)]
struct StoreView {
    listed: Vec<ListedShared>,
    /// Since when it has not answered.
    away: Option<Instant>,
    looks: HashMap<String, ProjectLook>,
}

/// What is known of one of its projects.
#[derive(Default)]
struct ProjectLook {
    is_under_way: bool,
    /// When the last look at the project, and the last one at its copy, was over.
    watched: Option<Instant>,
    copied: Option<Instant>,
    problem: Option<CopyProblem>,
    seen: Option<SharedStatus>,
}

/// Why a copy is not brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CopyProblem {
    /// The store does not answer.
    StoreAway,
    /// Something else, which is in the server's log.
    Failed,
}

/// That a project is on a shared store, and how old what is shown of it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SharedMark {
    /// When its copy was last up to date; `None` before the first one is complete.
    pub(crate) copied_at: Option<String>,
    /// Why it is not brought up to date any more.
    pub(crate) problem: Option<CopyProblem>,
}

/// How a look at a project goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LookDepth {
    /// Its machines.
    Watch,
    /// These, and its copy is brought up to date.
    Copy,
}

impl SharedProjects {
    /// Those of a store, of which the copies are below this home.
    pub(crate) fn open(home: &Path, at: SharedAddress) -> Result<Arc<Self>, ServeError> {
        let copies = shared_copies(home, &at).map_err(|e| ServeError::Shared(e.to_string()))?;
        // Until the store has answered, those that were copied before are known.
        let known = copies.list()?.into_iter().map(|copy| ListedShared { project: copy.name, run: None });
        let view = Mutex::new(StoreView { listed: known.collect(), ..StoreView::default() });
        let shared = Arc::new(Self { at, home: home.to_owned(), copies: copies.path().to_owned(), view });
        let listed = Arc::downgrade(&shared);
        let keep_listing = move || {
            while let Some(shared) = listed.upgrade() {
                shared.list();
                drop(shared);
                std::thread::park_timeout(LISTED_EVERY);
            }
        };
        std::thread::Builder::new().name("shared".into()).spawn(keep_listing).map_err(ServeError::Start)?;
        Ok(shared)
    }

    fn view(&self) -> MutexGuard<'_, StoreView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks which projects there are.
    fn list(&self) {
        let listed = shared_projects(&self.at);
        let mut view = self.view();
        match listed {
            Ok(listed) => {
                view.looks.retain(|name, look| look.is_under_way || listed.iter().any(|one| one.project == *name));
                (view.listed, view.away) = (listed, None);
            }
            Err(error) => {
                if view.away.is_none() {
                    tracing::warn!("cannot list the projects of the shared store: {error}");
                }
                view.away.get_or_insert_with(Instant::now);
            }
        }
    }

    /// The names of its projects.
    pub(crate) fn names(&self) -> Vec<String> {
        self.view().listed.iter().map(|one| one.project.clone()).collect()
    }

    /// Whether it has a project of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.view().listed.iter().any(|one| one.project == name)
    }

    /// The run that is open, of a project whose copy is not there yet.
    pub(crate) fn open_run(&self, name: &str) -> Option<u32> {
        self.view().listed.iter().find(|one| one.project == name)?.run
    }

    /// The copies, by a connection of one's own.
    fn copies(&self) -> Result<Home, StoreError> {
        Home::open(&self.copies)
    }

    /// Where the copy of a project is, or will be.
    fn place(&self, name: &str) -> PathBuf {
        self.copies.join(name)
    }

    /// Has a project's copy brought up to date if it has become old; nobody waits for it.
    pub(crate) fn want(self: &Arc<Self>, name: &str) {
        self.begin(name, LookDepth::Copy, FRESH);
    }

    /// Has its machines looked at, without a copy.
    fn watch(self: &Arc<Self>, name: &str) {
        self.begin(name, LookDepth::Watch, FRESH);
    }

    /// Has the copies brought up to date of projects that are being worked on.
    pub(crate) fn attend(self: &Arc<Self>) {
        let open: Vec<String> =
            self.view().listed.iter().filter(|one| one.run.is_some()).map(|one| one.project.clone()).collect();
        open.iter().filter(|name| self.place(name).join("crawl.db").exists()).for_each(|name| self.want(name));
    }

    /// How the machines get on that work on projects with an open run, as last seen. They are
    /// looked at for whoever asks next.
    fn teams(self: &Arc<Self>) -> Vec<SharedStatus> {
        let open: Vec<String> =
            self.view().listed.iter().filter(|one| one.run.is_some()).map(|one| one.project.clone()).collect();
        open.iter().for_each(|name| self.watch(name));
        open.iter().filter_map(|name| self.machines(name)).collect()
    }

    /// Waits a moment until what was changed on the store is seen here.
    pub(crate) async fn catch_up(self: &Arc<Self>, name: &str) {
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE {
            // A look that was under way may have been too early.
            if self.view().looks.get(name).is_some_and(|look| look.copied.is_some_and(|at| at >= asked)) {
                return;
            }
            self.begin(name, LookDepth::Copy, asked.elapsed());
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Begins to look at a project, unless somebody does or did so within this time.
    fn begin(self: &Arc<Self>, name: &str, depth: LookDepth, fresh: Duration) {
        let mut view = self.view();
        if view.looks.values().filter(|look| look.is_under_way).count() >= AT_ONCE {
            return;
        }
        let look = view.looks.entry(name.to_owned()).or_default();
        let last = if depth == LookDepth::Copy { look.copied } else { look.watched };
        if look.is_under_way || last.is_some_and(|at| at.elapsed() < fresh) {
            return;
        }
        look.is_under_way = true;
        drop(view);
        let (shared, project) = (Arc::clone(self), name.to_owned());
        let begun = std::thread::Builder::new().name("copy".into()).spawn(move || shared.look(&project, depth));
        if begun.is_err() {
            self.view().looks.entry(name.to_owned()).or_default().is_under_way = false;
        }
    }

    /// Looks at a project.
    fn look(&self, name: &str, depth: LookDepth) {
        let begun = Instant::now();
        let seen = shared_status(&self.at, Some(name)).map(|mut all| all.pop());
        let copied = match (&seen, depth) {
            (Ok(_), LookDepth::Copy) => {
                shared_copies(&self.home, &self.at).and_then(|copies| refresh_copy(&copies, &self.at, name)).map(drop)
            }
            _ => Ok(()),
        };
        let failed = seen.as_ref().err().or(copied.as_ref().err()).and_then(|error| problem(name, error));
        let mut view = self.view();
        if failed == Some(CopyProblem::StoreAway) {
            view.away.get_or_insert(begun);
        }
        let look = view.looks.entry(name.to_owned()).or_default();
        look.is_under_way = false;
        look.watched = Some(begun);
        look.problem = failed;
        if depth == LookDepth::Copy {
            look.copied = Some(begun);
        }
        if let Ok(seen) = seen {
            look.seen = seen;
        }
    }

    /// How the machines of a project get on, as last seen.
    pub(crate) fn machines(&self, name: &str) -> Option<SharedStatus> {
        self.view().looks.get(name)?.seen.clone()
    }

    /// What there is to say about a copy.
    pub(crate) fn mark(&self, copy: &ProjectDir) -> SharedMark {
        let view = self.view();
        let away = view.away.map(|_| CopyProblem::StoreAway);
        let problem = away.or(view.looks.get(&copy.name).and_then(|look| look.problem));
        let copied_at = copied_at(copy).filter(|_| !copy.is_empty()).map(|at| at.to_string());
        SharedMark { copied_at, problem }
    }
}

/// What a failed look means; nothing if a command of ours uses the copy just now.
fn problem(name: &str, error: &AnswerError) -> Option<CopyProblem> {
    let cause = match error {
        AnswerError::Failed(cause) => cause.downcast_ref(),
        _ => None,
    };
    match cause {
        Some(StoreError::InUse { .. }) => None,
        Some(StoreError::StoreAway { .. } | StoreError::ArchiveAway { .. }) => Some(CopyProblem::StoreAway),
        _ => {
            tracing::warn!("cannot look at project {name} on the shared store: {error}");
            Some(CopyProblem::Failed)
        }
    }
}

impl SharedMark {
    /// The same in words.
    pub(crate) fn text(&self) -> String {
        let age = |at: Moment| ago(Moment::now().0.saturating_sub(at.0).max(0) / 1_000);
        let was = self.copied_at.as_deref().and_then(Moment::parse).map(|at| format!("shown as it was {}", age(at)));
        let what = match self.problem {
            None => "On a shared store",
            Some(CopyProblem::StoreAway) => "On a shared store, which does not answer",
            Some(CopyProblem::Failed) => {
                "On a shared store; why it cannot be brought up to date is in the server’s log"
            }
        };
        match was {
            Some(was) => format!("{what}; {was}."),
            None => format!("{what}; not copied yet."),
        }
    }
}

/// How long ago something was, in seconds, as people say it.
fn ago(seconds: i64) -> String {
    match seconds {
        0 => "just now".to_owned(),
        1..120 => format!("{seconds} s ago"),
        120..7_200 => format!("{} min ago", seconds / 60),
        7_200..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_copy_is_told_in_words() {
        assert_eq!(
            [0, 119, 120, 7_200, 200_000].map(ago),
            ["just now", "119 s ago", "2 min ago", "2 h ago", "2 days ago"]
        );
        let mark = |copied_at: Option<&str>, problem| SharedMark { copied_at: copied_at.map(str::to_owned), problem };
        assert_eq!(mark(None, None).text(), "On a shared store; not copied yet.");
        let away = mark(Some("2020-01-01T00:00:00Z"), Some(CopyProblem::StoreAway)).text();
        assert!(away.starts_with("On a shared store, which does not answer; shown as it was "), "{away}");
        assert!(away.ends_with(" days ago."), "{away}");
    }
}
