//! What may a helper do?
//!
//! Read its input, compute, write its answer. Everything else is given up at birth, by limits that
//! the kernel keeps: no file, no connection, no process, no core dump, a bound on memory, and for
//! each document a bound on processor time.
//!
//! Two walls stand before files and connections. Landlock forbids to open files and TCP connections
//! whatever the process does; kernels without it, or with an older one, leave some of that out. The
//! limit on open files holds everywhere and for every kind of socket, UDP included: standard input,
//! output and error are all that a helper ever has. Code that has taken the process over could
//! close one of them to open something else, which is why it is the second wall and not the first.

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetError, Scope};
use landlock::{RestrictionStatus, RulesetStatus};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The descriptors that a helper has: input, output, errors. No other can be opened.
const OPEN_FILES: u64 = 3;

/// How much of Landlock the kernel enforces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Confinement {
    /// Neither files nor TCP connections can be opened.
    #[default]
    Whole,
    /// An older kernel: files cannot be opened, some kinds of connection may be left out.
    Partial,
    /// The kernel has no Landlock.
    Missing,
}

impl Confinement {
    /// What is left to be said about it.
    pub(crate) const fn lack(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Partial => Some("this kernel's Landlock is an older one and leaves some kinds of connection out"),
            Self::Missing => Some("this kernel has no Landlock"),
        }
    }
}

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

/// Gives up what a helper does not need. What the kernel does not know is left out, and said.
pub(crate) fn confine(limits: &HelperLimits) -> Confinement {
    let fixed = |resource, most: u64| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    fixed(Resource::As, limits.memory);
    fixed(Resource::Core, 0);
    fixed(Resource::Fsize, 0);
    fixed(Resource::Nproc, 0);
    let confinement = shut_in();
    // Last: Landlock opens a file of its own.
    fixed(Resource::Nofile, OPEN_FILES);
    confinement
}

/// Landlock without a single rule: no file can be opened, no connection made.
fn shut_in() -> Confinement {
    match restricted().map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => Confinement::Whole,
        Ok(RulesetStatus::PartiallyEnforced) => Confinement::Partial,
        Ok(RulesetStatus::NotEnforced) | Err(_) => Confinement::Missing,
    }
}

fn restricted() -> Result<RestrictionStatus, RulesetError> {
    let abi = ABI::V6;
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .restrict_self()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::process::Command;

    /// Tells the child which walls to stand behind, and at which address the test listens.
    const WALLS: &str = "ORB_TEST_WALLS";
    const ADDRESS: &str = "ORB_TEST_ADDRESS";
    const PLACE: &str = "ORB_TEST_PLACE";

    /// What a child prints when it has tried everything: what it succeeded in.
    fn tried(walls: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound").to_string();
        let place = std::env::temp_dir().join(format!("orb-confine-{}-{walls}", std::process::id()));
        fs::create_dir_all(&place).expect("a directory");
        fs::write(place.join("there"), "x").expect("a file");
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.args(["--exact", "confine::tests::a_child_tries_everything", "--nocapture", "--test-threads", "1"]);
        let output = child.env(WALLS, walls).env(ADDRESS, address).env(PLACE, &place).output().expect("it starts");
        let _ = fs::remove_dir_all(&place);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = told.lines().find_map(|line| line.split_once("succeeded:"));
        line.unwrap_or_else(|| panic!("{told} {}", String::from_utf8_lossy(&output.stderr))).1.trim().to_owned()
    }

    /// Not a test by itself: what [`tried`] starts.
    #[test]
    fn a_child_tries_everything() {
        let Ok(walls) = std::env::var(WALLS) else { return };
        let [address, place] = [ADDRESS, PLACE].map(|name| std::env::var(name).expect("set"));
        let place = Path::new(&place);
        let confinement = match walls.as_str() {
            "all" => confine(&HelperLimits { memory: 4 << 30, ..HelperLimits::default() }),
            "landlock" => shut_in(),
            _ => Confinement::Whole,
        };
        let ways: [(&str, bool); 7] = [
            ("read", File::open(place.join("there")).is_ok()),
            ("list", fs::read_dir(place).is_ok()),
            ("write", File::options().append(true).open(place.join("there")).is_ok()),
            ("create", File::create(place.join("new")).is_ok()),
            ("connect", TcpStream::connect(&address).is_ok()),
            ("datagram", UdpSocket::bind("127.0.0.1:0").is_ok_and(|socket| socket.send_to(b"x", &address).is_ok())),
            ("socket", UnixStream::pair().is_ok()),
        ];
        let succeeded: Vec<&str> = ways.iter().filter(|(_, so)| *so).map(|(way, _)| *way).collect();
        println!("succeeded: {confinement:?} {}", succeeded.join(" "));
    }

    #[test]
    fn a_confined_process_opens_no_file_and_no_connection() {
        assert_eq!(tried("none"), "Whole read list write create connect datagram socket");
        let all = tried("all");
        assert_eq!(all.split_once(' ').map_or("", |(_, ways)| ways), "", "{all}");
        // Landlock alone, where the kernel has it.
        let alone = tried("landlock");
        match alone.split_once(' ').unwrap_or((&alone, "")) {
            ("Whole", ways) => assert_eq!(ways, "datagram socket"),
            ("Partial", ways) => assert!(["read", "list", "write", "create"].iter().all(|way| !ways.contains(way))),
            (kernel, _) => assert_eq!(kernel, "Missing"),
        }
    }

    #[test]
    fn what_the_kernel_lacks_is_said() {
        assert_eq!(Confinement::Whole.lack(), None);
        assert!(Confinement::Missing.lack().is_some_and(|lack| lack.contains("no Landlock")));
    }
}
