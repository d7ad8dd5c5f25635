//! What does the user see of an export, and how is it stopped?

use crate::args::{Common, ProgressStyle};
use crate::out;
use crate::signals::{self, SignalWatch};
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget};
use orb_crawl::Stop;
use std::io::{IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval of plain progress lines.
const PLAIN: Duration = Duration::from_secs(5);

/// The progress of an export, and the request to stop it.
pub(super) struct ExportMonitor {
    stop: Arc<Stop>,
    _listening: SignalWatch,
    bar: Option<ProgressBar>,
    plain: bool,
    said: Instant,
}

impl ExportMonitor {
    /// Shows progress; from now on Ctrl-C ends the export cleanly.
    pub(super) fn open(common: &Common) -> anyhow::Result<Self> {
        let stop = Stop::new();
        let listening = signals::watch(Arc::clone(&stop)).context("cannot listen to signals")?;
        let shown = !common.quiet && common.progress != ProgressStyle::None;
        let live = shown && common.progress == ProgressStyle::Auto && std::io::stderr().is_terminal();
        let bar = live.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5)));
        if let Some(bar) = &bar {
            let template = indicatif::ProgressStyle::with_template("{spinner} {msg}");
            bar.set_style(template.unwrap_or_else(|_| indicatif::ProgressStyle::default_spinner()));
        }
        Ok(Self { stop, _listening: listening, bar, plain: shown && !live, said: Instant::now() })
    }

    /// Reports progress on `what`; breaks off if the user asked to stop.
    pub(super) fn note(&mut self, what: &str, count: u64) -> ControlFlow<()> {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} {what}", out::grouped(count)));
            bar.tick();
        } else if self.plain && self.said.elapsed() >= PLAIN {
            self.said = Instant::now();
            let _ = writeln!(std::io::stderr(), "{} {what}", out::grouped(count));
        }
        if self.stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether the user asked to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }

    /// The same, for callers that count themselves.
    pub(super) fn watch(&mut self, what: &str) -> impl FnMut(u64) -> ControlFlow<()> {
        move |count| self.note(what, count)
    }

    /// Removes the display.
    pub(super) fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
