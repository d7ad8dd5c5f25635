//! How are runs started and stopped?
//!
//! A run is a process of its own: `orb crawl` or `orb track`, the program that also serves, with
//! the flags of this server. It has a process group of its own, so that what ends the server does
//! not end the crawl; its output goes to a file, not to a pipe that would break. The project's lock
//! says whether it runs, whoever started it, and which process to send SIGTERM to. A server that is
//! restarted therefore finds every run as it was.
//!
//! What was started, by whom, and how it ended is in `launch.json` of the project
//! ([`LaunchRecord`]); who asked for a run also in `runs/<n>/asked.json`.
//!
//! A run on a shared store is started in the same way: the process begins it there and works on it.
//! Whether it runs is known by the store, and it is stopped there, for all machines at once. Where
//! the store is, and its password, the process learns from its environment.

mod order;
mod record;
mod there;
mod watch;

pub(crate) use order::{acknowledge_run, begun, start_run, stop_run};
pub(crate) use record::{LaunchRecord, asked_by, last_words};
pub(crate) use watch::LaunchState;

use crate::problem::ProblemDetails;
use crate::whole::whole;
use orb_answers::{AckRow, RunStanding, is_shared_copy, last_run};
use orb_crawl::{CrawlError, SharedAddress, may_begin};
use orb_page::{Moment, RunKind};
use orb_project::{AskedProject, Home, ProjectDir, ProjectLock, acknowledge, acknowledge_shared};
use rustix::process::{Pid, Signal, kill_process};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch as channel;
use watch::Outset;

/// How this program is started again, for runs.
#[derive(Clone)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// The flags that every command gets: where the home is, and what is printed.
    pub flags: Vec<OsString>,
    /// What its environment has besides that of this process: where shared projects are.
    pub environment: Vec<(&'static str, OsString)>,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment holds secrets.
        f.debug_struct("Launch").field("program", &self.program).field("flags", &self.flags).finish_non_exhaustive()
    }
}

/// Who asks for a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchedBy<'a> {
    /// As it is recorded.
    pub(crate) name: &'a str,
    /// The run on the shared store that is meant, if no other will do.
    pub(crate) run: Option<u32>,
}

impl<'a> From<&'a str> for LaunchedBy<'a> {
    fn from(name: &'a str) -> Self {
        Self { name, run: None }
    }
}

/// What a run is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LaunchKind {
    /// Collect what is in scope, or resume that.
    Crawl,
    /// Revisit what is known.
    Track,
}

impl LaunchKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Track => "track",
        }
    }
}

impl From<RunKind> for LaunchKind {
    fn from(kind: RunKind) -> Self {
        if kind == RunKind::Track { Self::Track } else { Self::Crawl }
    }
}

/// A run that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunWish {
    /// What to do.
    pub(crate) kind: LaunchKind,
    /// Visit only the pages that are due under the project's budget.
    #[serde(default)]
    pub(crate) due: bool,
    /// Visit this many of the known pages, the most worthwhile first.
    #[serde(default, deserialize_with = "whole")]
    pub(crate) budget: Option<u64>,
}

impl RunWish {
    /// The arguments of the command.
    fn arguments(&self, project: &str) -> Vec<String> {
        let mut out = vec![self.kind.name().to_owned(), project.to_owned()];
        match (self.kind, self.due, self.budget) {
            (LaunchKind::Crawl, ..) | (_, false, None) => {}
            (_, true, _) => out.push("--due".to_owned()),
            (_, false, Some(visits)) => out.extend(["--budget".to_owned(), visits.max(1).to_string()]),
        }
        out
    }
}

/// A run that was started: its state as far as the server that started it knows.
pub(crate) type Launched = channel::Receiver<LaunchState>;

/// Starts runs.
pub(crate) struct Launcher {
    launch: Option<Launch>,
    /// Where shared projects are.
    at: Option<SharedAddress>,
    /// Projects whose run was started and has not ended yet.
    under_way: Arc<Mutex<HashSet<String>>>,
}

impl Launcher {
    pub(crate) fn new(launch: Option<Launch>) -> Self {
        Self { launch, at: None, under_way: Arc::default() }
    }

    /// The same with runs on a shared store.
    pub(crate) fn reaching(self, at: Option<SharedAddress>) -> Self {
        Self { at, ..self }
    }

    /// The store on which a project is; `None` if it is one of the home.
    fn store_of(&self, project: &ProjectDir) -> Option<&SharedAddress> {
        self.at.as_ref().filter(|_| is_shared_copy(project))
    }

    /// Another command of this program, for this home.
    pub(crate) fn command(&self, arguments: &[String]) -> Result<Command, ProblemDetails> {
        let launch = self.launch.as_ref().ok_or_else(|| ProblemDetails::failed(&"no program to start"))?;
        Ok(launch.command(arguments))
    }

    /// How many runs of this server are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether a run of this project is.
    pub(crate) fn is_under_way(&self, project: &str) -> bool {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).contains(project)
    }

    /// Starts a run, unless its project is in use, on hold, or has settings that nothing can be
    /// done with.
    pub(crate) fn start(
        &self,
        home: &Home,
        project: &ProjectDir,
        wish: &RunWish,
        by: LaunchedBy<'_>,
    ) -> Result<Launched, ProblemDetails> {
        let launch = self.launch.as_ref().ok_or_else(|| ProblemDetails::failed(&"no program to start runs with"))?;
        let running = || ProblemDetails::conflict("running", format!("project {} is running", project.name));
        if let Some(at) = self.store_of(project) {
            there::may_start(project, wish)?;
            let place = self.occupy(&project.name).ok_or_else(running)?;
            let before = Outset::There(Box::new(there::SharedOutset::of(at, &project.name)?));
            let arguments = there::arguments(wish, &project.name, by.run);
            return begin(home, (launch, &arguments), project, (wish.kind, by.name), (before, place));
        }
        let asked = AskedProject::kept(home, &project.name)?;
        asked.settings.examine().map_err(ProblemDetails::unprocessable)?;
        if wish.kind == LaunchKind::Track {
            may_begin(project, &asked.settings)?;
        }
        let place = self.occupy(&project.name).ok_or_else(running)?;
        if ProjectLock::is_held(project) {
            return Err(running());
        }
        let before = Outset::Here(watch::Before::of(project));
        let arguments = wish.arguments(&project.name);
        begin(home, (launch, &arguments), project, (wish.kind, by.name), (before, place))
    }

    /// Asks the run of this number to end with everything saved.
    pub(crate) fn end(&self, home: &Home, project: &ProjectDir, run: u32, by: &str) -> Result<(), ProblemDetails> {
        let ended = || ProblemDetails::conflict("ended", format!("run {run} of project {} does not run", project.name));
        let stopped = format!("stopped run {run} of project {}", project.name);
        if let Some(at) = self.store_of(project) {
            there::end(at, &project.name, run)?.then_some(()).ok_or_else(ended)?;
            return Ok(home.accounts().note(Some(by), &stopped)?);
        }
        let last = last_run(project)?.ok_or_else(ended)?;
        if last.id.0 != run || !RunStanding::of(&last, ProjectLock::is_held(project)).is_running() {
            return Err(ended());
        }
        let pid = ProjectLock::holder(project).and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let pid = pid.ok_or_else(ended)?;
        home.accounts().note(Some(by), &stopped)?;
        let refused =
            |e| ProblemDetails::conflict("refused", format!("cannot stop process {}: {e}", pid.as_raw_nonzero()));
        kill_process(pid, Signal::TERM).map_err(refused)
    }

    /// Records that somebody has looked at the changes of a run and of all before it; of the last
    /// one if none is named.
    pub(crate) fn acknowledge(
        &self,
        home: &Home,
        project: &ProjectDir,
        run: Option<u32>,
        (by, note): (&str, Option<&str>),
    ) -> Result<AckRow, ProblemDetails> {
        let row = match self.store_of(project) {
            Some(at) => acknowledge_shared((at, &project.name), run, Some(by), note)?,
            None => acknowledge(project, run, Some(by), note)?,
        };
        home.accounts().note(Some(by), &format!("acknowledged run {} of project {}", row.run, project.name))?;
        Ok(row)
    }

    /// Marks a project as started; `None` if it is already.
    fn occupy(&self, project: &str) -> Option<Occupied> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = under_way.insert(project.to_owned());
        is_free.then(|| Occupied { under_way: Arc::clone(&self.under_way), project: project.to_owned() })
    }
}

/// A project whose run is under way, until dropped.
struct Occupied {
    under_way: Arc<Mutex<HashSet<String>>>,
    project: String,
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.project);
    }
}

impl Launch {
    /// A command of this program.
    fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).args(&self.flags).args(["--progress", "none", "--json"]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Starts the process of a run, and has it waited for.
fn begin(
    home: &Home,
    (launch, arguments): (&Launch, &[String]),
    project: &ProjectDir,
    (kind, by): (LaunchKind, &str),
    (before, place): (Outset, Occupied),
) -> Result<Launched, ProblemDetails> {
    home.accounts().note(Some(by), &format!("started a {} of project {}", kind.name(), project.name))?;
    let child = spawn(launch.command(arguments), project).map_err(|e| ProblemDetails::failed(&e))?;
    let record = LaunchRecord::new(kind, by, child.id());
    watch::watch(child, project.clone(), record, (before, place)).map_err(|e| ProblemDetails::failed(&e))
}

fn spawn(mut command: Command, project: &ProjectDir) -> std::io::Result<Child> {
    // Of a project on a shared store nothing may be here yet.
    std::fs::create_dir_all(&project.dir)?;
    let told = File::create(LaunchRecord::told_at(project))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(told);
    command.process_group(0).spawn()
}

impl From<CrawlError> for ProblemDetails {
    fn from(error: CrawlError) -> Self {
        match error {
            CrawlError::Store(error) => error.into(),
            CrawlError::Held { .. } => Self::conflict("held", error),
            CrawlError::Unfinished { .. } => Self::conflict("unfinished", error),
            other => Self::unprocessable(other),
        }
    }
}

/// Now, as it is written down.
fn now() -> String {
    Moment::now().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_a_command_line() {
        let line = |kind, due, budget| RunWish { kind, due, budget }.arguments("p").join(" ");
        assert_eq!(line(LaunchKind::Crawl, true, Some(3)), "crawl p");
        assert_eq!(line(LaunchKind::Track, false, None), "track p");
        assert_eq!(line(LaunchKind::Track, true, Some(3)), "track p --due");
        assert_eq!(line(LaunchKind::Track, false, Some(0)), "track p --budget 1");
    }

    #[test]
    fn a_project_is_started_once_at_a_time() {
        let launcher = Launcher::new(None);
        let first = launcher.occupy("p").unwrap();
        assert!(launcher.occupy("p").is_none() && launcher.occupy("q").is_some());
        drop(first);
        assert!(launcher.occupy("p").is_some());
        assert_eq!(launcher.under_way(), 0);
    }
}
