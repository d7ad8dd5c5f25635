//! Which pages did somebody ask us to visit next?
//!
//! People and programs that know of a change call (`orb intake`, the API, IndexNow, WebSub). Their
//! calls wait in `intake.jsonl` beside the catalogue, of which the recorder stays the only writer,
//! until a run takes them over into its own directory. How often the calls of a source were right
//! is kept in `intake.json`, by which the next ones are ordered.
//!
//! Any process may add during a run: the process that touches the files holds `intake.lock`,
//! briefly. A call is on disk before it is confirmed. A line that a crash cut off is no call.

use crate::error::{Result, StoreError};
use crate::home::ProjectDir;
use crate::replace::replace;
use orb_page::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// How many calls may wait.
pub const MOST_CALLS: usize = 100_000;

/// The longest URL of a call, in bytes: longer ones are not worth the room.
pub const LONGEST_CALL: usize = 4_096;

/// How many sources are remembered; those that were right least often are forgotten first.
const MOST_SOURCES: usize = 1_000;

/// The points of a crash while a file is replaced.
const POINTS: [&str; 2] = ["report-written", "report-kept"];

/// Somebody's wish that a page be visited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntakeCall {
    /// The project.
    pub project: String,
    /// The page.
    pub url: String,
    /// Who called.
    pub source: String,
    /// When.
    pub at: String,
}

/// What became of calls that were made together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IntakeReceipt {
    /// Calls that wait now.
    pub taken: u64,
    /// Calls for pages that were waiting already.
    pub waiting: u64,
    /// Calls for which there was no room.
    pub full: u64,
}

/// How far a source may be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRecord {
    /// Calls whose page was new, had changed or was gone.
    pub right: u64,
    /// Calls whose page was as before.
    pub wrong: u64,
    /// Calls for pages out of scope.
    pub outside: u64,
    /// Calls whose page was not visited, or with an error.
    pub unknown: u64,
}

impl SourceRecord {
    /// The chance that its next call is right, from what it has called so far: the mean of a beta
    /// distribution that begins as an even one.
    pub fn belief(&self) -> f64 {
        (self.right as f64 + 1.0) / ((self.right + self.wrong + self.outside) as f64 + 2.0)
    }

    fn add(&mut self, other: &Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.outside += other.outside;
        self.unknown += other.unknown;
    }
}

/// What is kept of sources.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SourceLedger {
    /// The last run that was counted.
    run: u32,
    sources: BTreeMap<String, SourceRecord>,
}

/// The intake of a project.
pub struct ProjectIntake<'p> {
    project: &'p ProjectDir,
}

impl ProjectDir {
    /// What somebody asked to be visited.
    pub fn intake(&self) -> ProjectIntake<'_> {
        ProjectIntake { project: self }
    }
}

impl ProjectIntake<'_> {
    fn calls(&self) -> PathBuf {
        self.project.dir.join("intake.jsonl")
    }

    fn ledger(&self) -> PathBuf {
        self.project.dir.join("intake.json")
    }

    fn calls_of(&self, run: RunId) -> PathBuf {
        self.project.run(run).join("intake.jsonl")
    }

    /// Keeps others from the files until it is dropped.
    fn lock(&self) -> Result<File> {
        let path = self.project.dir.join("intake.lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let locked = file.and_then(|file| file.lock().map(|()| file));
        locked.map_err(|e| StoreError::io("lock", &path, e))
    }

    /// Adds the calls of a source for pages that do not wait yet.
    pub fn add(&self, urls: &[String], source: &str, at: &str) -> Result<IntakeReceipt> {
        let _lock = self.lock()?;
        let path = self.calls();
        let before = read(&path)?;
        let mut known: HashSet<&str> = before.calls.iter().map(|call| call.url.as_str()).collect();
        let mut receipt = IntakeReceipt::default();
        // What a crash cut off ends here.
        let mut text = if before.is_torn { "\n".to_owned() } else { String::new() };
        for url in urls {
            if known.contains(url.as_str()) {
                receipt.waiting += 1;
            } else if known.len() >= MOST_CALLS || url.len() > LONGEST_CALL {
                receipt.full += 1;
            } else {
                known.insert(url);
                receipt.taken += 1;
                let (project, source, at) = (self.project.name.clone(), source.to_owned(), at.to_owned());
                text.push_str(&line(&IntakeCall { project, url: url.clone(), source, at }));
            }
        }
        if receipt.taken > 0 {
            let file = OpenOptions::new().append(true).create(true).open(&path);
            let written = file.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_data()));
            written.map_err(|e| StoreError::io("write", &path, e))?;
        }
        Ok(receipt)
    }

    /// The calls that wait, oldest first.
    pub fn waiting(&self) -> Result<Vec<IntakeCall>> {
        Ok(read(&self.calls())?.calls)
    }

    /// The calls that a run has taken over.
    pub fn taken_by(&self, run: RunId) -> Result<Vec<IntakeCall>> {
        Ok(read(&self.calls_of(run))?.calls)
    }

    /// Hands calls that wait over to a run: those that `choose` returns, of those it is given. What
    /// was called meanwhile stays. After a crash between the two files a call is in both, and the
    /// run takes it once.
    pub fn hand_over(&self, run: RunId, choose: impl FnOnce(Vec<IntakeCall>) -> Vec<IntakeCall>) -> Result<()> {
        let _lock = self.lock()?;
        let waiting = read(&self.calls())?.calls;
        let mut taken = read(&self.calls_of(run))?.calls;
        let mut known: HashSet<String> = taken.iter().map(|call| call.url.clone()).collect();
        let chosen = choose(waiting.clone());
        let gone: HashSet<String> = chosen.iter().map(|call| call.url.clone()).collect();
        if gone.is_empty() {
            return Ok(());
        }
        taken.extend(chosen.into_iter().filter(|call| known.insert(call.url.clone())));
        let place = self.calls_of(run);
        let dir = self.project.run(run);
        fs::create_dir_all(&dir).map_err(|e| StoreError::io("create", &dir, e))?;
        replace(&place, lines(&taken).as_bytes(), POINTS)?;
        let left: Vec<IntakeCall> = waiting.into_iter().filter(|call| !gone.contains(&call.url)).collect();
        replace(&self.calls(), lines(&left).as_bytes(), POINTS)
    }

    /// How far sources may be believed, by name.
    pub fn sources(&self) -> Result<BTreeMap<String, SourceRecord>> {
        Ok(self.read_ledger()?.sources)
    }

    fn read_ledger(&self) -> Result<SourceLedger> {
        let path = self.ledger();
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|e| StoreError::io("read", &path, e.into())),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(SourceLedger::default()),
            Err(e) => Err(StoreError::io("read", &path, e)),
        }
    }

    /// Remembers what became of the calls that a run took over; a run counts once.
    pub fn learn(&self, run: RunId, outcomes: &BTreeMap<String, SourceRecord>) -> Result<()> {
        let _lock = self.lock()?;
        let mut ledger = self.read_ledger()?;
        if ledger.run >= run.0 {
            return Ok(());
        }
        ledger.run = run.0;
        for (source, outcome) in outcomes {
            ledger.sources.entry(source.clone()).or_default().add(outcome);
        }
        while ledger.sources.len() > MOST_SOURCES {
            let least = ledger.sources.iter().min_by_key(|(_, record)| record.right);
            let Some(least) = least.map(|(source, _)| source.clone()) else { break };
            ledger.sources.remove(&least);
        }
        let text = serde_json::to_vec(&ledger).map_err(|e| StoreError::io("write", &self.ledger(), e.into()))?;
        replace(&self.ledger(), &text, POINTS)
    }
}

/// A file of calls.
struct CallFile {
    calls: Vec<IntakeCall>,
    /// Whether its last line has no end.
    is_torn: bool,
}

/// Reads a file of calls; lines that are none are passed over.
fn read(path: &Path) -> Result<CallFile> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
        Err(e) => return Err(StoreError::io("read", path, e)),
    };
    let calls = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ok(CallFile { calls, is_torn: !text.is_empty() && !text.ends_with('\n') })
}

fn line(call: &IntakeCall) -> String {
    // Strings alone always serialise.
    serde_json::to_string(call).map(|text| text + "\n").unwrap_or_default()
}

fn lines(calls: &[IntakeCall]) -> String {
    calls.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    fn project(dir: &Path) -> ProjectDir {
        Home::open(dir).unwrap().project("p").unwrap()
    }

    fn urls(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| format!("http://a.test/{name}")).collect()
    }

    fn paths(calls: &[IntakeCall]) -> Vec<&str> {
        calls.iter().map(|call| call.url.rsplit('/').next().unwrap()).collect()
    }

    #[test]
    fn calls_wait_once_until_a_run_takes_them() {
        let tmp = tempfile::tempdir().unwrap();
        let project = project(tmp.path());
        let intake = project.intake();
        assert_eq!(intake.add(&urls(&["a", "b", "a"]), "x", "t").unwrap().taken, 2);
        let again = intake.add(&urls(&["b", "c"]), "y", "t").unwrap();
        assert_eq!((again.taken, again.waiting, again.full), (1, 1, 0));
        let run = RunId(1);
        intake.hand_over(run, |calls| calls.into_iter().filter(|call| !call.url.ends_with('b')).collect()).unwrap();
        assert_eq!(paths(&intake.taken_by(run).unwrap()), ["a", "c"]);
        assert_eq!(paths(&intake.waiting().unwrap()), ["b"]);
        // The run is resumed, and something was called meanwhile.
        intake.add(&urls(&["a", "d"]), "x", "t").unwrap();
        intake.hand_over(run, |calls| calls).unwrap();
        assert_eq!(paths(&intake.taken_by(run).unwrap()), ["a", "c", "b", "d"]);
        assert_eq!(intake.waiting().unwrap(), []);
    }

    #[test]
    fn what_a_crash_cut_off_is_no_call_and_harms_no_other() {
        let tmp = tempfile::tempdir().unwrap();
        let project = project(tmp.path());
        let intake = project.intake();
        intake.add(&urls(&["a"]), "x", "t").unwrap();
        let whole = fs::read_to_string(intake.calls()).unwrap();
        fs::write(intake.calls(), format!("{whole}{{\"project\":\"p\",\"ur")).unwrap();
        intake.add(&urls(&["b"]), "x", "t").unwrap();
        assert_eq!(paths(&intake.waiting().unwrap()), ["a", "b"]);
    }

    #[test]
    fn no_more_wait_than_there_is_room_for() {
        let tmp = tempfile::tempdir().unwrap();
        let project = project(tmp.path());
        let many: Vec<String> = (0..=MOST_CALLS).map(|n| format!("http://a.test/{n}")).collect();
        let receipt = project.intake().add(&many, "x", "t").unwrap();
        assert_eq!((receipt.taken, receipt.full), (MOST_CALLS as u64, 1));
        let long = ["http://a.test/".to_owned() + &"x".repeat(LONGEST_CALL)];
        assert_eq!(project.intake().add(&long, "x", "t").unwrap().full, 1);
    }

    #[test]
    fn a_run_teaches_once_how_far_a_source_is_believed() {
        let tmp = tempfile::tempdir().unwrap();
        let project = project(tmp.path());
        let intake = project.intake();
        let outcome = |right, wrong| SourceRecord { right, wrong, ..SourceRecord::default() };
        let seen = BTreeMap::from([("good".to_owned(), outcome(3, 0)), ("bad".to_owned(), outcome(0, 3))]);
        intake.learn(RunId(2), &seen).unwrap();
        intake.learn(RunId(2), &seen).unwrap();
        let sources = intake.sources().unwrap();
        assert_eq!((sources["good"], sources["bad"]), (outcome(3, 0), outcome(0, 3)));
        assert_eq!([sources["good"].belief(), sources["bad"].belief()], [0.8, 0.2]);
        assert_eq!(SourceRecord::default().belief(), 0.5);
    }
}
