//! How is a page fetched from a news server?
//!
//! `nntp://host/` lists the groups, `nntp://host/comp.*` those that match a pattern,
//! `nntp://host/group/` the articles of a group, and `nntp://host/group/123` or
//! `nntp://host/id@example.org` is an article (RFC 5538). Articles do not change, they only come
//! and go, so a group says all there is to know about those that we have: if its figures are those
//! of the last time, one command settles it.

mod overview;
mod session;
mod target;

use crate::line::Endpoint;
use crate::lines::{BrokenOff, KeptSessions, ServerReply};
use crate::listed::{Entry, Listed, Listen, split};
use crate::names::{answer, bare, decoded, hopeless, listing, outcome};
use crate::{BoxFuture, Fetch, FetchConfig, FetchError, Line, Watch, tls};
use orb_page::{Body, Conversation, Failure, Lease, Listing, ListingEntry, Moment, Outcome, PageHistory, Response};
use orb_page::{ResponseKind, Timings, Truncation, Version};
use orb_urls::Address;
use overview::{listed_answer, number_in, overview_line, read_listing};
use rustls::ClientConfig;
use session::{GroupFigures, NewsOpening, NewsSession};
use std::future::ready;
use std::sync::Arc;
use target::NewsTarget;
use tokio::time::Instant;

const CONVERSATION: &str = "text/x-nntp-conversation";
const NNTP: &str = "nntp";
const ARTICLE: &str = "message/rfc822";
/// Groups with more articles are listed by numbers alone.
const MOST_OVERVIEWS: u64 = 20_000;

/// Fetches from news servers.
pub(crate) struct NntpFetcher {
    line: Arc<Line>,
    config: Arc<FetchConfig>,
    client: Arc<ClientConfig>,
    /// The same that accepts any certificate, where the server offers TLS and no password is sent.
    lenient: Arc<ClientConfig>,
    kept: Arc<KeptSessions<NewsSession>>,
    listed: Listed,
}

/// One page being fetched.
struct NewsErrand<'a> {
    fetcher: &'a NntpFetcher,
    lease: &'a Lease,
    address: Address,
    target: NewsTarget,
    /// The version that is known.
    latest: Option<&'a Version>,
    watch: &'a dyn Watch,
    timings: Timings,
}

impl NntpFetcher {
    pub(crate) fn new(line: Arc<Line>, config: Arc<FetchConfig>) -> Result<Self, FetchError> {
        let client = tls::client(&config, &[])?;
        let lenient = tls::client(&FetchConfig { insecure: true, ..FetchConfig::clone(&config) }, &[])?;
        let kept = KeptSessions::new(line.sockets(), config.keep_alive);
        Ok(Self { line, config, client, lenient, kept, listed: Listed::default() })
    }

    async fn errand(&self, lease: &Lease, watch: &dyn Watch) -> Outcome {
        let at = Moment::now();
        let mut errand = match NewsErrand::new(self, lease, watch) {
            Ok(errand) => errand,
            Err(failure) => return outcome(at, Timings::default(), Err(failure)),
        };
        let result = match errand.target {
            // Whoever asks for an article waits for its group from here on.
            NewsTarget::Group(_) => errand.run(Some(self.listed.begin(&lease.url))).await,
            _ => errand.run(None).await,
        };
        outcome(at, errand.timings, result)
    }
}

impl<'a> NewsErrand<'a> {
    fn new(fetcher: &'a NntpFetcher, lease: &'a Lease, watch: &'a dyn Watch) -> Result<Self, Failure> {
        let address = Address::from_canonical(lease.request_url()).map_err(|why| hopeless(why.to_string()))?;
        let path = decoded(address.path_and_query())?;
        let target = NewsTarget::of(&path).ok_or_else(|| hopeless("it names neither a group nor an article"))?;
        let known = |before: &'a Arc<PageHistory>| {
            let is_group = matches!(target, NewsTarget::Group(_));
            before.latest.as_ref().filter(|_| before.there || is_group)
        };
        let latest = lease.before.as_ref().and_then(known).filter(|latest| !lease.again && latest.etag.is_some());
        Ok(Self { fetcher, lease, address, target, latest, watch, timings: Timings::default() })
    }

    async fn run(&mut self, mut pending: Option<Listen<'a>>) -> Result<Response, Failure> {
        if self.target == NewsTarget::GroupName {
            let mut response = bare(301, NNTP)?;
            response.headers.push(b"Location", format!("{}/", self.address.as_str()).as_bytes());
            return Ok(response);
        }
        if let Some(known) = self.recalled().await? {
            return Ok(known);
        }
        let to = Endpoint { host: self.address.host().into(), port: self.address.port(), any_host: false };
        let to = Arc::new(to);
        loop {
            let kept = self.fetcher.kept.take(&to, self.lease.addr);
            let used_before = kept.is_some();
            let session = match kept {
                Some(session) => Ok(session),
                None => self.open(&to).await,
            };
            let asked = match session {
                Ok(session) => self.ask(session, &mut pending).await,
                Err(broken) => Err(broken),
            };
            match asked {
                // The server closed an idle session just as we used it.
                Err(broken) if broken.silent && used_before => {}
                result => return result.map_err(|broken| broken.failure),
            }
        }
    }

    /// An article whose group has told of it already.
    async fn recalled(&self) -> Result<Option<Response>, Failure> {
        let NewsTarget::Numbered(..) = self.target else { return Ok(None) };
        let Some(latest) = self.latest else { return Ok(None) };
        self.told_by(self.fetcher.listed.look_patiently(&self.lease.url).await, latest)
    }

    /// The answer about an article that is known, by what its group says.
    fn told_by(&self, entry: Entry, latest: &Version) -> Result<Option<Response>, Failure> {
        Ok(match entry {
            Entry::Listed(_) | Entry::AsBefore => Some(tagged(bare(304, NNTP)?, latest.etag.as_deref())),
            Entry::Lacking => Some(bare(404, NNTP)?),
            Entry::Unlisted => None,
        })
    }

    async fn open(&mut self, to: &Arc<Endpoint>) -> Result<NewsSession, BrokenOff> {
        let fetcher = self.fetcher;
        let login = fetcher.config.keyring.login(&self.address);
        let implicit = self.address.scheme() == "nntps";
        let opening = NewsOpening {
            line: &fetcher.line,
            config: &fetcher.config,
            client: if implicit || login.is_some() { &fetcher.client } else { &fetcher.lenient },
            to: Arc::clone(to),
            addr: self.lease.addr,
            implicit,
            login,
        };
        NewsSession::open(opening, &mut self.timings).await
    }

    /// Asks for the page, and keeps the session for the next.
    async fn ask(&mut self, mut session: NewsSession, pending: &mut Option<Listen<'a>>) -> Result<Response, BrokenOff> {
        session.talk.begin();
        let peer = session.talk.wire().peer();
        self.watch.sent(peer);
        let begun = Instant::now();
        let asked = match &self.target {
            NewsTarget::Groups(pattern) => self.groups(&mut session, pattern).await,
            NewsTarget::Group(name) => self.group(&mut session, name, pending).await,
            NewsTarget::Numbered(group, number) => self.numbered(&mut session, group, number).await,
            NewsTarget::Identified(id) => self.article(&mut session, id).await,
            NewsTarget::GroupName => Ok(bare(404, NNTP)?),
        };
        self.timings.body = begun.elapsed();
        let mut response = asked?;
        let text = session.talk.take_record();
        response.kind = ResponseKind::Resource { conversation: Some(Conversation { mime: CONVERSATION, text }) };
        response.peer = peer;
        if session.is_sound() && self.fetcher.kept.park(session) {
            self.watch.kept(false);
        }
        Ok(response)
    }

    async fn groups(&self, session: &mut NewsSession, pattern: &[u8]) -> Result<Response, BrokenOff> {
        match session.groups(pattern, self.fetcher.config.max_size, self.watch).await? {
            Ok(block) => {
                // `name high low status`, one line a group.
                let group = |line: &[u8]| ListingEntry::new(line.split(|b| *b == b' ').next()?, true);
                Ok(listed_answer(&block, group)?)
            }
            Err(reply) => Ok(refusal(&reply)?),
        }
    }

    async fn group(
        &self,
        session: &mut NewsSession,
        name: &[u8],
        pending: &mut Option<Listen<'a>>,
    ) -> Result<Response, BrokenOff> {
        let entered = session.enter(name).await?;
        let Some(pending) = pending.take() else { return Ok(bare(404, NNTP)?) };
        let figures = match entered {
            Ok(figures) => figures,
            Err(reply) if reply.code == 411 => {
                pending.gone();
                return Ok(bare(404, NNTP)?);
            }
            Err(reply) => {
                pending.failed();
                return Ok(refusal(&reply)?);
            }
        };
        let tag = figures.tag();
        if self.latest.is_some_and(|latest| latest.etag.as_deref() == Some(&tag)) {
            pending.unchanged();
            return Ok(tagged(bare(304, NNTP)?, Some(&tag)));
        }
        match self.articles(session, name, figures).await? {
            Ok((response, entries)) => {
                if let Some(entries) = entries {
                    pending.known(entries.iter().map(|entry| (entry.reference.as_str(), None)));
                }
                Ok(tagged(response, Some(&tag)))
            }
            Err(reply) => {
                pending.failed();
                Ok(refusal(&reply)?)
            }
        }
    }

    /// The articles of the group we are in: with size and time where they are not too many.
    async fn articles(
        &self,
        session: &mut NewsSession,
        name: &[u8],
        figures: GroupFigures,
    ) -> Result<Result<(Response, Option<Vec<ListingEntry>>), ServerReply>, BrokenOff> {
        let most = self.fetcher.config.max_size;
        if figures.count == 0 || figures.high < figures.low {
            return Ok(Ok((listing(&Listing::default(), NNTP)?, Some(Vec::new()))));
        }
        if figures.count <= MOST_OVERVIEWS
            && let Ok(block) = session.overview(figures, most, self.watch).await?
        {
            return Ok(Ok(read_listing(&block, overview_line)?));
        }
        match session.numbers(name, most, self.watch).await? {
            Ok(block) => Ok(Ok(read_listing(&block, |line| ListingEntry::new(number_in(line)?, false))?)),
            Err(reply) => Ok(Err(reply)),
        }
    }

    async fn numbered(&self, session: &mut NewsSession, group: &[u8], number: &[u8]) -> Result<Response, BrokenOff> {
        if let (Some(latest), Some((url, _))) = (self.latest, split(&self.lease.url)) {
            self.look_up(session, url, group).await?;
            if let Some(known) = self.told_by(self.fetcher.listed.look(&self.lease.url).await, latest)? {
                return Ok(known);
            }
        }
        match session.be_in(group).await? {
            Ok(_) => self.article(session, number).await,
            Err(reply) if reply.code == 411 => Ok(bare(404, NNTP)?),
            Err(reply) => Ok(refusal(&reply)?),
        }
    }

    /// Lists a group, for an article of it that was there before.
    async fn look_up(&self, session: &mut NewsSession, url: &str, group: &[u8]) -> Result<(), BrokenOff> {
        let table = &self.fetcher.listed;
        if table.has_failed(url) || !table.has_room() {
            return Ok(());
        }
        let Some(pending) = table.begin_first(url) else { return Ok(()) };
        match session.enter(group).await? {
            Ok(figures) => match self.articles(session, group, figures).await? {
                Ok((_, Some(entries))) => {
                    pending.known(entries.iter().map(|entry| (entry.reference.as_str(), None)));
                }
                _ => pending.failed(),
            },
            Err(reply) if reply.code == 411 => pending.gone(),
            Err(_) => pending.failed(),
        }
        Ok(())
    }

    async fn article(&self, session: &mut NewsSession, which: &[u8]) -> Result<Response, BrokenOff> {
        let config = &self.fetcher.config;
        if !config.accepts(ARTICLE) {
            let response = answer(200, ARTICLE, Body::empty(), NNTP)?;
            return Ok(Response { truncated: Some(Truncation::Unwanted), ..response });
        }
        let (reply, block) = match session.article(which, config.max_size, self.watch).await? {
            Ok(found) => found,
            Err(ServerReply { code: 423 | 430, .. }) => return Ok(bare(404, NNTP)?),
            Err(reply) => return Ok(refusal(&reply)?),
        };
        let truncated = block.is_cut.then_some(Truncation::Length);
        let response = answer(200, ARTICLE, body_of(block.bytes, config)?, NNTP)?;
        let id = reply.text.split_ascii_whitespace().find(|word| word.starts_with('<') && word.ends_with('>'));
        let tag = format!("\"{}\"", id.unwrap_or("article").replace('"', "'"));
        Ok(tagged(Response { truncated, ..response }, Some(&tag)))
    }
}

impl GroupFigures {
    /// What tells the state of a group from others.
    fn tag(&self) -> String {
        format!("\"{}.{}.{}\"", self.count, self.low, self.high)
    }
}

/// A body in memory, or in a file if it is large.
fn body_of(bytes: Vec<u8>, config: &FetchConfig) -> Result<Body, Failure> {
    let len = bytes.len() as u64;
    if len <= config.spool_over {
        return Ok(Body::Memory(bytes.into()));
    }
    let spooled = || {
        let mut file = tempfile::tempfile_in(&config.spool_dir)?;
        std::io::Write::write_all(&mut file, &bytes)?;
        Ok(Body::Spooled { file, len })
    };
    spooled().map_err(|error| crate::lines::local(&error))
}

fn tagged(mut response: Response, tag: Option<&str>) -> Response {
    if let Some(tag) = tag {
        response.headers.push(b"ETag", tag.as_bytes());
    }
    response
}

/// A refusal in the terms of HTTP.
fn refusal(reply: &ServerReply) -> Result<Response, Failure> {
    let status = match reply.code {
        400 => 503,
        480 | 481 | 483 => 401,
        401..500 => 500,
        _ => 501,
    };
    let mut response = bare(status, NNTP)?;
    response.headers.push(b"Reply", reply.line().as_bytes());
    Ok(response)
}

impl Fetch for NntpFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(self.errand(lease, watch))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.kept.shut();
        Box::pin(ready(()))
    }
}

impl Drop for NntpFetcher {
    fn drop(&mut self) {
        self.kept.shut();
    }
}
