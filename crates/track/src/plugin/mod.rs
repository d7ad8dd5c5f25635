//! What does somebody's own program say of two versions of a page?
//!
//! `program` of a `[[track.compare]]` rule: started when it is first needed and kept, asked about one page after the other. Whatever it does
//! wrong is said of the page it was asked about; it is ended and started anew, so often and no more. The run goes on.

mod process;
mod protocol;

#[cfg(test)]
mod tests;

pub(crate) use protocol::{Answer, Question, Shown};

use process::Process;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Failures in a row after which a program is not asked any more.
const IN_A_ROW: u32 = 5;
/// How often a program is started in a run at most.
const MOST_STARTS: u32 = 100;

/// Characters of its command that name it.
const MOST_NAME: usize = 60;

/// A program that compares.
pub(crate) struct Program {
    command: Vec<String>,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
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
    /// A program that is started when it is needed.
    pub(crate) fn new(command: &[String], timeout: Duration) -> Self {
        Self { command: command.to_vec(), timeout, state: Mutex::default() }
    }

    /// Asks it about a page; a failure is one line that names it.
    pub(crate) fn ask(&self, question: &Question<'_>) -> Result<Answer, String> {
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

    fn answer(&self, state: &mut State, question: &Question<'_>) -> Result<Answer, String> {
        if state.failures >= IN_A_ROW {
            return Err(format!("failed {IN_A_ROW} times in a row and is not asked any more"));
        }
        if state.process.as_ref().is_some_and(Process::has_strayed) {
            state.process = None;
        }
        if state.process.is_none() && state.starts >= MOST_STARTS {
            return Err(format!("was started {MOST_STARTS} times and is not started any more"));
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
