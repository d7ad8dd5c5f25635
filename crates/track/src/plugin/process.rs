//! How do we talk to a program that may hang, crash, flood or lie?
//!
//! With three threads: one writes requests, one reads answers line by line, one reads standard
//! error. So only the caller waits for the program, and no longer than the timeout. The length and
//! number of lines and the size of the error output are bounded. Killing the program kills its
//! whole process group.

use super::protocol::one_line;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum length of an answer in bytes.
const MOST_ANSWER: u64 = 1 << 20;
/// Capacity of the answer queue.
const MOST_WAITING: usize = 4;
/// How much of standard error is kept, in bytes.
const MOST_COMPLAINT: usize = 2_000;
/// How long a program may take to exit after closing its output.
const GRACE: Duration = Duration::from_millis(500);

/// What came instead of an answer.
enum Silence {
    /// Its output ended.
    Ended,
    /// A line longer than the maximum.
    Flood,
}

/// A running program.
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

    /// Whether it wrote something unasked, or has exited.
    pub(crate) fn has_strayed(&self) -> bool {
        !matches!(self.answers.try_recv(), Err(TryRecvError::Empty))
    }

    /// Sends a request and waits for one line.
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

    /// Its exit status and last words.
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

    /// The last line of its standard error.
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
        // It has not been reaped yet, so its process group id is still valid.
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let named = thread::Builder::new().name("orb-plugin".to_owned());
    named.spawn(work).map(|_| ()).map_err(|why| format!("cannot be reached: {why}"))
}

/// Forwards a program's answers, line by line.
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

/// Keeps the tail of a program's standard error.
fn keep(mut err: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4_096];
    while let Ok(n @ 1..) = err.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..n]);
        let over = kept.len().saturating_sub(MOST_COMPLAINT);
        kept.drain(..over);
    }
}
