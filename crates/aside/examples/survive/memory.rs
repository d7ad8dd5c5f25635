//! How much memory do the process that asks and its helper take at most?
//!
//! The kernel keeps the peak of every process (`VmHWM`) and forgets it on request
//! (`/proc/PID/clear_refs`), so that each document has a peak of its own.

use std::fs;

/// What a helper's peak counts as if it died: all that it was allowed.
pub(crate) const ALLOWED: u64 = 512 << 10;

/// A field of a process's status in kilobytes; `pid` may be `self`.
pub(crate) fn field(pid: &str, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Has the kernel forget the peak of a process.
pub(crate) fn forget_peak(pid: &str) {
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// The process that this one has started, if it is alive.
pub(crate) fn child() -> Option<String> {
    let own = std::process::id().to_string();
    let tasks = fs::read_dir("/proc/self/task").ok()?.flatten();
    // Helpers are started by a thread of their own.
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let listed = children.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).next();
    listed.or_else(|| {
        let all = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        all.filter(|name| name.bytes().all(|b| b.is_ascii_digit())).find(|pid| parent(pid).as_deref() == Some(&own))
    })
}

fn parent(pid: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")).map(|pid| pid.trim().to_owned())
}

/// The peaks of a helper, document by document, in kilobytes.
#[derive(Debug, Default)]
pub(crate) struct HelperPeaks(Vec<u64>);

impl HelperPeaks {
    /// Counts one.
    pub(crate) fn add(&mut self, peak: u64) {
        self.0.push(peak);
    }

    /// What this share of the documents did not exceed.
    pub(crate) fn quantile(&self, share: f64) -> u64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let place = (sorted.len() as f64 * share).ceil() as usize;
        sorted.get(place.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0)
    }
}
