//! How is a password typed?
//!
//! From a terminal it is asked for without being shown, twice; otherwise it is the first line of
//! standard input. It is never an argument: every user of the machine can read those.

use crate::failure::CommandFailure;
use anyhow::{Context as _, anyhow};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{BufRead as _, IsTerminal as _, Write as _, stderr, stdin};

/// The new password of a user.
pub(super) fn read(name: &str) -> Result<String, CommandFailure> {
    if !stdin().is_terminal() {
        return line();
    }
    let typed = hidden(&format!("Password of {name}: "))?;
    if typed != hidden("Once more: ")? {
        return Err(anyhow!("the two passwords differ").into());
    }
    Ok(typed)
}

/// Asks without showing what is typed.
fn hidden(question: &str) -> Result<String, CommandFailure> {
    write!(stderr(), "{question}")?;
    let quiet = Quiet::begin()?;
    let typed = line();
    drop(quiet);
    writeln!(stderr())?;
    typed
}

/// A terminal that does not show what is typed, until dropped.
struct Quiet(Termios);

impl Quiet {
    fn begin() -> Result<Self, CommandFailure> {
        let before = tcgetattr(stdin()).context("cannot ask for a password on this terminal")?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(stdin(), OptionalActions::Now, &silent).context("cannot hide what is typed")?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // It worked a moment ago.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

/// The next line of standard input.
fn line() -> Result<String, CommandFailure> {
    let mut line = String::new();
    if stdin().lock().read_line(&mut line).context("cannot read the password")? == 0 {
        return Err(anyhow!("there is no password on standard input").into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
