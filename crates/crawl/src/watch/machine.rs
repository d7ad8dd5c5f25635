//! How much of the machine does this process use?

use rustix::time::{ClockId, clock_gettime};

/// CPU seconds of all threads so far.
#[expect(clippy::cast_precision_loss, reason = "seconds since the process began")]
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Resident memory in bytes; `None` if the system does not report it as Linux does.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
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
        assert!(load().is_none_or(|(busy, all)| busy > 0 && busy <= all));
    }
}
