//! What may a helper do?
//!
//! Read its input, compute, write its answer. Everything else is given up at birth, by limits that
//! the kernel keeps: no file, no connection, no process, no core dump, a bound on memory, and for
//! each document a bound on processor time. Kernels without Landlock enforce the rest.

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, Scope};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// What a helper may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelperLimits {
    /// Bytes of address space.
    pub memory: u64,
    /// Processor time for a document, in whole seconds.
    pub cpu: Duration,
    /// Time for a document, whatever it waits for.
    pub wall: Duration,
}

impl Default for HelperLimits {
    fn default() -> Self {
        Self { memory: 512 << 20, cpu: Duration::from_secs(10), wall: Duration::from_secs(20) }
    }
}

/// Gives up what a helper does not need. What the kernel does not know is left out.
pub(crate) fn confine(limits: &HelperLimits) {
    let fixed = |resource, most: u64| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    fixed(Resource::As, limits.memory);
    fixed(Resource::Core, 0);
    fixed(Resource::Fsize, 0);
    fixed(Resource::Nproc, 0);
    let _ = shut_in();
    // Last: Landlock opens a file of its own.
    fixed(Resource::Nofile, 16);
}

/// Landlock without a single rule: no file can be opened, no connection made.
fn shut_in() -> Result<(), RulesetError> {
    let abi = ABI::V6;
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .restrict_self()?;
    Ok(())
}

/// Processor time that this process has used.
pub(crate) fn cpu_used() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(used.tv_sec).unwrap_or(0), u32::try_from(used.tv_nsec).unwrap_or(0))
}

/// Allows this much more processor time. Beyond it, the kernel ends the process.
pub(crate) fn allow_cpu(more: Duration) {
    let until = (cpu_used() + more).as_secs() + 1;
    let hard = getrlimit(Resource::Cpu).maximum;
    let until = hard.map_or(until, |hard| until.min(hard));
    let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(until), maximum: hard });
}
