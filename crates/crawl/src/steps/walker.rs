//! How is a page passed through?
//!
//! Like any other page: under a lease from a frontier, which reads the host's robots.txt first and
//! enforces every delay, but one page at a time, as a person would, and without recording anything.
//! Redirects are followed as in browsers: a POST body is resent after 307 and 308, and to the same
//! host only; after 301, 302 and 303 the next request is a GET (Fetch standard, 4.4).

use super::trail::Trail;
use crate::drive::clock::SteadyClock;
use crate::drive::on_wire::OnWire;
use crate::render::{FrontierDoor, RenderDesk};
use crate::shared::Stop;
use bytes::Bytes;
use orb_aside::HelperLimits;
use orb_extract::Content;
use orb_fetch::{Fetchers, HttpRequest, Method};
use orb_frontier::robots::MAX_BYTES;
use orb_frontier::{After, Frontier, FrontierConfig, Next};
use orb_page::{Document, FailureKind, Lease, Outcome, Purpose, RequestBody, Response, SkipReason};
use orb_store::{DroppedPage, RobotsRecord};
use orb_urls::{Address, Canonicaliser};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum content read of a page that is passed through.
const MAX_CONTENT: u64 = 40_000_000;

/// A request to make.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) address: Address,
    /// The POST body.
    pub(super) payload: Option<RequestBody>,
}

impl Question {
    /// A plain GET.
    pub(super) fn plain(address: Address) -> Self {
        Self { address, payload: None }
    }
}

/// A page that was passed through.
pub(super) struct Passed {
    /// Its final URL.
    pub(super) address: Address,
    /// Whether it has a URL of its own, so that it could be requested again.
    pub(super) addressed: bool,
    /// Status code.
    pub(super) status: u16,
    /// The base of its links.
    pub(super) base: Address,
    /// Its document.
    pub(super) document: Document,
    /// Its source.
    pub(super) html: String,
}

/// Why a page could not be passed through.
#[derive(Debug)]
pub(super) enum Halt {
    /// For this reason.
    Why(String),
    /// The user asked to stop.
    Stopped,
}

/// Goes from page to page.
pub(super) struct Walker<'a> {
    fetchers: Arc<Fetchers>,
    /// Who renders pages, if anybody does.
    pub(super) render: Option<Arc<RenderDesk>>,
    /// The step that is being walked.
    pub(super) step: Option<u32>,
    frontier: Arc<Mutex<Frontier>>,
    trail: Trail,
    clock: SteadyClock,
    canonical: Canonicaliser,
    max_redirects: u8,
    /// The sitemaps that robots.txt files have named, as written there.
    sitemaps: Vec<String>,
    stop: &'a Stop,
}

fn lock(frontier: &Mutex<Frontier>) -> std::sync::MutexGuard<'_, Frontier> {
    frontier.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of one call to the frontier.
enum Step {
    Answered(Box<Response>),
    Again,
}

impl<'a> Walker<'a> {
    /// A walker that has made no requests yet; others may have, so every host counts as just
    /// contacted.
    pub(super) fn new(
        fetchers: Arc<Fetchers>,
        config: FrontierConfig,
        canonical: Canonicaliser,
        max_redirects: u8,
        stop: &'a Stop,
    ) -> Self {
        let clock = SteadyClock::start();
        let frontier = Arc::new(Mutex::new(Frontier::new(config, clock.now(), true)));
        let (render, step, trail, sitemaps) = (None, None, Trail::default(), Vec::new());
        Self { fetchers, render, step, frontier, trail, clock, canonical, max_redirects, sitemaps, stop }
    }

    /// The canonicaliser of this walk.
    pub(super) fn canonical(&self) -> &Canonicaliser {
        &self.canonical
    }

    /// The sitemaps that the robots.txt files on the way have named, as written there.
    pub(super) fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Makes a request and follows redirects.
    pub(super) async fn pass(&mut self, question: Question) -> Result<Passed, Halt> {
        let mut question = question;
        for _ in 0..=self.max_redirects {
            let response = self.ask(&question).await?;
            let Some(to) = redirect(&response) else { return Ok(self.read(&question, &response)) };
            let at = &question.address;
            let next = self.canonical.resolve(at, &to);
            let next =
                next.map_err(|why| Halt::Why(format!("{at} leads to '{to}', which is not a valid URL: {why}")))?;
            let keeps = matches!(response.status, 307 | 308) && question.payload.is_some();
            if keeps && next.host() != at.host() {
                return Err(Halt::Why(format!("{at} wants the form to be sent on to another host, {}", next.host())));
            }
            let payload = question.payload.take().filter(|_| keeps);
            question = Question { address: next, payload };
        }
        Err(Halt::Why(format!("{} redirects too many times (frontier.max_redirects)", question.address)))
    }

    /// Makes one request, when its host is due.
    async fn ask(&mut self, question: &Question) -> Result<Response, Halt> {
        let (page, host) = self.trail.queue(&question.address);
        lock(&self.frontier).admitted(host, self.clock.now());
        let answer = loop {
            if self.stop.is_set() {
                break Err(Halt::Stopped);
            }
            match self.turn(question).await {
                Ok(Step::Again) => {}
                Ok(Step::Answered(response)) => break Ok(*response),
                Err(halt) => break Err(halt),
            }
        };
        self.trail.leave(host, page);
        lock(&self.frontier).committed(&[page]);
        answer
    }

    /// Does what the frontier says.
    async fn turn(&mut self, question: &Question) -> Result<Step, Halt> {
        let next = lock(&self.frontier).next(self.clock.now());
        let url = &question.address;
        match next {
            Next::Lease(lease, _) if lease.purpose == Purpose::Robots => self.robots(&lease).await,
            Next::Lease(lease, _) => return self.fetch(&lease, question).await,
            // The trail is in memory: nothing to wait for.
            Next::Read(read) => {
                let Ok(answer) = read.answer(&self.trail);
                lock(&self.frontier).answered(answer, self.clock.now());
            }
            Next::Resolve { host, name, port } => {
                let answer = self.fetchers.resolve(&name, port).await;
                lock(&self.frontier).resolved(host, answer, self.clock.now());
            }
            Next::Drop(DroppedPage { why: SkipReason::Robots, .. }) => {
                return Err(Halt::Why(format!(
                    "robots.txt forbids {url}; frontier.ignore_robots is for sites of your own"
                )));
            }
            Next::Drop(DroppedPage { why, .. }) => return Err(Halt::Why(format!("{url} is not fetched: {why}"))),
            Next::Fail(_, _, failure) => return Err(Halt::Why(format!("{url}: {}", failure.detail))),
            Next::Wait(until) => {
                let rest = until.since(self.clock.now());
                tokio::time::sleep(rest.min(Duration::from_millis(200))).await;
            }
            // A walk learns nothing about aliases.
            Next::Busy | Next::Starved | Next::Alias(..) => tokio::time::sleep(Duration::from_millis(20)).await,
            Next::Finished | Next::BudgetSpent => {
                return Err(Halt::Why(format!(
                    "{url}: its host does not answer as it should, or wants to be left alone"
                )));
            }
        }
        Ok(Step::Again)
    }

    async fn fetch(&self, lease: &Lease, question: &Question) -> Result<Step, Halt> {
        let outcome = match HttpRequest::of(lease) {
            Ok(request) => {
                let payload = question.payload.as_ref();
                let method = if payload.is_some() { Method::Post } else { Method::Get };
                self.send(lease, &HttpRequest { method, payload, any_type: true, ..request }).await
            }
            // Another protocol than HTTP: nothing can be sent along.
            Err(_) if question.payload.is_none() => self.fetchers.fetch(lease, &self.on_wire(lease)).await,
            Err(failure) => return Err(Halt::Why(failure.detail)),
        };
        let outcome = self.draw(lease, outcome).await;
        let after = self.done(lease, &outcome);
        match outcome.result {
            Ok(response) if after == After::Record => Ok(Step::Answered(Box::new(response))),
            Ok(_) => Ok(Step::Again),
            // A request body may have been processed although no response arrived.
            Err(failure)
                if after == After::Record
                    || (question.payload.is_some()
                        && !matches!(failure.kind, FailureKind::Dns | FailureKind::Connect)) =>
            {
                Err(Halt::Why(format!("{}: {}", question.address, failure.detail)))
            }
            Err(_) => Ok(Step::Again),
        }
    }

    /// Has a page drawn by a browser if its step wants that.
    async fn draw(&self, lease: &Lease, outcome: Outcome) -> Outcome {
        let Some(desk) = &self.render else { return outcome };
        let lease = Lease { step: self.step, ..lease.clone() };
        let door = Arc::clone(&self.frontier) as Arc<dyn FrontierDoor>;
        Box::pin(desk.attend(&lease, outcome, (door, self.clock))).await.0
    }

    async fn send(&self, lease: &Lease, request: &HttpRequest<'_>) -> Outcome {
        self.fetchers.send(request, &self.on_wire(lease)).await
    }

    fn on_wire(&self, lease: &Lease) -> OnWire<'_> {
        OnWire::new(&self.frontier, self.clock, lease.host)
    }

    fn done(&self, lease: &Lease, outcome: &Outcome) -> After {
        let now = self.clock.now();
        let ended = crate::drive::ended(&lease.url, outcome, now);
        lock(&self.frontier).done(lease, &ended, now).0
    }

    /// Reads a robots.txt for the frontier.
    async fn robots(&mut self, lease: &Lease) {
        let Ok(request) = HttpRequest::of(lease) else { return };
        let outcome = self.send(lease, &request).await;
        self.done(lease, &outcome);
        let at = self.clock.now();
        let answer = match outcome.result {
            Err(failure) => Err(failure),
            Ok(response) => {
                let moved = redirect(&response).and_then(|to| {
                    let own = self.canonical.parse(&lease.url).ok()?;
                    self.canonical.resolve(&own, &to).ok()
                });
                if moved.is_some_and(|to| lock(&self.frontier).robots_moved(lease.host, to.as_str(), at)) {
                    return;
                }
                let is_success = (200..300).contains(&response.status);
                let text = content(&response, if is_success { MAX_BYTES as u64 } else { 0 });
                let text = String::from_utf8_lossy(&text).into_owned();
                Ok(RobotsRecord { at, status: response.status, text, crawl_delay: None })
            }
        };
        let fact = lock(&self.frontier).robots(lease.host, answer, at);
        self.sitemaps.extend(fact.sitemaps.into_iter().flatten());
    }

    fn read(&self, question: &Question, response: &Response) -> Passed {
        let bytes = content(response, MAX_CONTENT);
        let (mime, charset) = (response.headers.mime(), response.headers.charset());
        let address = question.address.clone();
        let content =
            Content { bytes: &bytes, mime: mime.as_deref(), charset: charset.as_deref(), url: address.as_str() };
        let document = orb_aside::extract(&content, HelperLimits::default());
        let html = orb_extract::text_of(&content).into_owned();
        let base = self.canonical.canonical_base(&address, document.base.as_deref()).into_owned();
        Passed { addressed: question.payload.is_none(), address, status: response.status, base, document, html }
    }
}

/// The redirect target of a response.
fn redirect(response: &Response) -> Option<String> {
    matches!(response.status, 301 | 302 | 303 | 307 | 308).then(|| response.headers.location()).flatten()
}

fn content(response: &Response, cap: u64) -> Bytes {
    let codings = response.headers.codings();
    orb_fetch::decode(&response.body, &codings, cap).bytes
}
