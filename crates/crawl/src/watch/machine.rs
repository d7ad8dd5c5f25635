//! How much of the machine does this process use, and how much is there?

use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::Serialize;

/// The machine at this moment. What the system does not report as Linux does is `None`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MachineState {
    /// Its name.
    pub name: Option<String>,
    /// Available cores.
    pub cores: usize,
    /// Threads that wanted to run on average, in the last minute, five and fifteen minutes.
    pub load: Option<[f64; 3]>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes of memory that programs can still have.
    pub memory_free: Option<u64>,
    /// Seconds since it was started.
    pub up_seconds: Option<f64>,
}

impl MachineState {
    /// Looks at the machine.
    pub fn now() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let memory = read("/proc/meminfo").unwrap_or_default();
        Self {
            name: read("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()),
            cores: cores(),
            load: read("/proc/loadavg").and_then(|text| load_averages(&text)),
            memory: memory_line(&memory, "MemTotal:"),
            memory_free: memory_line(&memory, "MemAvailable:"),
            up_seconds: read("/proc/uptime").and_then(|text| text.split(' ').next()?.parse().ok()),
        }
    }
}

fn load_averages(text: &str) -> Option<[f64; 3]> {
    let mut figures = text.split(' ').map_while(|figure| figure.parse().ok());
    Some([figures.next()?, figures.next()?, figures.next()?])
}

fn memory_line(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// CPU seconds of all threads so far.
#[expect(clippy::cast_precision_loss, reason = "seconds since the process began")]
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Resident memory in bytes; `None` if the system does not report it as Linux does.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    memory_line(&status, "VmRSS:")
}

/// How busy all cores were since boot, in comparable units: busy, and total. `None` if the system
/// does not report it as Linux does.
pub(crate) fn load() -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let cells = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    // user nice system idle iowait irq softirq steal; the rest is already included in user.
    let ticks: Vec<u64> = cells.take(8).map_while(|cell| cell.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((all.saturating_sub(idle), all))
}

/// Number of available cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_uses_some_of_both() {
        let before = cpu_seconds();
        let mut sum = 0u64;
        while cpu_seconds() - before < 0.01 {
            sum = sum.wrapping_mul(31).wrapping_add(1);
        }
        assert!(sum != 1 && resident().is_none_or(|bytes| bytes > 100_000));
        let machine = MachineState::now();
        assert!(machine.cores > 0 && machine.memory_free <= machine.memory, "{machine:?}");
        assert_eq!(load_averages("0.50 1.25 2.00 1/99 7\n"), Some([0.5, 1.25, 2.0]));
        assert!(load().is_none_or(|(busy, all)| busy > 0 && busy <= all));
    }
}
