//! What does a user's own program say about two versions of a page?
//!
//! `program` of a `[[track.compare]]` rule: started on first use, kept running, and asked about one
//! page after another. Whatever it does wrong is reported for the page in question; it is killed
//! and restarted, up to a limit. The run continues.

mod process;
mod protocol;

#[cfg(test)]
mod tests;

pub(crate) use protocol::{ProgramAnswer, ProgramQuestion, ShownContent};

use process::Process;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Consecutive failures after which a program is no longer asked.
const IN_A_ROW: u32 = 5;
/// Maximum number of starts per run.
const MOST_STARTS: u32 = 100;

/// Characters of its command used as its name.
const MOST_NAME: usize = 60;

/// A comparison program.
pub(crate) struct Program {
    command: Vec<String>,
    timeout: Duration,
    state: Mutex<ProgramState>,
}

#[derive(Default)]
struct ProgramState {
    process: Option<Process>,
    asked: u64,
    starts: u32,
    failures: u32,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// A program that is started on first use.
    pub(crate) fn new(command: &[String], timeout: Duration) -> Self {
        Self { command: command.to_vec(), timeout, state: Mutex::default() }
    }

    /// Asks it about a page; errors are one line that names the program.
    pub(crate) fn ask(&self, question: &ProgramQuestion<'_>) -> Result<ProgramAnswer, String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.answer(&mut state, question);
        match &answer {
            Ok(_) => state.failures = 0,
            Err(_) => {
                state.failures += 1;
                state.process = None;
            }
        }
        answer.map_err(|why| format!("the program {} {why}", protocol::one_line(&self.command.join(" "), MOST_NAME)))
    }

    fn answer(&self, state: &mut ProgramState, question: &ProgramQuestion<'_>) -> Result<ProgramAnswer, String> {
        if state.failures >= IN_A_ROW {
            return Err(format!("failed {IN_A_ROW} times in a row and is no longer used"));
        }
        if state.process.as_ref().is_some_and(Process::has_strayed) {
            state.process = None;
        }
        if state.process.is_none() && state.starts >= MOST_STARTS {
            return Err(format!("was started {MOST_STARTS} times and is not started again"));
        }
        let process = match &mut state.process {
            Some(process) => process,
            None => {
                state.starts += 1;
                state.process.insert(Process::start(&self.command)?)
            }
        };
        state.asked += 1;
        let line = process.ask(protocol::question(state.asked, question), self.timeout)?;
        protocol::answer(state.asked, &line)
    }
}
