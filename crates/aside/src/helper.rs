//! How is one helper asked, and how does it end?
//!
//! The pipes do not block: the caller waits for them until a deadline and then kills the helper.
//! Why a helper died is told from the signal and from its last words: an allocation that fails says
//! so before it aborts.

use crate::confine::{Confinement, HelperLimits};
use crate::frame::{self, HelperAnswer, Request};
use crate::{HelperProgram, program};
use orb_page::Problem;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::Signal;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

/// The size of the pipes, so that most documents fit at once.
const PIPE: usize = 1 << 20;
/// How much is read at a time; longer answers are understood while they come.
const CHUNK: usize = 256 << 10;
/// How much of its last words is looked at.
const LAST_WORDS: u64 = 4_096;
/// How long a helper that has closed its output may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// A helper process.
#[derive(Debug)]
pub(crate) struct Helper {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
    /// Documents that it has read.
    pub(crate) read: u32,
    /// Processor time that it has used.
    pub(crate) cpu: Duration,
}

/// Why a helper gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelperEnd {
    /// It took too long.
    Slow,
    /// It needed too much memory.
    Memory,
    /// Its parser crashed it.
    Died,
}

impl HelperEnd {
    /// What the document gets to know.
    pub(crate) fn problem(self) -> Problem {
        match self {
            Self::Slow => Problem::new("reader-slow", "reading it took too long and was given up"),
            Self::Memory => Problem::new("reader-memory", "reading it needs more memory than is allowed"),
            Self::Died => Problem::new("reader-died", "its parser crashed"),
        }
    }
}

impl Helper {
    /// Starts one.
    pub(crate) fn start(limits: &HelperLimits) -> io::Result<Self> {
        let program = program().ok_or(io::ErrorKind::NotFound)?;
        let mut child = spawn(program, limits)?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        for pipe in [input.as_fd(), output.as_fd(), errors.as_fd()] {
            fcntl_setfl(pipe, OFlags::NONBLOCK)?;
        }
        // Larger pipes are a favour that the system need not grant.
        let _ = rustix::pipe::fcntl_setpipe_size(&input, PIPE);
        let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE);
        Ok(Self { child, input, output, errors, read: 0, cpu: Duration::ZERO })
    }

    /// Whether it still waits for a request.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Has it read a document; `Err` says how it ended instead.
    pub(crate) fn ask(&mut self, request: &Request, bytes: &[u8], wall: Duration) -> Result<HelperAnswer, HelperEnd> {
        let deadline = Instant::now() + wall;
        match self.exchange(request, bytes, deadline) {
            Ok(answer) => {
                self.read += 1;
                self.cpu = Duration::from_millis(answer.cpu_ms);
                tell_once(answer.confinement);
                Ok(answer)
            }
            Err(why) => Err(self.end(&why)),
        }
    }

    fn exchange(&mut self, request: &Request, bytes: &[u8], deadline: Instant) -> io::Result<HelperAnswer> {
        let mut head = Vec::new();
        frame::write(&mut head, &serde_json::to_vec(request)?)?;
        head.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        send(&mut self.input, &head, deadline)?;
        send(&mut self.input, bytes, deadline)?;
        let mut length = [0; 8];
        receive(&mut self.output, &mut length, deadline)?;
        let length = usize::try_from(frame::checked(length)?).map_err(io::Error::other)?;
        if length > CHUNK {
            // What is long is not kept twice: once as it came, and once as it is understood.
            let pipe = TimedPipe { pipe: &mut self.output, deadline };
            return Ok(serde_json::from_reader(BufReader::with_capacity(CHUNK, pipe.take(length as u64)))?);
        }
        let mut frame = vec![0; length];
        receive(&mut self.output, &mut frame, deadline)?;
        Ok(serde_json::from_slice(&frame)?)
    }

    /// Ends it, and says why it gave no answer.
    fn end(&mut self, why: &io::Error) -> HelperEnd {
        if why.kind() == io::ErrorKind::TimedOut {
            return HelperEnd::Slow;
        }
        // Its output is closed, so it is about to end by itself.
        let deadline = Instant::now() + GRACE;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
                Ok(status) => break status,
                Err(_) => break None,
            }
        };
        let signal = status.and_then(|status| status.signal());
        if signal == Some(Signal::XCPU.as_raw()) {
            return HelperEnd::Slow;
        }
        let mut words = Vec::new();
        let _ = self.errors.by_ref().take(LAST_WORDS).read_to_end(&mut words);
        let words = String::from_utf8_lossy(&words);
        if words.contains("memory allocation of") { HelperEnd::Memory } else { HelperEnd::Died }
    }
}

/// Says once in the life of the program what the kernel does not forbid its helpers.
fn tell_once(confinement: Confinement) {
    static TOLD: Once = Once::new();
    if let Some(lack) = confinement.lack() {
        TOLD.call_once(|| tracing::info!("helpers that read documents are less confined: {lack}"));
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a pipe is ready.
fn wait(pipe: impl AsFd, flags: PollFlags, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&pipe, flags)], Some(&left)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(why) => return Err(why.into()),
        }
    }
}

fn send(pipe: &mut ChildStdin, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(&*pipe, PollFlags::OUT, deadline)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// A pipe that is read until a deadline.
struct TimedPipe<'p> {
    pipe: &'p mut ChildStdout,
    deadline: Instant,
}

impl Read for TimedPipe<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.pipe.read(bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(&*self.pipe, PollFlags::IN, self.deadline)?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

fn receive(pipe: &mut ChildStdout, mut bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        match pipe.read(bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => bytes = &mut bytes[read..],
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(&*pipe, PollFlags::IN, deadline)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// A process to start, and where to tell what became of it.
type StartOrder = (Command, Sender<io::Result<Child>>);

/// Starts a helper on a thread that lives as long as the program. The kernel ends a helper when the
/// thread that started it ends, and a reading thread may end while others still use its helper.
fn spawn(program: &HelperProgram, limits: &HelperLimits) -> io::Result<Child> {
    static STARTER: OnceLock<Option<Sender<StartOrder>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, orders) = channel::<StartOrder>();
        let start = move || {
            for (mut command, told) in orders {
                let _ = told.send(command.spawn());
            }
        };
        std::thread::Builder::new().name("helpers".into()).spawn(start).ok().map(|_| sender)
    });
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).arg(limits.memory.to_string()).arg(limits.cpu.as_secs().to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_clear();
    let (told, answer) = channel();
    let starter = starter.as_ref().ok_or(io::ErrorKind::Other)?;
    starter.send((command, told)).map_err(io::Error::other)?;
    answer.recv().map_err(io::Error::other)?
}
