//! How is the program run as a user would?

use super::PATIENCE;
use super::catalogue::Catalogue;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The project's name in every test.
pub(crate) const PROJECT: &str = "p";

/// A home for one test, removed on drop.
pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    /// The program's home directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// A path for files outside the home.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The directory of the project.
    pub(crate) fn project(&self) -> PathBuf {
        self.path().join(PROJECT)
    }

    /// What the project's catalogue holds.
    pub(crate) fn catalogue(&self) -> Catalogue {
        Catalogue::open(&self.project().join("crawl.db"))
    }

    /// The project's WARC files, sorted by name.
    pub(crate) fn warcs(&self) -> Vec<PathBuf> {
        files(&self.project().join("warc"), ".warc.gz")
    }

    /// Runs a command to completion.
    pub(crate) fn orb<S: AsRef<OsStr>>(&self, args: &[S]) -> Finished {
        self.start(args, &[]).finish()
    }

    /// Crawls with `--json` into the project and asserts success.
    pub(crate) fn crawl<S: AsRef<str>>(&self, args: &[S]) -> Finished {
        let finished = self.orb(&crawling(args));
        finished.expect(0);
        finished
    }

    /// Starts a command with additional environment variables.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: &[S], environment: &[(&str, &str)]) -> Running {
        let mut command = self.command(args);
        command.envs(environment.iter().copied());
        Running::start(command)
    }

    /// A command with this home and an otherwise neutral environment.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orb"));
        command.args(args).arg("--home").arg(self.path()).current_dir(self.dir.path());
        for name in [
            "http_proxy",
            "https_proxy",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "NO_COLOR",
            "ORB_FAIL",
            "NNTPSERVER",
        ] {
            command.env_remove(name);
        }
        command
    }
}

/// The same command pinned to one core: the first that this process may run on.
pub(crate) fn on_one_core(command: &Command) -> Command {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    let first = allowed.split([',', '-']).next().unwrap();
    let mut pinned = Command::new("taskset");
    pinned.args(["--cpu-list", first]).arg(command.get_program()).args(command.get_args());
    pinned.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => pinned.env(name, value),
            None => pinned.env_remove(name),
        };
    }
    pinned
}

/// The arguments of a crawl into the project, with JSON output and without progress.
pub(crate) fn crawling<S: AsRef<str>>(args: &[S]) -> Vec<String> {
    let before = ["crawl"].into_iter();
    let after = ["--project", PROJECT, "--json", "--progress", "none"].into_iter();
    before.chain(args.iter().map(AsRef::as_ref)).chain(after).map(str::to_owned).collect()
}

/// The files of a directory with this suffix, sorted; empty if the directory is missing.
pub(crate) fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.to_str().unwrap().ends_with(ending));
    found.sort();
    found
}

/// The archive files below a directory.
pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = files(dir, ".warc.gz");
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        }
    }
    found
}

/// Crawls a seed with these settings, and tells the most memory that the crawling process had.
pub(crate) fn peak_of_crawl(home: &Home, seed: &str, settings: &str, longest: Duration) -> u64 {
    let project = home.beside("p.toml");
    std::fs::write(&project, format!("seeds = ['{seed}']\nfrontier.delay = '0s'\n{settings}")).unwrap();
    let (finished, peak) = home.start(&crawling(&[project.to_str().unwrap()]), &[]).watch(longest);
    finished.expect(0);
    peak
}

/// A running process.
pub(crate) struct Running {
    pid: Pid,
    what: String,
    output: Receiver<Output>,
    ended: bool,
}

impl Running {
    /// Starts it and captures its output.
    pub(crate) fn start(mut command: Command) -> Self {
        let what = format!("{command:?}");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let _ = sender.send(child.wait_with_output().unwrap());
        });
        Self { pid, what, output, ended: false }
    }

    /// Sends it a signal; ignored if it has exited.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(self.pid, signal);
    }

    /// Its number.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Its peak memory so far in bytes; `None` if it has exited.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid.as_raw_nonzero())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    }

    /// Waits for it to exit, at most this long, and tells the most memory it had.
    pub(crate) fn watch(mut self, longest: Duration) -> (Finished, u64) {
        let (begin, mut peak) = (Instant::now(), 0);
        loop {
            if let Some(finished) = self.ended() {
                return (finished, peak);
            }
            peak = self.peak_memory().unwrap_or(0).max(peak);
            assert!(begin.elapsed() < longest, "{} runs for longer than {longest:?}", self.what);
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits for it to exit.
    pub(crate) fn finish(mut self) -> Finished {
        match self.output.recv_timeout(PATIENCE) {
            Ok(output) => {
                self.ended = true;
                Finished::new(self.what.clone(), &output)
            }
            Err(RecvTimeoutError::Timeout) => panic!("did not end: {}", self.what),
            Err(RecvTimeoutError::Disconnected) => panic!("was lost: {}", self.what),
        }
    }

    /// Its result if it has exited. Consumes the output, so `finish` cannot be called afterwards.
    pub(crate) fn ended(&mut self) -> Option<Finished> {
        let output = self.output.try_recv().ok()?;
        self.ended = true;
        Some(Finished::new(self.what.clone(), &output))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(Signal::KILL);
        }
    }
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Finished {
    what: String,
    /// The exit code; `None` if it was killed by a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: Vec<u8>,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Finished {
    fn new(what: String, output: &Output) -> Self {
        let stderr = String::from_utf8(output.stderr.clone()).expect("stderr is UTF-8");
        Self { what, code: output.status.code(), stdout: output.stdout.clone(), stderr }
    }

    /// Standard output as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("stdout is UTF-8")
    }

    /// Standard output, or its last line, parsed as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let last = self.text().lines().last().unwrap_or_default();
        let read = serde_json::from_str(self.text()).or_else(|_| serde_json::from_str(last));
        read.unwrap_or_else(|error| panic!("no JSON ({error}): {self}"))
    }

    /// The number in a field of the JSON object.
    pub(crate) fn number(&self, field: &str) -> u64 {
        self.json()[field].as_u64().unwrap_or_else(|| panic!("no number {field}: {self}"))
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// The one-line error of a command that must have failed with this code.
    #[track_caller]
    pub(crate) fn complaint(&self, code: i32) -> &str {
        self.expect(code);
        let lines: Vec<&str> = self.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "not one clear line: {self}");
        assert!(!lines[0].contains("panicked"), "{self}");
        lines[0]
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stdout = String::from_utf8_lossy(&self.stdout);
        write!(f, "{}\nexit {:?}\nstdout: {stdout}\nstderr: {}", self.what, self.code, self.stderr)
    }
}
