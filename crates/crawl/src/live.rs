//! What does a run take up while it is under way?
//!
//! A thread looks once a second whether the project's file has changed. Of a new file it takes the
//! scope's rules and their default, `frontier.delay` and `[limits]`; everything else waits for the
//! next run. Only what differs from the file as it was counts, so that flags of this run hold until
//! the same setting is changed in the file.
//!
//! Rules hold at once for links that are read from now on and for pages whose turn comes. The
//! recorder re-evaluates what is queued, and what was left outside (`record/live.rs`), and notes
//! the new settings with the run when that is done: a run that ends earlier leaves it to the next.

use crate::config::Config;
use crate::drive::Errand;
use crate::drive::governor::Governor;
use crate::read::ReadRules;
use crate::record::Item;
use crate::record::live::RuleChange;
use crate::watch::journal::Journal;
use orb_fetch::raise_open_files;
use orb_project::{Schedule, Settings};
use orb_store::{FileStamp, ProjectDir};
use orb_urls::{Address, ScopeError};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// The settings of a run as they are now.
pub(crate) struct LiveSettings {
    project: ProjectDir,
    state: Mutex<LiveState>,
}

struct LiveState {
    /// What tells the file as it was last read from another.
    stamp: Option<FileStamp>,
    /// What it said.
    kept: Settings,
    /// What the run goes by.
    current: Settings,
}

/// What is changed in a run.
pub(crate) struct LiveParts {
    pub errand: Arc<Errand>,
    pub governor: Arc<Governor>,
    pub read: ReadRules,
    /// Bandwidth and connections where no hour of the schedule applies.
    pub line: (Option<u64>, usize),
    pub journal: Journal,
}

impl LiveSettings {
    /// The settings of a run that begins.
    pub(crate) fn begin(project: &ProjectDir, settings: &Settings) -> Arc<Self> {
        // The file first: if it is replaced between the two, it is read again.
        let stamp = stamp(project);
        let kept = Settings::kept(project).ok().flatten().unwrap_or_else(|| settings.clone());
        let state = LiveState { stamp, kept, current: settings.clone() };
        Arc::new(Self { project: project.clone(), state: Mutex::new(state) })
    }

    /// The settings as text, without passwords.
    pub(crate) fn text(&self) -> String {
        self.state().current.without_passwords().to_toml()
    }

    fn state(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for changes until it is stopped.
    pub(crate) fn watch(self: &Arc<Self>, parts: LiveParts) -> std::io::Result<SettingsWatcher> {
        let (live, (end, ended)) = (Arc::clone(self), channel::<()>());
        let look = move || {
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // The run continues whether that can be written down or not.
                let _ = match live.look(&parts) {
                    None => continue,
                    Some(Ok(line)) => {
                        tracing::info!("{line}");
                        parts.journal.log(&line)
                    }
                    Some(Err(line)) => {
                        tracing::warn!("{line}");
                        parts.journal.warn(&line)
                    }
                };
            }
        };
        let thread = std::thread::Builder::new().name("settings".into()).spawn(look)?;
        Ok(SettingsWatcher { end, thread })
    }

    /// Takes up what has changed; returns what is to be said about it, if anything: an error if it
    /// cannot be used.
    fn look(&self, parts: &LiveParts) -> Option<Result<String, String>> {
        let mut state = self.state();
        let stamp = stamp(&self.project);
        if stamp.is_none() || stamp == state.stamp {
            return None;
        }
        state.stamp = stamp;
        let unusable = |why: String| Err(format!("the settings were changed and are not used: {why}"));
        let now = match Settings::kept(&self.project).map(|kept| kept.map(|kept| (kept.examine(), kept))) {
            Ok(Some((Ok(()), now))) => now,
            Ok(Some((Err(wrong), _))) => return Some(unusable(wrong.to_string())),
            Ok(None) => return None,
            Err(error) => return Some(unusable(error.to_string())),
        };
        match state.take_up(now, parts) {
            Ok(news) if news.is_empty() => None,
            Ok(news) => Some(Ok(format!("the settings were changed: {}", news.join(", ")))),
            Err(error) => Some(unusable(error.to_string())),
        }
    }
}

impl LiveState {
    /// Takes up what differs from what the file said before; returns it in words.
    fn take_up(&mut self, now: Settings, parts: &LiveParts) -> Result<Vec<String>, ScopeError> {
        let mut news = Vec::new();
        let rules = (&now.scope.rules, now.scope.default);
        if rules != (&self.kept.scope.rules, self.kept.scope.default) {
            (self.current.scope.rules, self.current.scope.default) = (now.scope.rules.clone(), now.scope.default);
            self.apply_rules(parts)?;
            news.push(format!("rules ({} now)", now.scope.rules.len()));
        }
        if now.frontier.delay != self.kept.frontier.delay {
            self.current.frontier.delay = now.frontier.delay;
            parts.errand.shared.frontier().set_delay(now.frontier.delay.0);
            news.push(format!("delay {}", now.frontier.delay));
        }
        if now.limits != self.kept.limits {
            self.current.limits = now.limits.clone();
            let schedule = Schedule::new(now.limits.clone(), parts.line.0, parts.line.1);
            // As many as can be had: those that are open stay.
            let _ = raise_open_files(schedule.most_connections() as u64);
            parts.governor.set_schedule(schedule);
            news.push(format!("limits ({} now)", now.limits.schedule.len()));
        }
        self.kept = now;
        parts.errand.shared.wake.notify_one();
        Ok(news)
    }

    fn apply_rules(&self, parts: &LiveParts) -> Result<(), ScopeError> {
        let scope = &self.current.scope;
        let own = |step: &orb_project::StepSettings| step.rules.is_some().then(|| orb_project::number(&step.name));
        let own: Vec<u32> = self.current.steps.iter().filter_map(own).collect();
        let steps = parts.read.steps.iter().filter(|(step, _)| !own.contains(step)).map(|(_, rules)| &rules.scope);
        for shared in std::iter::once(&parts.read.scope).chain(steps) {
            shared.set_rules(&scope.rules, scope.default)?;
        }
        let read = parts.read.clone();
        let shared = &parts.errand.shared;
        shared.frontier().bar(Arc::new(move |url, step| !is_allowed(&read, url, step)));
        // Counted before it is sent, so that the run does not end before it is recorded.
        shared.pipeline.enter(0);
        let text = self.current.without_passwords().to_toml();
        parts.errand.record(Item::Rules(Box::new(RuleChange { text })));
        Ok(())
    }
}

/// Whether the rules allow a page of a step.
fn is_allowed(read: &ReadRules, url: &str, step: Option<u32>) -> bool {
    let (scope, _) = read.of(step);
    Address::from_canonical(url).is_ok_and(|address| scope.current().ruling(&address).is_allowed)
}

fn stamp(project: &ProjectDir) -> Option<FileStamp> {
    FileStamp::of(&project.settings())
}

/// The thread that looks at the file.
pub(crate) struct SettingsWatcher {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl SettingsWatcher {
    /// Stops it.
    pub(crate) fn finish(self) {
        drop(self.end);
        // A run does not fail because nobody looks at its file any more.
        let _ = self.thread.join();
    }
}

impl LiveParts {
    /// What is changed in this run.
    pub(crate) fn of(config: &Config, errand: &Arc<Errand>, governor: Arc<Governor>, journal: Journal) -> Self {
        let line = (config.fetch.bandwidth, config.fetch.connections);
        Self { errand: Arc::clone(errand), governor, read: config.read.clone(), line, journal }
    }
}
