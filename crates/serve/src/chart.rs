//! How do numbers become a picture?
//!
//! The server draws: coordinates are computed here, and a template writes them as SVG, which needs
//! neither script nor style attributes.

use orb_answers::{ListedRun, grouped};

/// Size of the picture in its own units.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;

/// Most units a bar is wide, so that few runs do not become walls.
const WIDEST: f64 = 28.0;

/// The changes of one run, as a bar.
pub(crate) struct TrendBar {
    pub(crate) run: u32,
    /// What it says when pointed at.
    pub(crate) title: String,
    pub(crate) parts: Vec<TrendPart>,
}

/// The changes of one run with one flag.
pub(crate) struct TrendPart {
    pub(crate) flag: &'static str,
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) width: String,
    pub(crate) height: String,
}

/// The changes of runs, given latest first. The first run, to which everything is new, would hide
/// all others and is left out.
pub(crate) fn trend(runs: &[ListedRun]) -> Vec<TrendBar> {
    let shown: Vec<&ListedRun> = runs.iter().rev().filter(|run| run.run > 1).collect();
    let most = shown.iter().map(|run| changed(run).iter().map(|(_, n)| n).sum::<u64>()).max().unwrap_or(0).max(1);
    let step = WIDTH / shown.len().max(1) as f64;
    let width = (step * 0.8).min(WIDEST);
    let bar = |(place, run): (usize, &&ListedRun)| {
        let mut top = HEIGHT;
        let mut parts = Vec::new();
        for (flag, count) in changed(run).into_iter().filter(|(_, n)| *n > 0) {
            let height = HEIGHT * count as f64 / most as f64;
            top -= height;
            let x = place as f64 * step + (step - width) / 2.0;
            let [x, y, width, height] = [x, top, width, height.max(1.0)].map(|n| format!("{n:.1}"));
            parts.push(TrendPart { flag, x, y, width, height });
        }
        let said: Vec<_> = changed(run).into_iter().map(|(flag, n)| format!("{flag} {}", grouped(n))).collect();
        TrendBar { run: run.run, title: format!("run {}: {}", run.run, said.join(", ")), parts }
    };
    shown.iter().enumerate().map(bar).collect()
}

fn changed(run: &ListedRun) -> [(&'static str, u64); 4] {
    let flags = &run.counters.flags;
    [("NEW", flags.new), ("UPD", flags.updated), ("MIS", flags.missing), ("ERR", flags.error)]
}
