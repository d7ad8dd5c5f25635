//! How does a conversation with a news server go?

use crate::Watch;
use crate::lines::{Dialogue, LineSession, Opening, ServerReply, malformed};
use crate::sessions::{BrokenOff, SessionPlace};
use orb_page::{Failure, FailureKind, Timings};

/// Maximum length of a line of an article. The standard allows 998 bytes.
const LONGEST_LINE: usize = 64 * 1024;

/// A conversation with a news server.
#[derive(Debug)]
pub(super) struct NewsSession {
    talk: Dialogue,
    place: SessionPlace,
    /// The group that numbers refer to.
    group: Option<(Vec<u8>, GroupFigures)>,
    /// Whether overviews are asked for by their older name.
    old_overview: bool,
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
    pub(super) async fn open(opening: Opening<'_>, timings: &mut Timings) -> Result<Self, BrokenOff> {
        let permit = opening.line.sockets().permit(&opening.place.to).await;
        let mut talk = opening.dial(permit, timings).await?;
        let greeting = talk.reply().await?;
        if !greeting.is_done() {
            let kind = if greeting.code == 400 { FailureKind::Protocol } else { FailureKind::Malformed };
            return Err(Failure::new(kind, format!("the server lets nobody in: {}", greeting.line())).into());
        }
        let mut able = capabilities(&mut talk).await?;
        if able.contains("STARTTLS") && !talk.wire().is_secured() && talk.ask(b"STARTTLS").await?.code == 382 {
            talk = opening.secured(talk, timings).await?;
            able = capabilities(&mut talk).await?;
        }
        if able.contains("MODE-READER") {
            talk.ask(b"MODE READER").await?;
        }
        log_in(&mut talk, &opening).await?;
        Ok(Self { talk, place: opening.place, group: None, old_overview: false })
    }

    /// A conversation that has begun, for fuzzing.
    #[cfg(feature = "fuzzing")]
    pub(super) const fn begun(talk: Dialogue, place: SessionPlace) -> Self {
        Self { talk, place, group: None, old_overview: false }
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
                self.talk.spend();
                return Ok(NewsBlock { bytes, is_cut: true });
            }
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(b"\r\n");
        }
        self.talk.note_block(&format!("({} bytes)", bytes.len()));
        Ok(NewsBlock { bytes, is_cut: false })
    }
}

impl LineSession for NewsSession {
    const CONVERSATION: &'static str = "text/x-nntp-conversation";

    fn place(&self) -> &SessionPlace {
        &self.place
    }

    fn talk(&self) -> &Dialogue {
        &self.talk
    }

    fn talk_mut(&mut self) -> &mut Dialogue {
        &mut self.talk
    }

    fn into_talk(self) -> Dialogue {
        self.talk
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

async fn log_in(talk: &mut Dialogue, opening: &Opening<'_>) -> Result<(), BrokenOff> {
    opening.check_password(talk)?;
    let Some(login) = &opening.login else { return Ok(()) };
    let mut reply = talk.ask(format!("AUTHINFO USER {}", login.user).as_bytes()).await?;
    if reply.code == 381 {
        talk.tell_secret("AUTHINFO PASS", login.password).await?;
        reply = talk.reply().await?;
    }
    if reply.code == 281 {
        return Ok(());
    }
    Err(BrokenOff::refused(malformed(&format!("the login was refused: {}", reply.line()))))
}
