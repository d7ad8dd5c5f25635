//! How is a page fetched from a news server?
//!
//! `nntp://host/` lists the groups, `nntp://host/comp.*` those that match a pattern,
//! `nntp://host/group/` the articles of a group, and `nntp://host/group/123` or
//! `nntp://host/id@example.org` is an article (RFC 5538). Articles do not change, they only come
//! and go, so a group says all there is to know about those that we have: if its figures are those
//! of the last time, one command settles it.

mod overview;
#[cfg(feature = "fuzzing")]
mod rehearsal;
mod session;
mod target;

use crate::lines::{Opening, ServerReply};
use crate::listed::{Entry, Listen, split};
use crate::names::{answer, bare, decoded, hopeless, listing};
use crate::sessions::{BrokenOff, Converse, SessionCall, SessionPlace, SessionPool};
use crate::tls::{self, OptionalTls};
use crate::{BoxFuture, Fetch, FetchConfig, FetchError, Line, Watch};
use orb_page::{Body, Failure, Lease, Listing, ListingEntry, Outcome, PageHistory, Response};
use orb_page::{Timings, Truncation, Version};
use overview::{listed_answer, number_in, overview_line, read_listing};
#[cfg(feature = "fuzzing")]
pub use rehearsal::{HeardNews, hear_news};
use session::{GroupFigures, NewsSession};
use std::future::ready;
use std::sync::Arc;
use target::NewsTarget;

const NNTP: &str = "nntp";
const ARTICLE: &str = "message/rfc822";
/// Groups with more articles are listed by numbers alone.
const MOST_OVERVIEWS: u64 = 20_000;

/// Fetches from news servers.
pub(crate) struct NntpFetcher {
    pool: SessionPool<NewsSession>,
    tls: OptionalTls,
}

/// One page being fetched.
struct NewsErrand<'a> {
    fetcher: &'a NntpFetcher,
    call: SessionCall<'a>,
    target: NewsTarget,
    /// The version that is known.
    latest: Option<&'a Version>,
    /// The listing that others wait for, if this is a group.
    pending: Option<Listen<'a>>,
}

impl NntpFetcher {
    pub(crate) fn new(line: Arc<Line>, config: Arc<FetchConfig>) -> Result<Self, FetchError> {
        let tls = OptionalTls::new(&config)?;
        Ok(Self { pool: SessionPool::new(line, config), tls })
    }
}

impl<'a> NewsErrand<'a> {
    fn new(fetcher: &'a NntpFetcher, lease: &'a Lease, watch: &'a dyn Watch) -> Result<Self, Failure> {
        let call = SessionCall::new(lease, watch)?;
        let path = decoded(call.address.path_and_query())?;
        let target = NewsTarget::of(&path).ok_or_else(|| hopeless("it names neither a group nor an article"))?;
        let is_group = matches!(target, NewsTarget::Group(_));
        let known = |before: &'a Arc<PageHistory>| before.latest.as_ref().filter(|_| before.there || is_group);
        let latest = lease.before.as_ref().and_then(known).filter(|latest| !lease.again && latest.etag.is_some());
        // Tasks that ask for an article wait for its group from here on.
        let pending = is_group.then(|| fetcher.pool.listed.begin(&lease.url));
        Ok(Self { fetcher, call, target, latest, pending })
    }

    async fn log_in(&mut self, place: SessionPlace) -> Result<NewsSession, BrokenOff> {
        let NntpFetcher { pool, tls } = self.fetcher;
        let login = pool.config.keyring.login(&self.call.address);
        let implicit = self.call.address.scheme() == "nntps";
        let client = match implicit {
            true => Arc::clone(&tls.strict),
            false => tls::apart(if login.is_some() { &tls.strict } else { &tls.lenient }),
        };
        let opening = Opening { line: &pool.line, config: &pool.config, client, place, implicit, login };
        NewsSession::open(opening, &mut self.call.timings).await
    }

    async fn page(&mut self, session: &mut NewsSession) -> Result<Response, BrokenOff> {
        match self.target.clone() {
            NewsTarget::Groups(pattern) => self.groups(session, &pattern).await,
            NewsTarget::Group(name) => self.group(session, &name).await,
            NewsTarget::Numbered(group, number) => self.numbered(session, &group, &number).await,
            NewsTarget::Identified(id) => self.article(session, &id).await,
            NewsTarget::GroupName => Ok(bare(404, NNTP)?),
        }
    }

    /// What is to be said without asking: a group's name without a slash is not its URL, and its
    /// group may have told of an article already.
    async fn told_before(&self) -> Result<Option<Response>, Failure> {
        if self.target == NewsTarget::GroupName {
            return self.call.elsewhere(NNTP).map(Some);
        }
        let NewsTarget::Numbered(..) = self.target else { return Ok(None) };
        let Some(latest) = self.latest else { return Ok(None) };
        self.told_by(self.fetcher.pool.listed.look_patiently(&self.call.lease.url).await, latest)
    }

    /// The answer about an article that is known, by what its group says.
    fn told_by(&self, entry: Entry, latest: &Version) -> Result<Option<Response>, Failure> {
        Ok(match entry {
            Entry::Listed(_) | Entry::AsBefore => Some(tagged(bare(304, NNTP)?, latest.etag.as_deref())),
            Entry::Lacking => Some(bare(404, NNTP)?),
            Entry::Unlisted => None,
        })
    }

    async fn groups(&self, session: &mut NewsSession, pattern: &[u8]) -> Result<Response, BrokenOff> {
        match session.groups(pattern, self.fetcher.pool.config.max_size, self.call.watch).await? {
            Ok(block) => {
                // `name high low status`, one line a group.
                let group = |line: &[u8]| ListingEntry::new(line.split(|b| *b == b' ').next()?, true);
                Ok(listed_answer(&block, group)?)
            }
            Err(reply) => Ok(refusal(&reply)?),
        }
    }

    async fn group(&mut self, session: &mut NewsSession, name: &[u8]) -> Result<Response, BrokenOff> {
        let entered = session.enter(name).await?;
        let Some(pending) = self.pending.take() else { return Ok(bare(404, NNTP)?) };
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
        let is_known = self.latest.is_some_and(|latest| latest.etag.as_deref() == Some(&tag));
        if is_known && self.is_counted(session, name, figures).await? {
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

    /// Whether a group has as many articles as it says. A count without a gap may be an estimate
    /// from the first and the last number (RFC 3977, 6.1.1.2), which does not change when an
    /// article in between is gone.
    async fn is_counted(
        &self,
        session: &mut NewsSession,
        name: &[u8],
        figures: GroupFigures,
    ) -> Result<bool, BrokenOff> {
        if figures.count == 0 || figures.high.saturating_sub(figures.low).saturating_add(1) != figures.count {
            return Ok(true);
        }
        let most = self.fetcher.pool.config.max_size;
        let Ok(block) = session.numbers(name, most, self.call.watch).await? else { return Ok(true) };
        let listed = block.bytes.split(|b| *b == b'\n').filter_map(number_in).count();
        Ok(block.is_cut || u64::try_from(listed) == Ok(figures.count))
    }

    /// The articles of the group we are in: with size and time where they are not too many.
    async fn articles(
        &self,
        session: &mut NewsSession,
        name: &[u8],
        figures: GroupFigures,
    ) -> Result<Result<(Response, Option<Vec<ListingEntry>>), ServerReply>, BrokenOff> {
        let most = self.fetcher.pool.config.max_size;
        if figures.count == 0 || figures.high < figures.low {
            return Ok(Ok((listing(&Listing::default(), NNTP)?, Some(Vec::new()))));
        }
        if figures.count <= MOST_OVERVIEWS
            && let Ok(block) = session.overview(figures, most, self.call.watch).await?
        {
            return Ok(Ok(read_listing(&block, overview_line)?));
        }
        match session.numbers(name, most, self.call.watch).await? {
            Ok(block) => Ok(Ok(read_listing(&block, |line| ListingEntry::new(number_in(line)?, false))?)),
            Err(reply) => Ok(Err(reply)),
        }
    }

    async fn numbered(&self, session: &mut NewsSession, group: &[u8], number: &[u8]) -> Result<Response, BrokenOff> {
        if let (Some(latest), Some((url, _))) = (self.latest, split(&self.call.lease.url)) {
            self.look_up(session, url, group).await?;
            if let Some(known) = self.told_by(self.fetcher.pool.listed.look(&self.call.lease.url).await, latest)? {
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
        let table = &self.fetcher.pool.listed;
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
        let config = &self.fetcher.pool.config;
        if !config.accepts(ARTICLE) {
            let response = answer(200, ARTICLE, Body::empty(), NNTP)?;
            return Ok(Response { truncated: Some(Truncation::Unwanted), ..response });
        }
        let (reply, block) = match session.article(which, config.max_size, self.call.watch).await? {
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

impl Converse<NewsSession> for NewsErrand<'_> {
    fn call(&self) -> &SessionCall<'_> {
        &self.call
    }

    fn timings(&mut self) -> &mut Timings {
        &mut self.call.timings
    }

    fn recalled(&self) -> BoxFuture<'_, Result<Option<Response>, Failure>> {
        Box::pin(self.told_before())
    }

    fn open(&mut self, place: SessionPlace) -> BoxFuture<'_, Result<NewsSession, BrokenOff>> {
        Box::pin(self.log_in(place))
    }

    fn ask<'s>(&'s mut self, session: &'s mut NewsSession) -> BoxFuture<'s, Result<Response, BrokenOff>> {
        Box::pin(self.page(session))
    }
}

impl Fetch for NntpFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(self.pool.fetch(NewsErrand::new(self, lease, watch)))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.pool.shut();
        Box::pin(ready(()))
    }
}
