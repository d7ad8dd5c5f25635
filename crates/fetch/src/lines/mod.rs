//! How do machines talk that talk in lines?
//!
//! FTP and NNTP send a command as one line and answer with a line that begins with three digits.
//! [`Dialogue`] is one such conversation on one connection: it bounds what a server may say,
//! refuses commands that would be two, and writes down both sides, because archives keep that.
//! Passwords are not written down.

mod opening;
#[cfg(feature = "fuzzing")]
mod rehearsal;
mod wire;

pub(crate) use opening::Opening;
#[cfg(feature = "fuzzing")]
pub use rehearsal::LineRehearsal;
pub(crate) use wire::LineStream;

use crate::line::late;
use crate::sessions::{BrokenOff, KeepSession, SessionPlace};
use bytes::{Buf, Bytes, BytesMut};
use orb_page::{Conversation, Failure, FailureKind};
use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

/// Maximum length of a line.
pub(crate) const LONGEST_LINE: usize = 4 * 1024;
/// Maximum length of a reply.
const LONGEST_REPLY: usize = 64 * 1024;
/// What is wrong with a longer line.
const ENDLESS: &str = "the server's answer has a line without an end";
/// How much of a conversation is written down.
const LONGEST_RECORD: usize = 64 * 1024;

/// A reply: its code, and its text without the codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerReply {
    pub(crate) code: u16,
    pub(crate) text: String,
}

impl ServerReply {
    /// What it says, in one line for people.
    pub(crate) fn line(&self) -> String {
        let first = self.text.lines().next().unwrap_or_default();
        let clean: String = first.chars().filter(|c| !c.is_control()).take(200).collect();
        format!("{} {}", self.code, clean.trim()).trim_end().to_owned()
    }

    /// Whether it reports success.
    pub(crate) const fn is_done(&self) -> bool {
        matches!(self.code, 200..300)
    }
}

/// A conversation in lines.
#[derive(Debug)]
pub(crate) struct Dialogue {
    wire: LineStream,
    buf: BytesMut,
    record: Vec<u8>,
    patience: Duration,
    /// Whether anything was heard for the present page.
    heard: bool,
    /// Whether an answer was cut off, so that the conversation is of no further use.
    spent: bool,
}

/// A session that is a conversation in lines.
pub(crate) trait LineSession: Debug + Send + 'static {
    /// The media type of what was said.
    const CONVERSATION: &'static str;

    fn place(&self) -> &SessionPlace;

    fn talk(&self) -> &Dialogue;

    fn talk_mut(&mut self) -> &mut Dialogue;

    fn into_talk(self) -> Dialogue;
}

impl<S: LineSession> KeepSession for S {
    fn place(&self) -> &SessionPlace {
        LineSession::place(self)
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.talk().wire.peer()
    }

    fn begin(&mut self) {
        self.talk_mut().heard = false;
    }

    fn conversation(&mut self) -> Conversation {
        let text = std::mem::take(&mut self.talk_mut().record).into();
        Conversation { mime: S::CONVERSATION, text }
    }

    fn is_sound(&self) -> bool {
        !self.talk().spent
    }

    fn is_usable(&mut self) -> bool {
        let talk = self.talk_mut();
        talk.buf.is_empty() && talk.wire.is_quiet()
    }

    fn farewell(self) {
        self.into_talk().farewell();
    }
}

impl Dialogue {
    fn new(wire: LineStream, patience: Duration) -> Self {
        Self { wire, buf: BytesMut::new(), record: Vec::new(), patience, heard: false, spent: false }
    }

    pub(crate) const fn wire(&self) -> &LineStream {
        &self.wire
    }

    /// Takes the connection, to begin TLS on it. What the server said too early is not heard: it
    /// came in the clear and may be anybody's (CVE-2011-0411).
    fn into_wire(self) -> (LineStream, Vec<u8>) {
        (self.wire, self.record)
    }

    /// Continues a record begun elsewhere.
    fn recall(&mut self, record: Vec<u8>) {
        self.record = record;
    }

    /// Says that the rest of an answer was not heard.
    pub(crate) const fn spend(&mut self) {
        self.spent = true;
    }

    /// Sends a command. One that contains the end of a line would be two commands.
    pub(crate) async fn tell(&mut self, command: &[u8]) -> Result<(), BrokenOff> {
        self.say(command, command).await
    }

    /// Sends a command whose argument is not written down.
    pub(crate) async fn tell_secret(&mut self, verb: &str, secret: &str) -> Result<(), BrokenOff> {
        self.say(format!("{verb} {secret}").as_bytes(), format!("{verb} ***").as_bytes()).await
    }

    async fn say(&mut self, command: &[u8], shown: &[u8]) -> Result<(), BrokenOff> {
        if command.iter().any(|b| matches!(b, b'\r' | b'\n' | 0)) || command.len() > LONGEST_LINE {
            let line = "the address holds what cannot be said in one line";
            return Err(Failure::new(FailureKind::Malformed, line).into());
        }
        self.note(b"> ", shown);
        let line = [command, b"\r\n"].concat();
        let deadline = Instant::now() + self.patience;
        let wire = &mut self.wire;
        let writing = async move {
            wire.write_all(&line).await?;
            wire.flush().await
        };
        match timeout_at(deadline, writing).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.ended(&error.to_string())),
            Err(_) => Err(late("the command was not taken", self.patience).into()),
        }
    }

    /// The next reply: one line, or several of which the last repeats the code of the first
    /// (RFC 959, 4.2).
    pub(crate) async fn reply(&mut self) -> Result<ServerReply, BrokenOff> {
        let first = self.line(LONGEST_LINE).await?;
        self.note(b"< ", &first);
        let code = code_of(&first).ok_or_else(|| malformed("the server's answer is not a reply"))?;
        let mut text = rest_of(&first);
        if first.get(3) == Some(&b'-') {
            loop {
                let line = self.line(LONGEST_LINE).await?;
                self.note(b"< ", &line);
                text.push('\n');
                if code_of(&line) == Some(code) && line.get(3) != Some(&b'-') {
                    text.push_str(&rest_of(&line));
                    break;
                }
                text.push_str(String::from_utf8_lossy(&line).trim());
                if text.len() > LONGEST_REPLY {
                    return Err(malformed("the server's answer does not end").into());
                }
            }
        }
        Ok(ServerReply { code, text })
    }

    /// Sends a command and waits for its reply.
    pub(crate) async fn ask(&mut self, command: &[u8]) -> Result<ServerReply, BrokenOff> {
        self.tell(command).await?;
        self.reply().await
    }

    /// The next line, without its end.
    pub(crate) async fn line(&mut self, longest: usize) -> Result<Bytes, BrokenOff> {
        let (start, held) = (Instant::now(), self.wire.held());
        let mut seen = 0;
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.buf[seen..]) {
                // However it came: a long line may arrive at once.
                if seen + end > longest {
                    return Err(malformed(ENDLESS).into());
                }
                let mut line = self.buf.split_to(seen + end).freeze();
                self.buf.advance(1);
                if line.last() == Some(&b'\r') {
                    line.truncate(line.len() - 1);
                }
                self.heard = true;
                return Ok(line);
            }
            seen = self.buf.len();
            if seen > longest {
                return Err(malformed(ENDLESS).into());
            }
            self.fill(start, held).await?;
        }
    }

    /// Reads more into the buffer. Time in which our own bandwidth limit held us up does not count.
    async fn fill(&mut self, start: Instant, held: Duration) -> Result<usize, BrokenOff> {
        self.buf.reserve(8 * 1024);
        loop {
            let deadline = start + self.patience + self.wire.held().saturating_sub(held);
            match timeout_at(deadline, self.wire.read_buf(&mut self.buf)).await {
                Ok(Ok(0)) => return Err(self.ended("the server closed it")),
                Ok(Ok(read)) => return Ok(read),
                Ok(Err(error)) => return Err(self.ended(&error.to_string())),
                Err(_) if start + self.patience + self.wire.held().saturating_sub(held) > deadline => {}
                Err(_) => return Err(late("no answer", self.patience).into()),
            }
        }
    }

    /// Writes down what was received as a block and not as a reply.
    pub(crate) fn note_block(&mut self, what: &str) {
        self.note(b"< ", what.as_bytes());
    }

    /// Says goodbye and closes the connection, in the background.
    fn farewell(mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = self.say(b"QUIT", b"QUIT").await;
            self.wire.close();
        });
    }

    fn ended(&self, why: &str) -> BrokenOff {
        let line = format!("the connection ended without an answer: {why}");
        BrokenOff { silent: !self.heard, ..Failure::new(FailureKind::Protocol, line).into() }
    }

    fn note(&mut self, mark: &[u8], line: &[u8]) {
        if self.record.len() + line.len() < LONGEST_RECORD {
            self.record.extend_from_slice(mark);
            self.record.extend_from_slice(line);
            self.record.extend_from_slice(b"\r\n");
        }
    }
}

/// An answer that does not belong to the protocol.
pub(crate) fn malformed(line: &str) -> Failure {
    Failure::new(FailureKind::Malformed, line)
}

/// A failure of this machine.
pub(crate) fn local(error: &io::Error) -> Failure {
    Failure::new(FailureKind::Local, error.to_string())
}

/// The code at the start of a line: three digits, then a space, a hyphen or the end.
fn code_of(line: &[u8]) -> Option<u16> {
    let digits = line.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let code = digits.iter().fold(0, |code, digit| code * 10 + u16::from(digit - b'0'));
    (matches!(line.get(3), None | Some(b' ' | b'-')) && (100..600).contains(&code)).then_some(code)
}

fn rest_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line.get(4..).unwrap_or_default()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_begins_with_three_digits() {
        assert_eq!(code_of(b"220 ready"), Some(220));
        assert_eq!(code_of(b"220-ready"), Some(220));
        assert_eq!(code_of(b"226"), Some(226));
        for wrong in [&b"22 x"[..], b"2200 x", b"abc", b"", b" 220 x", b"999 x", b"000 x", b"220x"] {
            assert_eq!(code_of(wrong), None);
        }
    }

    #[test]
    fn a_reply_is_one_line_for_people() {
        let reply = ServerReply { code: 550, text: "No such file.\x1b[31m\nmore".to_owned() };
        assert_eq!(reply.line(), "550 No such file.[31m");
        assert_eq!(ServerReply { code: 226, text: String::new() }.line(), "226");
    }
}
