//! How does the browser's process begin and end?
//!
//! A thread of its own starts it and waits for it: the kernel ends a child with a parent-death
//! signal when the *thread* that started it ends, so that no thread of a pool may do it.

use crate::{RenderConfig, RenderError};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// How much of the browser's last words is told.
const WORDS: usize = 400;

/// How long the end of a killed browser is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Our ends of the pipes.
pub(super) struct BrowserPipes {
    /// Commands go in here.
    pub(super) commands: OwnedFd,
    /// Answers come from here.
    pub(super) answers: OwnedFd,
}

/// A browser's process group.
pub(super) struct BrowserProcess {
    group: Pid,
    ended: Arc<Ended>,
    /// Its profile, removed when it is gone.
    profile: TempDir,
}

/// Whether a process has ended and was waited for.
#[derive(Default)]
struct Ended {
    is: AtomicBool,
    lock: Mutex<()>,
    told: Condvar,
}

impl BrowserProcess {
    /// Starts a browser with a new profile.
    pub(super) fn spawn(config: &RenderConfig, flags: &[String]) -> Result<(Self, BrowserPipes), RenderError> {
        let scratch = || tempfile::Builder::new().prefix("browser-").tempdir_in(&config.scratch);
        let profile = scratch().map_err(RenderError::local("make a directory for the browser"))?;
        let log = File::create(profile.path().join("stderr")).map_err(RenderError::local("write for the browser"))?;
        let (first, more) = config.keeper.split_first().ok_or(RenderError::NoBrowser)?;
        let mut command = Command::new(first);
        command.args(more).arg(&config.program).args(flags);
        command.arg(format!("--user-data-dir={}", profile.path().join("profile").display()));
        // Its own group: it is killed as a whole, and does not hear the user's interrupts.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let (mut child, ended) = waited_for(command)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (commands, answers) = pipes.ok_or_else(|| RenderError::Start("no pipes".to_owned()))?;
        let group = i32::try_from(child.id).ok().and_then(Pid::from_raw);
        let group = group.ok_or_else(|| RenderError::Start("no process".to_owned()))?;
        let pipes = BrowserPipes { commands: commands.into(), answers: answers.into() };
        Ok((Self { group, ended, profile }, pipes))
    }

    /// Ends the browser and everything it has started.
    pub(super) fn kill(&self) {
        // Fails only if nothing is left.
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    /// What it wrote last to its standard error.
    pub(super) fn last_words(&self) -> String {
        let read = || -> std::io::Result<String> {
            let mut file = File::open(self.profile.path().join("stderr"))?;
            let from = file.metadata()?.len().saturating_sub(4_096);
            file.seek(SeekFrom::Start(from))?;
            let mut text = Vec::new();
            file.read_to_end(&mut text)?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        let text = read().unwrap_or_default();
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        line.chars().take(WORDS).collect()
    }

    /// Memory of the whole group in bytes, shared pages counted once.
    pub(super) fn memory(&self) -> u64 {
        let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
        let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let group = self.group.as_raw_nonzero().get();
        pids.filter(|pid| group_of(*pid) == Some(group)).filter_map(proportional).sum()
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        self.kill();
        self.ended.wait(PATIENCE);
    }
}

impl Ended {
    fn tell(&self) {
        self.is.store(true, Ordering::Release);
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.told.notify_all();
    }

    fn wait(&self, at_most: Duration) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.told.wait_timeout_while(lock, at_most, |()| !self.is.load(Ordering::Acquire));
    }
}

/// What the thread that waits for a process leaves to us.
struct Started {
    id: u32,
    stdin: Option<std::process::ChildStdin>,
    stdout: Option<std::process::ChildStdout>,
}

/// Starts a process on a thread that waits for its end.
fn waited_for(mut command: Command) -> Result<(Started, Arc<Ended>), RenderError> {
    let ended = Arc::new(Ended::default());
    let (tell, told) = sync_channel::<std::io::Result<Started>>(1);
    let end = Arc::clone(&ended);
    let wait = move || {
        let spawned = command.spawn();
        let mut child: Child = match spawned {
            Ok(child) => child,
            Err(error) => return drop(tell.send(Err(error))),
        };
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let _ = tell.send(Ok(Started { id: child.id(), stdin: child.stdin.take(), stdout: child.stdout.take() }));
        let _ = child.wait();
        // What it has started must not outlive it.
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        end.tell();
    };
    let threads = RenderError::local("start a thread for the browser");
    std::thread::Builder::new().name("browser".into()).spawn(wait).map_err(threads)?;
    let started = told.recv().map_err(|_| RenderError::Start("its thread ended".to_owned()))?;
    Ok((started.map_err(RenderError::local("start the browser"))?, ended))
}

/// The process group of a process.
fn group_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(2)?.parse().ok()
}

/// The memory of a process, its share of what is shared.
fn proportional(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}
