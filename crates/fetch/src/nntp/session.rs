//! How does a conversation with a news server go?

use crate::keyring::Login;
use crate::line::Endpoint;
use crate::lines::{BrokenOff, Dialogue, KeepSession, LineStream, ServerReply, malformed};
use crate::{FetchConfig, Line, Watch, tls};
use orb_page::{Failure, FailureKind, Timings};
use rustls::ClientConfig;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::Instant;

/// Maximum length of a line of an article. The standard allows 998 bytes.
const LONGEST_LINE: usize = 64 * 1024;

/// What a session is opened with.
pub(super) struct NewsOpening<'a> {
    pub(super) line: &'a Line,
    pub(super) config: &'a FetchConfig,
    /// The settings of TLS from the first byte on, and where the server offers it.
    pub(super) client: &'a Arc<ClientConfig>,
    pub(super) to: Arc<Endpoint>,
    pub(super) addr: Option<IpAddr>,
    pub(super) implicit: bool,
    pub(super) login: Option<Login<'a>>,
}

/// A conversation with a news server.
#[derive(Debug)]
pub(super) struct NewsSession {
    pub(super) talk: Dialogue,
    to: Arc<Endpoint>,
    addr: Option<IpAddr>,
    /// The group that numbers refer to.
    group: Option<(Vec<u8>, GroupFigures)>,
    /// Whether overviews are asked for by their older name.
    old_overview: bool,
    /// Whether a block was cut off, so that the conversation is of no further use.
    spent: bool,
}

/// How many articles a group has, and between which numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupFigures {
    pub(super) count: u64,
    pub(super) low: u64,
    pub(super) high: u64,
}

/// The lines of an answer, dots removed; not all of them if they were too many.
#[derive(Debug)]
pub(super) struct NewsBlock {
    pub(super) bytes: Vec<u8>,
    pub(super) is_cut: bool,
}

impl NewsSession {
    pub(super) async fn open(opening: NewsOpening<'_>, timings: &mut Timings) -> Result<Self, BrokenOff> {
        let (host, port) = (&opening.to.host, opening.to.port);
        let socket = opening.line.connect(host, port, opening.addr, timings).await?;
        let begun = Instant::now();
        let wire = match opening.implicit {
            true => LineStream::secured(socket, host, opening.client, opening.config).await?,
            false => LineStream::Plain(Box::new(socket)),
        };
        if opening.implicit {
            timings.tls = begun.elapsed();
        }
        let mut talk = Dialogue::new(wire, opening.config.timeouts.head);
        let greeting = talk.reply().await?;
        if !greeting.is_done() {
            let kind = if greeting.code == 400 { FailureKind::Protocol } else { FailureKind::Malformed };
            return Err(Failure::new(kind, format!("the server lets nobody in: {}", greeting.line())).into());
        }
        let mut able = capabilities(&mut talk).await?;
        if able.contains("STARTTLS") && !talk.wire().is_secured() && talk.ask(b"STARTTLS").await?.code == 382 {
            talk = secure(talk, &opening, timings).await?;
            able = capabilities(&mut talk).await?;
        }
        if able.contains("MODE-READER") {
            talk.ask(b"MODE READER").await?;
        }
        log_in(&mut talk, opening.login.as_ref()).await?;
        Ok(Self { talk, to: opening.to, addr: opening.addr, group: None, old_overview: false, spent: false })
    }

    pub(super) const fn is_sound(&self) -> bool {
        !self.spent
    }

    /// Enters a group.
    pub(super) async fn enter(&mut self, name: &[u8]) -> Result<Result<GroupFigures, ServerReply>, BrokenOff> {
        let reply = self.talk.ask(&[b"GROUP ", name].concat()).await?;
        if reply.code != 211 {
            self.group = None;
            return Ok(Err(reply));
        }
        let mut numbers = reply.text.split_ascii_whitespace().map_while(|word| word.parse().ok());
        let (Some(count), Some(low), Some(high)) = (numbers.next(), numbers.next(), numbers.next()) else {
            return Err(malformed("the server does not say how many articles the group has").into());
        };
        let figures = GroupFigures { count, low, high };
        self.group = Some((name.to_vec(), figures));
        Ok(Ok(figures))
    }

    /// Enters a group unless we are in it.
    pub(super) async fn be_in(&mut self, name: &[u8]) -> Result<Result<GroupFigures, ServerReply>, BrokenOff> {
        match &self.group {
            Some((at, figures)) if at == name => Ok(Ok(*figures)),
            _ => self.enter(name).await,
        }
    }

    /// An article, by its number in the group we are in or by its id.
    pub(super) async fn article(
        &mut self,
        which: &[u8],
        most: u64,
        watch: &dyn Watch,
    ) -> Result<Result<(ServerReply, NewsBlock), ServerReply>, BrokenOff> {
        let reply = self.talk.ask(&[b"ARTICLE ", which].concat()).await?;
        if reply.code != 220 {
            return Ok(Err(reply));
        }
        let block = self.block(most, watch).await?;
        Ok(Ok((reply, block)))
    }

    /// The overview of articles (OVER of RFC 3977, XOVER before it).
    pub(super) async fn overview(
        &mut self,
        figures: GroupFigures,
        most: u64,
        watch: &dyn Watch,
    ) -> Result<Result<NewsBlock, ServerReply>, BrokenOff> {
        loop {
            let verb = if self.old_overview { "XOVER" } else { "OVER" };
            let reply = self.talk.ask(format!("{verb} {}-{}", figures.low, figures.high).as_bytes()).await?;
            match reply.code {
                224 => return self.block(most, watch).await.map(Ok),
                500..=503 if !self.old_overview => self.old_overview = true,
                _ => return Ok(Err(reply)),
            }
        }
    }

    /// The numbers of the articles of a group.
    pub(super) async fn numbers(
        &mut self,
        group: &[u8],
        most: u64,
        watch: &dyn Watch,
    ) -> Result<Result<NewsBlock, ServerReply>, BrokenOff> {
        let reply = self.talk.ask(&[b"LISTGROUP ", group].concat()).await?;
        if reply.code != 211 {
            return Ok(Err(reply));
        }
        self.block(most, watch).await.map(Ok)
    }

    /// The groups that match a pattern.
    pub(super) async fn groups(
        &mut self,
        pattern: &[u8],
        most: u64,
        watch: &dyn Watch,
    ) -> Result<Result<NewsBlock, ServerReply>, BrokenOff> {
        let command = if pattern.is_empty() { b"LIST ACTIVE".to_vec() } else { [b"LIST ACTIVE ", pattern].concat() };
        let reply = self.talk.ask(&command).await?;
        if reply.code != 215 {
            return Ok(Err(reply));
        }
        self.block(most, watch).await.map(Ok)
    }

    /// Reads a block of lines up to the one with a dot alone. Dots at the start of other lines were
    /// doubled by the server (RFC 3977, 3.1.1).
    async fn block(&mut self, most: u64, watch: &dyn Watch) -> Result<NewsBlock, BrokenOff> {
        let mut bytes = Vec::new();
        loop {
            let line = self.talk.line(LONGEST_LINE).await?;
            watch.received(line.len() + 2);
            let line = match line.strip_prefix(b".") {
                Some(b"") => break,
                Some(rest) => rest,
                None => &line[..],
            };
            if (bytes.len() + line.len()) as u64 > most {
                self.spent = true;
                return Ok(NewsBlock { bytes, is_cut: true });
            }
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(b"\r\n");
        }
        self.talk.note_block(&format!("({} bytes)", bytes.len()));
        Ok(NewsBlock { bytes, is_cut: false })
    }
}

impl KeepSession for NewsSession {
    fn endpoint(&self) -> &Arc<Endpoint> {
        &self.to
    }

    fn addr(&self) -> Option<IpAddr> {
        self.addr
    }

    fn is_usable(&mut self) -> bool {
        self.talk.is_usable()
    }

    fn farewell(self) {
        self.talk.farewell();
    }
}

/// What a server says it can do.
#[derive(Debug, Default)]
struct NewsCapabilities(Vec<String>);

impl NewsCapabilities {
    fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Asks what the server can do; old ones do not know the question, and want to be told that we are
/// a reader.
async fn capabilities(talk: &mut Dialogue) -> Result<NewsCapabilities, BrokenOff> {
    if talk.ask(b"CAPABILITIES").await?.code != 101 {
        return Ok(NewsCapabilities(vec!["MODE-READER".to_owned()]));
    }
    let mut names = Vec::new();
    loop {
        let line = talk.line(LONGEST_LINE).await?;
        if line == b"."[..] {
            return Ok(NewsCapabilities(names));
        }
        let first = line.split(|b| *b == b' ').next().unwrap_or_default();
        names.push(String::from_utf8_lossy(first).into_owned());
        if names.len() > 1_000 {
            return Err(malformed("the server's answer does not end").into());
        }
    }
}

async fn secure(talk: Dialogue, opening: &NewsOpening<'_>, timings: &mut Timings) -> Result<Dialogue, BrokenOff> {
    let (wire, record) = talk.into_wire();
    let LineStream::Plain(socket) = wire else { return Err(malformed("TLS within TLS").into()) };
    let begun = Instant::now();
    let client = tls::apart(opening.client);
    let wire = LineStream::secured(*socket, &opening.to.host, &client, opening.config).await?;
    timings.tls = begun.elapsed();
    let mut talk = Dialogue::new(wire, opening.config.timeouts.head);
    talk.recall(record);
    Ok(talk)
}

async fn log_in(talk: &mut Dialogue, login: Option<&Login<'_>>) -> Result<(), BrokenOff> {
    let Some(login) = login else { return Ok(()) };
    if !login.in_clear && !talk.wire().is_secured() {
        let line = "the server has no TLS, and the password may not go over the line in the clear \
                    (allow_plain in [[auth]])";
        return Err(Failure::new(FailureKind::Tls, line).into());
    }
    let mut reply = talk.ask(format!("AUTHINFO USER {}", login.user).as_bytes()).await?;
    if reply.code == 381 {
        talk.tell_secret("AUTHINFO PASS", login.password).await?;
        reply = talk.reply().await?;
    }
    if reply.code == 281 { Ok(()) } else { Err(malformed(&format!("the login was refused: {}", reply.line())).into()) }
}
