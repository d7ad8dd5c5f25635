//! How does a command fail, and what does the user read then?

use orb_answers::AnswerError;
use orb_export::ExportError;
use orb_project::{ProjectError, StoreError};
use std::io::Write as _;
use std::process::ExitCode;

/// Why a command did not do what it should.
#[derive(Debug)]
pub(crate) enum CommandFailure {
    /// Wrong usage: exit 2.
    Usage(String),
    /// It failed: exit 1.
    Failed(anyhow::Error),
    /// It found what it looked for and already said so: exit 1 without another line.
    Found,
    /// Changes were found and `--fail-on-change` was given: exit 3.
    Changed,
    /// The user stopped it, and everything is saved: exit 130.
    Stopped,
    /// The reader of our output has gone: exit 0.
    OutputClosed,
}

impl CommandFailure {
    /// Prints the reason in one line on stderr and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(why) => {
                complain(&why);
                ExitCode::from(2)
            }
            Self::Failed(error) => {
                complain(&chain(&error));
                ExitCode::FAILURE
            }
            Self::Found => ExitCode::FAILURE,
            Self::Changed => ExitCode::from(3),
            Self::Stopped => ExitCode::from(130),
            Self::OutputClosed => ExitCode::SUCCESS,
        }
    }
}

/// One line on stderr; nothing can be done if even that fails.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "orb: {}", crate::out::harmless(line));
}

/// A failure in one line, for callers that continue.
pub(crate) fn one_line(failure: &CommandFailure) -> String {
    match failure {
        CommandFailure::Usage(why) => why.clone(),
        CommandFailure::Failed(error) => chain(error),
        CommandFailure::Found => "found what it looked for".to_owned(),
        CommandFailure::Changed => "something changed".to_owned(),
        CommandFailure::Stopped => "stopped".to_owned(),
        CommandFailure::OutputClosed => "the reader of the output went away".to_owned(),
    }
}

/// The causes in one line, without repetitions.
fn chain(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let text = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if line.contains(&text) {
            continue;
        }
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(&text);
    }
    match hint(error) {
        Some(hint) => format!("{line} ({hint})"),
        None => line,
    }
}

/// What the user can do about it, if known.
fn hint(error: &anyhow::Error) -> Option<&'static str> {
    match error.chain().find_map(of_store)? {
        StoreError::InUse { .. } => Some("wait for it to end, or stop it"),
        StoreError::NoSuchProject { .. } => Some("orb project list shows what is there"),
        StoreError::Damaged { .. } => Some(
            "orb check says what else is damaged; orb crawl --despite-damage continues without it if it is a WARC file",
        ),
        _ => None,
    }
}

/// The failure of the store that a cause is, or passes on as its own.
fn of_store<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a StoreError> {
    match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(ProjectError::Store(e)), _) | (_, Some(ExportError::Store(e))) => Some(e),
        _ => cause.downcast_ref(),
    }
}

impl<E: Into<anyhow::Error>> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        let error = error.into();
        if let Some(ExportError::Stopped) = error.downcast_ref() {
            return Self::Stopped;
        }
        if let Some(AnswerError::Malformed(why)) = error.downcast_ref() {
            return Self::Usage(why.clone());
        }
        if let Some(ProjectError::Malformed(why)) = error.downcast_ref() {
            return Self::Usage(why.clone());
        }
        if let Some(named @ StoreError::BadName { .. }) = error.chain().find_map(of_store) {
            return Self::Usage(named.to_string());
        }
        match error.downcast_ref::<std::io::Error>() {
            Some(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Failed(error),
        }
    }
}
