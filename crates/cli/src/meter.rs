//! What does the user see while a long command works?
//!
//! On a terminal a line that is redrawn; elsewhere a plain line now and then. A separate thread
//! draws the latest state; the command never waits for it.

use crate::args::{Common, ProgressStyle};
use crate::out;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A display that runs beside a command.
pub(crate) struct Meter {
    said: MeterState,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The latest state: the step, how much is done, and of how much (0 if unknown).
#[derive(Clone, Default)]
pub(crate) struct MeterState(Arc<Mutex<(&'static str, u64, u64)>>);

impl MeterState {
    /// Reports how far the command has come.
    pub(crate) fn tell(&self, step: &'static str, done: u64, of: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (step, done, of);
    }

    fn line(&self) -> String {
        let (step, done, of) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (done, of) {
            (0, _) => step.to_owned(),
            (done, 0) => format!("{step}: {}", out::grouped(done)),
            (done, of) => {
                let share = u128::from(done.min(of)) * 100 / u128::from(of);
                format!("{step}: {} of {} ({share} %)", out::grouped(done), out::grouped(of))
            }
        }
    }
}

impl Meter {
    /// Starts the display the user asked for, under a title.
    pub(crate) fn start(common: &Common, title: &str) -> Self {
        let said = MeterState::default();
        if common.quiet || common.progress == ProgressStyle::None {
            return Self { said, thread: None };
        }
        let live = common.progress == ProgressStyle::Auto && std::io::stderr().is_terminal();
        let (done, ended) = channel();
        let (told, title) = (said.clone(), title.to_owned());
        let thread = std::thread::spawn(move || {
            let bar = live.then(bar);
            let every = Duration::from_millis(if live { 100 } else { 5_000 });
            let begin = Instant::now();
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let line = format!("{title}  {}  {}", out::seconds(begin.elapsed().as_secs_f64()), told.line());
                match &bar {
                    Some(bar) => bar.set_message(line),
                    None => drop(writeln!(std::io::stderr(), "{line}")),
                }
            }
            if let Some(bar) = bar {
                bar.disable_steady_tick();
                bar.finish_and_clear();
            }
        });
        Self { said, thread: Some((done, thread)) }
    }

    /// Where to report progress.
    pub(crate) fn said(&self) -> MeterState {
        self.said.clone()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.thread.take() {
            drop(done);
            let _ = thread.join();
        }
    }
}

/// A spinner with a message.
pub(crate) fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = BarStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_as_much_as_is_known() {
        let said = MeterState::default();
        let line = |step, done, of| {
            said.tell(step, done, of);
            said.line()
        };
        assert_eq!(line("closing", 0, 0), "closing");
        assert_eq!(line("reading links", 1_200, 0), "reading links: 1,200");
        assert_eq!(line("reading pages", 1_500, 2_000), "reading pages: 1,500 of 2,000 (75 %)");
        assert_eq!(line("reading pages", 3, 2), "reading pages: 3 of 2 (100 %)");
    }
}
