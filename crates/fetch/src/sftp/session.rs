//! What can be asked of an SFTP server, and how is it asked fast?
//!
//! Requests are numbered and a server answers as many as are under way, so what does not depend on
//! an answer is not kept waiting for it: the parts of a file and of a directory are asked for
//! together, and nobody waits for a file to be closed.

use super::packet::{self, FileAttributes, NodeType, SftpName, SftpReply, SftpRequest, SftpStatus};
use super::program::{SshCall, SshProgram};
use crate::intake::{ExchangeTimers, Received, Spool, SpoolRule, Timer};
use crate::line::{GOODBYE, late};
use crate::lines::malformed;
use crate::sessions::{BrokenOff, KeepSession, SessionPlace};
use crate::{FetchConfig, Watch};
use bytes::{Bytes, BytesMut};
use orb_page::{Conversation, Failure, FailureKind, Timings, Truncation};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead as _, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

/// How much of a file is asked for at once, and how many such parts are under way.
const PART: u32 = 32 * 1024;
const MOST_PARTS: usize = 64;
/// How many requests for the rest of a directory are under way.
const LISTING_AHEAD: usize = 2;
/// How much of a conversation is written down.
const LONGEST_RECORD: usize = 64 * 1024;

/// A conversation with a server that knows us.
#[derive(Debug)]
pub(super) struct SftpSession {
    hear: UnixStream,
    say: UnixStream,
    program: SshProgram,
    place: SessionPlace,
    buf: BytesMut,
    out: Vec<u8>,
    next: u32,
    /// Requests whose replies nobody waits for.
    unheard: Vec<u32>,
    record: Vec<u8>,
    patience: Duration,
    heard: bool,
    spent: bool,
    /// The directory we were put into, without a slash at its end.
    home: Vec<u8>,
}

/// How a file is fetched.
#[derive(Clone, Copy)]
pub(super) struct FileBounds<'a> {
    /// How large it is, as far as is known.
    pub(super) size: Option<u64>,
    /// What is longer is cut off here.
    pub(super) most: u64,
    pub(super) config: &'a FetchConfig,
    pub(super) watch: &'a dyn Watch,
}

/// A reply, or the status by which the server refused.
pub(super) type SftpAnswer<T> = Result<Result<T, SftpStatus>, BrokenOff>;

impl SftpSession {
    /// Connects and logs in.
    pub(super) async fn open(call: &SshCall<'_>, timings: &mut Timings) -> Result<Self, BrokenOff> {
        let (program, [hear, say]) = call.start(timings).await?;
        let begun = Instant::now();
        let mut session = Self {
            hear,
            say,
            program,
            place: call.place.clone(),
            buf: BytesMut::new(),
            out: packet::greeting(),
            next: 1,
            unheard: Vec::new(),
            record: Vec::new(),
            patience: call.config.timeouts.head,
            heard: false,
            spent: false,
            home: Vec::new(),
        };
        let version = async {
            session.flush().await?;
            session.packet().await
        };
        match version.await {
            Ok((_, SftpReply::Version(packet::VERSION..))) => {}
            Ok(_) => return Err(malformed("the server does not speak SFTP").into()),
            // The connection ended: the program knows why.
            Err(broken) if broken.silent => return Err(session.program.reason(call).await),
            Err(broken) => return Err(broken),
        }
        timings.tls = begun.elapsed();
        call.note_key();
        if let Ok(path) = session.real_path(b".").await? {
            session.home = path.strip_suffix(b"/").unwrap_or(&path).to_vec();
        }
        Ok(session)
    }

    /// The path by which the server knows what a URL names: from the root, or below the directory
    /// we were put into if it begins with a tilde.
    fn path(&self, path: &[u8]) -> Vec<u8> {
        let below = match path.strip_prefix(b"~") {
            Some(b"") => Some(&b""[..]),
            Some(rest) => rest.strip_prefix(b"/"),
            None => None,
        };
        let whole = match below {
            Some(below) => [&self.home, &b"/"[..], below].concat(),
            None => [b"/", path].concat(),
        };
        // A slash at the end of anything but the root is not understood everywhere.
        match whole.strip_suffix(b"/") {
            Some(rest) if !rest.is_empty() => rest.to_vec(),
            _ => whole,
        }
    }

    async fn real_path(&mut self, path: &[u8]) -> SftpAnswer<Bytes> {
        match self.ask(SftpRequest::RealPath(path)).await? {
            SftpReply::Names(names) if names.len() == 1 => Ok(Ok(names[0].name.clone())),
            other => refused(other),
        }
    }

    /// What a path leads to, through symbolic links.
    pub(super) async fn stat(&mut self, path: &[u8]) -> SftpAnswer<FileAttributes> {
        let path = self.path(path);
        self.note("> ", b"STAT", &path);
        match self.ask(SftpRequest::Stat(&path)).await? {
            SftpReply::Attributes(attributes) => Ok(Ok(attributes)),
            other => self.refused(other),
        }
    }

    /// The entries of a directory, symbolic links to files among them as what they lead to; not all
    /// if there are more than this many bytes.
    pub(super) async fn list(
        &mut self,
        path: &[u8],
        most: u64,
        watch: &dyn Watch,
    ) -> SftpAnswer<(Vec<SftpName>, Option<Truncation>)> {
        let path = self.path(path);
        self.note("> ", b"OPENDIR", &path);
        let handle = match self.ask(SftpRequest::OpenDirectory(&path)).await? {
            SftpReply::Handle(handle) => handle,
            other => return self.refused(other),
        };
        let (mut names, mut size, mut truncated) = (Vec::new(), 0, None);
        let mut under_way: VecDeque<u32> = VecDeque::new();
        loop {
            while under_way.len() < LISTING_AHEAD {
                let id = self.put(SftpRequest::ReadDirectory { handle: &handle });
                under_way.push_back(id);
            }
            let Some(id) = under_way.pop_front() else { break };
            self.flush().await?;
            match self.reply_to(id).await? {
                SftpReply::Names(more) => {
                    let bytes: usize = more.iter().map(|name| name.name.len() + 32).sum();
                    watch.received(bytes);
                    size += bytes as u64;
                    names.extend(more);
                }
                SftpReply::Status(SftpStatus { code: SftpStatus::END, .. }) => break,
                other => {
                    self.unheard.extend(under_way);
                    self.close(&handle).await?;
                    return self.refused(other);
                }
            }
            if size > most {
                truncated = Some(Truncation::Length);
                break;
            }
        }
        self.unheard.extend(under_way);
        self.close(&handle).await?;
        self.note("< ", format!("{} entries", names.len()).as_bytes(), b"");
        self.follow_links(&path, &mut names).await?;
        Ok(Ok((names, truncated)))
    }

    /// Asks what symbolic links lead to. A directory is entered by its own name, not by a link.
    async fn follow_links(&mut self, path: &[u8], names: &mut Vec<SftpName>) -> Result<(), BrokenOff> {
        let is_link = |name: &SftpName| name.node() == NodeType::Link;
        let mut at = 0;
        while let Some(first) = names[at..].iter().position(is_link).map(|place| at + place) {
            let mut asked = Vec::new();
            for place in (first..names.len()).filter(|place| is_link(&names[*place])).take(MOST_PARTS) {
                let target = [path, b"/", &names[place].name[..]].concat();
                asked.push((place, self.put(SftpRequest::Stat(&target))));
                at = place + 1;
            }
            self.flush().await?;
            for (place, id) in asked {
                let attributes = match self.reply_to(id).await? {
                    SftpReply::Attributes(found) if found.node() == Some(NodeType::File) => found,
                    _ => FileAttributes { permissions: Some(u32::MAX), ..FileAttributes::default() },
                };
                names[place].attributes = attributes;
            }
        }
        names.retain(|name| matches!(name.node(), NodeType::File | NodeType::Directory));
        Ok(())
    }

    /// Fetches a file.
    pub(super) async fn retrieve(&mut self, path: &[u8], bounds: &FileBounds<'_>) -> SftpAnswer<Received> {
        let path = self.path(path);
        self.note("> ", b"OPEN", &path);
        let handle = match self.ask(SftpRequest::Open(&path)).await? {
            SftpReply::Handle(handle) => handle,
            other => return self.refused(other),
        };
        let received = match self.read_whole(&handle, bounds).await? {
            Ok(received) => received,
            Err(status) => {
                self.close(&handle).await?;
                return self.refused(SftpReply::Status(status));
            }
        };
        if matches!(received.truncated, None | Some(Truncation::Length)) {
            self.close(&handle).await?;
        } else {
            self.spent = true;
        }
        self.note("< ", format!("{} bytes", received.body.len()).as_bytes(), b"");
        Ok(Ok(received))
    }

    /// Reads a file to its end, several parts at a time, or until the limits of size and time cut
    /// it off.
    async fn read_whole(&mut self, handle: &[u8], bounds: &FileBounds<'_>) -> SftpAnswer<Received> {
        let FileBounds { size, most: limit, config, watch } = *bounds;
        let mut clock = ExchangeTimers::new(config, self.program.held());
        let rule = SpoolRule { over: config.spool_over, dir: &config.spool_dir };
        let (mut spool, mut timer) = (Spool::new(rule, BytesMut::new(), 0), Timer::default());
        spool.reserve(size.unwrap_or_default().min(limit));
        clock.body_begins();
        let mut parts = PartPlan::new(size);
        let truncated = loop {
            if spool.len() > limit {
                spool.cut(limit);
                break Some(Truncation::Length);
            }
            if spool.is_due(0) {
                spool.spill().await?;
            }
            while let Some((at, most)) = parts.more() {
                let id = self.put(SftpRequest::Read { handle, at, most });
                parts.under_way.push_back((id, at, most));
            }
            let Some((id, at, most)) = parts.under_way.pop_front() else { break None };
            self.flush().await?;
            let deadline = clock.body_deadline(self.program.held());
            let reply = match timer.before(deadline, self.reply_to(id)).await {
                Some(reply) => reply?,
                None => match clock.tick(0, self.program.held()) {
                    Some(late) => break Some(late),
                    // Our own bandwidth limit took the time.
                    None => {
                        parts.under_way.push_front((id, at, most));
                        continue;
                    }
                },
            };
            match reply {
                SftpReply::Bytes(bytes) if !bytes.is_empty() && bytes.len() <= most as usize => {
                    watch.received(bytes.len());
                    spool.buf.extend_from_slice(&bytes);
                    if let Some(late) = clock.tick(bytes.len(), self.program.held()) {
                        break Some(late);
                    }
                    // A part that came short: what follows it begins there.
                    if bytes.len() < most as usize {
                        self.unheard.extend(parts.restart(at + bytes.len() as u64));
                    }
                }
                SftpReply::Status(SftpStatus { code: SftpStatus::END, .. }) => break None,
                SftpReply::Status(status) if spool.len() == 0 => {
                    self.unheard.extend(parts.restart(0));
                    return Ok(Err(status));
                }
                SftpReply::Status(_) => break Some(Truncation::Disconnect),
                _ => return Err(malformed("the server's answer is not what was asked for").into()),
            }
        };
        self.unheard.extend(parts.restart(0));
        let (_, body) = spool.finish().await?;
        Ok(Ok(Received { body, truncated }))
    }

    /// Closes a file or directory; nobody waits for the reply.
    async fn close(&mut self, handle: &[u8]) -> Result<(), BrokenOff> {
        let id = self.put(SftpRequest::Close { handle });
        self.unheard.push(id);
        self.flush().await
    }

    /// Writes a request down to be sent.
    fn put(&mut self, request: SftpRequest<'_>) -> u32 {
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        request.write(id, &mut self.out);
        id
    }

    /// Sends what was written down.
    async fn flush(&mut self) -> Result<(), BrokenOff> {
        if self.out.is_empty() {
            return Ok(());
        }
        let deadline = Instant::now() + self.patience;
        match timeout_at(deadline, self.say.write_all(&self.out)).await {
            Ok(Ok(())) => {
                self.out.clear();
                Ok(())
            }
            Ok(Err(error)) => Err(self.ended(&error.to_string())),
            Err(_) => Err(late("the request was not taken", self.patience).into()),
        }
    }

    async fn ask(&mut self, request: SftpRequest<'_>) -> Result<SftpReply, BrokenOff> {
        let id = self.put(request);
        self.flush().await?;
        self.reply_to(id).await
    }

    /// The reply to a request. Those that nobody waits for are heard on the way; servers answer in
    /// the order of the requests.
    async fn reply_to(&mut self, wanted: u32) -> Result<SftpReply, BrokenOff> {
        loop {
            let (id, reply) = self.packet().await?;
            if id == wanted {
                return Ok(reply);
            }
            let Some(place) = self.unheard.iter().position(|unheard| *unheard == id) else {
                return Err(malformed("the server answers what was not asked, or in another order").into());
            };
            self.unheard.swap_remove(place);
        }
    }

    /// The next packet. Time in which our own bandwidth limit held us up does not count.
    async fn packet(&mut self) -> Result<(u32, SftpReply), BrokenOff> {
        let (start, held) = (Instant::now(), self.program.held());
        loop {
            if let Some(packet) = packet::next(&mut self.buf).map_err(malformed)? {
                self.heard = true;
                return Ok(packet);
            }
            self.buf.reserve(64 * 1024);
            let deadline = start + self.patience + self.program.held().saturating_sub(held);
            match timeout_at(deadline, self.hear.read_buf(&mut self.buf)).await {
                Ok(Ok(0)) => return Err(self.ended("the server closed it")),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(self.ended(&error.to_string())),
                Err(_) if start + self.patience + self.program.held().saturating_sub(held) > deadline => {}
                Err(_) => return Err(late("no answer", self.patience).into()),
            }
        }
    }

    fn ended(&self, why: &str) -> BrokenOff {
        let line = format!("the connection ended without an answer: {why}");
        BrokenOff { silent: !self.heard, ..Failure::new(FailureKind::Protocol, line).into() }
    }

    fn refused<T>(&mut self, reply: SftpReply) -> SftpAnswer<T> {
        if let SftpReply::Status(status) = &reply {
            let line = format!("{} {}", status.code, status.text);
            self.note("< ", line.as_bytes(), b"");
        }
        refused(reply)
    }

    fn note(&mut self, mark: &str, what: &[u8], about: &[u8]) {
        if self.record.len() + about.len() < LONGEST_RECORD {
            let line = [mark.as_bytes(), what, if about.is_empty() { b"" } else { b" " }, about, b"\r\n"];
            self.record.extend_from_slice(&line.concat());
        }
    }
}

/// A status by which a server refuses; whatever else it says is none of what was asked for.
fn refused<T>(reply: SftpReply) -> SftpAnswer<T> {
    match reply {
        SftpReply::Status(status) => Ok(Err(status)),
        _ => Err(malformed("the server's answer is not what was asked for").into()),
    }
}

/// Which parts of a file are asked for next.
#[derive(Debug)]
struct PartPlan {
    /// Number, place and length.
    under_way: VecDeque<(u32, u64, u32)>,
    at: u64,
    /// Where the file should end: a part ends there, so that none comes short.
    end: u64,
    /// How many may be under way: as many as the file is long, and one to find its end.
    window: usize,
}

impl PartPlan {
    fn new(size: Option<u64>) -> Self {
        let parts = size.map_or(1, |size| usize::try_from(size.div_ceil(PART.into())).unwrap_or(MOST_PARTS));
        let window = parts.saturating_add(1).min(MOST_PARTS);
        Self { under_way: VecDeque::new(), at: 0, end: size.unwrap_or_default(), window }
    }

    /// The next part to ask for, if there is room.
    fn more(&mut self) -> Option<(u64, u32)> {
        if self.under_way.len() >= self.window {
            return None;
        }
        let left = self.end.saturating_sub(self.at);
        let most = if left == 0 { PART } else { u32::try_from(left).map_or(PART, |left| left.min(PART)) };
        let at = self.at;
        self.at = at.saturating_add(most.into());
        Some((at, most))
    }

    /// Continues at another place; returns the requests that are of no use any more.
    fn restart(&mut self, at: u64) -> impl Iterator<Item = u32> + use<> {
        self.at = at;
        std::mem::take(&mut self.under_way).into_iter().map(|(id, _, _)| id)
    }
}

impl KeepSession for SftpSession {
    fn place(&self) -> &SessionPlace {
        &self.place
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.program.peer
    }

    fn begin(&mut self) {
        self.heard = false;
    }

    fn conversation(&mut self) -> Conversation {
        Conversation { mime: "text/x-sftp-conversation", text: std::mem::take(&mut self.record).into() }
    }

    fn is_sound(&self) -> bool {
        !self.spent
    }

    /// Replies that nobody waits for may still come.
    fn is_usable(&mut self) -> bool {
        let (mut byte, mut cx) = ([0], Context::from_waker(Waker::noop()));
        let mut read = ReadBuf::new(&mut byte);
        match Pin::new(&mut self.hear).poll_read(&mut cx, &mut read) {
            Poll::Pending => self.buf.is_empty() || !self.unheard.is_empty(),
            Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                self.buf.extend_from_slice(read.filled());
                !self.unheard.is_empty()
            }
            Poll::Ready(_) => false,
        }
    }

    fn farewell(mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let ending = async {
                self.say.shutdown().await?;
                tokio::io::copy(&mut self.hear, &mut tokio::io::sink()).await
            };
            let _ = tokio::time::timeout(GOODBYE, ending).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_asked_for_whole_and_once_more_for_its_end() {
        let ask = |size| {
            let mut plan = PartPlan::new(size);
            let mut places = Vec::new();
            while let Some((at, _)) = plan.more() {
                plan.under_way.push_back((0, at, PART));
                places.push(at);
            }
            places
        };
        assert_eq!(ask(Some(0)), [0]);
        assert_eq!(ask(Some(20_000)), [0, 20_000]);
        assert_eq!(ask(Some(32_769)), [0, 32_768, 32_769]);
        assert_eq!(ask(None), [0, 32_768]);
        assert_eq!(ask(Some(u64::MAX)).len(), MOST_PARTS);
    }

    #[test]
    fn a_part_that_came_short_is_resumed_where_it_ended() {
        let mut plan = PartPlan::new(Some(100_000));
        while let Some((at, most)) = plan.more() {
            plan.under_way.push_back((7, at, most));
        }
        assert_eq!(plan.restart(10).collect::<Vec<_>>(), [7; 5]);
        assert_eq!(plan.more(), Some((10, PART)));
    }
}
