//! How does one talk to a program that may hang, crash, flood or lie?
//!
//! Three threads: one writes what it is asked, one reads its answers line by line, one reads what it complains of. So nobody waits for the
//! program but the one who asks, and not longer than it may take. Lines, their number and the complaints are bounded; a program that is
//! ended takes what it started with it.

use super::protocol::one_line;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest answer, in bytes.
const MOST_ANSWER: u64 = 1 << 20;
/// Answers that wait to be taken.
const MOST_WAITING: usize = 4;
/// Bytes kept of what a program complains of.
const MOST_COMPLAINT: usize = 2_000;
/// How long a program that has closed its output may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// What came instead of an answer.
enum Silence {
    /// Its output ended.
    Ended,
    /// A line longer than any answer.
    Flood,
}

/// A program that runs.
pub(crate) struct Process {
    child: Child,
    questions: Option<SyncSender<Vec<u8>>>,
    answers: Receiver<Result<Vec<u8>, Silence>>,
    complaint: Arc<Mutex<Vec<u8>>>,
}

impl Process {
    /// Starts it.
    pub(crate) fn start(command: &[String]) -> Result<Self, String> {
        let (name, arguments) = command.split_first().ok_or("there is no program to start")?;
        let mut child = Command::new(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|why| format!("cannot be started: {why}"))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (questions, to_write) = sync_channel::<Vec<u8>>(1);
        let (to_answer, answers) = sync_channel(MOST_WAITING);
        let complaint = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&complaint);
        spawn(move || {
            let Some(mut stdin) = stdin else { return };
            while let Ok(line) = to_write.recv() {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        })?;
        spawn(move || stdout.into_iter().for_each(|out| listen(out, &to_answer)))?;
        spawn(move || stderr.into_iter().for_each(|err| keep(err, &kept)))?;
        Ok(Self { child, questions: Some(questions), answers, complaint })
    }

    /// Whether it said something that nobody asked for, or is gone.
    pub(crate) fn has_strayed(&self) -> bool {
        !matches!(self.answers.try_recv(), Err(TryRecvError::Empty))
    }

    /// Asks it, and waits for a line.
    pub(crate) fn ask(&mut self, line: Vec<u8>, timeout: Duration) -> Result<Vec<u8>, String> {
        let sent = self.questions.as_ref().is_some_and(|questions| questions.try_send(line).is_ok());
        if !sent {
            return Err(self.ending());
        }
        match self.answers.recv_timeout(timeout) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(Silence::Flood)) => Err("answered with more than 1 MB in a line".to_owned()),
            Ok(Err(Silence::Ended)) | Err(RecvTimeoutError::Disconnected) => Err(self.ending()),
            Err(RecvTimeoutError::Timeout) => Err(format!("did not answer within {timeout:?}{}", self.complains())),
        }
    }

    /// How it ended, and what it said last.
    fn ending(&mut self) -> String {
        let deadline = Instant::now() + GRACE;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => break "it closed its output".to_owned(),
            }
        };
        format!("ended ({status}){}", self.complains())
    }

    /// The last line of its complaints.
    fn complains(&self) -> String {
        let kept = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
        if last.is_empty() { String::new() } else { format!(": {}", one_line(last, 200)) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.questions = None;
        // Not ended yet, so that its number still means it and what it started.
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let named = thread::Builder::new().name("orb-plugin".to_owned());
    named.spawn(work).map(|_| ()).map_err(|why| format!("cannot be talked to: {why}"))
}

/// Hands on what a program answers, line by line.
fn listen(out: impl Read, answers: &SyncSender<Result<Vec<u8>, Silence>>) {
    let mut out = BufReader::new(out);
    loop {
        let mut line = Vec::new();
        let said = match out.by_ref().take(MOST_ANSWER).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Err(Silence::Ended),
            Ok(_) if line.ends_with(b"\n") => Ok(line),
            Ok(n) if n as u64 == MOST_ANSWER => Err(Silence::Flood),
            Ok(_) => Err(Silence::Ended),
        };
        let over = said.is_err();
        if answers.send(said).is_err() || over {
            return;
        }
    }
}

/// Keeps the end of what a program complains of.
fn keep(mut err: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4_096];
    while let Ok(n @ 1..) = err.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..n]);
        let over = kept.len().saturating_sub(MOST_COMPLAINT);
        kept.drain(..over);
    }
}
