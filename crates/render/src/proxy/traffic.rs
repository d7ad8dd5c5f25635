//! What does one page ask for, and what does it get?
//!
//! The first request is the page itself: it is answered from the bytes that were fetched before.
//! Every other one is a part. A part is judged by the crawl, counted against the page's budget,
//! taken from the cache or fetched, at most six at once from one host, and kept for the archive.

use super::cache::{CachedPart, PartCache, PartKey, is_shared};
use crate::{PageJob, PartGate, PartRefusal};
use bytes::Bytes;
use orb_fetch::{Fetchers, HttpRequest, Method, Validators, Watch};
use orb_page::{FailureKind, Headers, Outcome, RequestBody, Response};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use url::Url;

/// Requests of one page to one host at once, as in browsers.
const PER_HOST: usize = 6;

/// Maximum bytes of a part that the browser gets.
const LARGEST: u64 = 32 << 20;

/// Request fields that are ours to set, or that say something about this browser that is not so.
const OURS: &[&str] = &[
    "host",
    "user-agent",
    "accept-encoding",
    "accept-language",
    "content-type",
    "proxy-connection",
    "proxy-authorization",
    "if-none-match",
    "if-modified-since",
    "if-range",
    "range",
    "te",
    "upgrade-insecure-requests",
];

/// What a page may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrafficRules {
    /// Maximum requests.
    pub(crate) max_requests: usize,
    /// Maximum bytes of all parts.
    pub(crate) max_bytes: u64,
}

/// A part that was fetched over the network.
#[derive(Debug)]
pub struct FetchedPart {
    /// Its URL.
    pub url: String,
    /// The request and what came back.
    pub outcome: Outcome,
}

/// How many parts a page asked for, and what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartCounts {
    /// Fetched over the network.
    pub fetched: u32,
    /// Known from other pages.
    pub cached: u32,
    /// Not to be had.
    pub failed: u32,
    /// Refused, by reason.
    pub refused: HashMap<PartRefusal, u32>,
}

/// A request of the browser.
pub(super) struct ProxyRequest {
    pub(super) method: String,
    pub(super) url: Url,
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: Bytes,
    /// Whether it wants to become another connection.
    pub(super) upgrades: bool,
}

/// What the browser gets.
pub(super) struct ProxyReply {
    pub(super) status: u16,
    pub(super) headers: Headers,
    pub(super) body: Bytes,
}

/// The requests of one page.
pub(crate) struct PageTraffic {
    page: Mutex<Option<ProxyReply>>,
    url: Url,
    /// Whether the page itself was asked for.
    begun: AtomicBool,
    rules: TrafficRules,
    fetchers: Arc<Fetchers>,
    cache: Arc<PartCache>,
    gate: Arc<dyn PartGate>,
    state: Mutex<TrafficState>,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
}

struct TrafficState {
    open: usize,
    /// When a request began or ended last.
    changed: Instant,
    asked: usize,
    bytes: u64,
    parts: Vec<FetchedPart>,
    counts: PartCounts,
    /// How each URL was answered: status and media type.
    answers: PartAnswers,
}

/// How URLs were answered: status, 0 if there was none, and media type.
type PartAnswers = BTreeMap<String, (u16, Option<String>)>;

/// A request that is open.
struct OpenRequest<'a>(&'a PageTraffic);

impl<'a> OpenRequest<'a> {
    fn begin(traffic: &'a PageTraffic) -> Self {
        let mut state = traffic.state();
        state.open += 1;
        state.changed = Instant::now();
        Self(traffic)
    }
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open -= 1;
        state.changed = Instant::now();
    }
}

/// Tells the crawl when a part is on the wire.
struct PartWatch<'a> {
    gate: &'a dyn PartGate,
    url: &'a Url,
}

impl Watch for PartWatch<'_> {
    fn sent(&self, peer: Option<SocketAddr>) {
        self.gate.sent(self.url, peer);
    }
}

impl PageTraffic {
    /// The traffic of a page that has asked for nothing yet.
    pub(crate) fn new(
        job: &PageJob,
        rules: TrafficRules,
        (fetchers, cache): (Arc<Fetchers>, Arc<PartCache>),
        gate: Arc<dyn PartGate>,
    ) -> Self {
        let page = ProxyReply { status: job.status, headers: job.headers.clone(), body: job.body.clone() };
        let (asked, bytes) = (0, 0);
        let (parts, counts, answers) = (Vec::new(), PartCounts::default(), PartAnswers::new());
        let state = TrafficState { open: 0, changed: Instant::now(), asked, bytes, parts, counts, answers };
        Self {
            page: Mutex::new(Some(page)),
            url: job.url.clone(),
            begun: AtomicBool::new(false),
            rules,
            fetchers,
            cache,
            gate,
            state: Mutex::new(state),
            hosts: Mutex::default(),
        }
    }

    /// How long nothing has been under way; `None` while something is.
    pub(crate) fn quiet_for(&self) -> Option<Duration> {
        let state = self.state();
        (state.open == 0).then(|| state.changed.elapsed())
    }

    /// Number of requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.state().asked
    }

    /// Whether the browser has asked for the page itself.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    /// What was fetched, once.
    pub(crate) fn take_parts(&self) -> (Vec<FetchedPart>, PartCounts) {
        let mut state = self.state();
        (std::mem::take(&mut state.parts), std::mem::take(&mut state.counts))
    }

    /// How each URL was answered, once; what was refused is not among them.
    pub(crate) fn take_answers(&self) -> PartAnswers {
        std::mem::take(&mut self.state().answers)
    }

    fn note_answer(&self, url: &Url, status: u16, headers: &Headers) {
        self.state().answers.insert(url.as_str().to_owned(), (status, headers.mime()));
    }

    fn state(&self) -> MutexGuard<'_, TrafficState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request of the browser; `None` as if the server had hung up.
    pub(super) async fn answer(&self, asked: ProxyRequest) -> Option<ProxyReply> {
        let _open = OpenRequest::begin(self);
        if let Some(page) = self.page_itself(&asked) {
            return Some(page);
        }
        let method = match asked.method.as_str() {
            _ if asked.upgrades => return Some(self.refuse(PartRefusal::Socket)),
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "POST" => Method::Post,
            // A question whether another request would be welcome: the answer to that one tells.
            "OPTIONS" => return Some(welcome(&asked)),
            _ => return Some(self.refuse(PartRefusal::Method)),
        };
        if !self.affords_another() {
            return Some(self.refuse(PartRefusal::Budget));
        }
        if method != Method::Get {
            return self.fetch(&asked, method).await;
        }
        let asker = format!("{} {}", asked.field("origin").unwrap_or_default(), self.is_foreign(&asked.url));
        let key: PartKey = (asked.url.as_str().to_owned(), asker);
        let turn = self.cache.turn(&key);
        let _turn = turn.lock().await;
        if let Some(part) = self.cache.get(&key) {
            self.state().counts.cached += 1;
            self.note_answer(&asked.url, part.status, &part.headers);
            return Some(ProxyReply { status: part.status, headers: part.headers, body: part.body });
        }
        let reply = self.fetch(&asked, method).await?;
        if is_shared(reply.status, &reply.headers) {
            let (status, headers, body) = (reply.status, reply.headers.clone(), reply.body.clone());
            self.cache.put(key, CachedPart { status, headers, body });
        }
        Some(reply)
    }

    /// The page, for the first request that asks for it. The scheme may differ: browsers know
    /// hosts that they ask by https only.
    fn page_itself(&self, asked: &ProxyRequest) -> Option<ProxyReply> {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = |url: &Url| {
            (url.host_str().map(str::to_owned), url[url::Position::BeforePath..url::Position::AfterQuery].to_owned())
        };
        if page.is_none() || asked.method != "GET" || rest(&asked.url) != rest(&self.url) {
            return None;
        }
        self.begun.store(true, Ordering::Relaxed);
        let page = page.take()?;
        self.note_answer(&self.url, page.status, &page.headers);
        Some(page)
    }

    fn affords_another(&self) -> bool {
        let mut state = self.state();
        state.asked += 1;
        state.asked <= self.rules.max_requests && state.bytes < self.rules.max_bytes
    }

    fn refuse(&self, why: PartRefusal) -> ProxyReply {
        *self.state().counts.refused.entry(why).or_default() += 1;
        ProxyReply { status: 403, headers: Headers::default(), body: Bytes::new() }
    }

    async fn fetch(&self, asked: &ProxyRequest, method: Method) -> Option<ProxyReply> {
        if let Err(why) = self.gate.admits(&asked.url).await {
            return Some(self.refuse(why));
        }
        let slots = self.slots(&asked.url);
        let _slot = slots.acquire().await.ok()?;
        let payload = (method == Method::Post).then(|| asked.payload());
        let request = asked.request(method, payload.as_ref(), self.is_foreign(&asked.url));
        let watch = PartWatch { gate: &*self.gate, url: &asked.url };
        let mut outcome = self.fetchers.send(&request, &watch).await;
        if outcome.result.as_ref().is_ok_and(|response| response.challenged) {
            outcome = self.fetchers.send(&request, &watch).await;
        }
        let reply = match &outcome.result {
            Ok(response) => reply_of(response),
            Err(failure) if failure.kind == FailureKind::Guard => return Some(self.refuse(PartRefusal::Guard)),
            Err(_) => None,
        };
        self.keep(asked, outcome);
        reply
    }

    /// Whether a part is of another site than the page. What we are logged in to is none of the
    /// business of pages elsewhere.
    fn is_foreign(&self, url: &Url) -> bool {
        fn site(url: &Url) -> &str {
            orb_urls::site::registrable(url.host_str().unwrap_or_default())
        }
        site(url) != site(&self.url)
    }

    fn keep(&self, asked: &ProxyRequest, outcome: Outcome) {
        match &outcome.result {
            Ok(response) => self.note_answer(&asked.url, response.status, &response.headers),
            Err(_) => self.note_answer(&asked.url, 0, &Headers::default()),
        }
        let mut state = self.state();
        match &outcome.result {
            Ok(response) => {
                state.bytes += response.wire.len();
                state.counts.fetched += 1;
                state.parts.push(FetchedPart { url: asked.url.as_str().to_owned(), outcome });
            }
            Err(_) => state.counts.failed += 1,
        }
    }

    fn slots(&self, url: &Url) -> Arc<Semaphore> {
        let host = url[..url::Position::BeforePath].to_owned();
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(hosts.entry(host).or_insert_with(|| Arc::new(Semaphore::new(PER_HOST))))
    }
}

impl ProxyRequest {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn payload(&self) -> RequestBody {
        let mime = self.field("content-type").unwrap_or("application/octet-stream").to_owned();
        RequestBody { mime, bytes: self.body.clone(), kept: self.body.clone() }
    }

    fn request<'a>(&self, method: Method, payload: Option<&'a RequestBody>, foreign: bool) -> HttpRequest<'a> {
        let is_ours = |name: &str| OURS.contains(&name) || name.starts_with("sec-ch-");
        let fields = self.fields.iter().filter(|(name, _)| !is_ours(name));
        let mut url = self.url.clone();
        url.set_fragment(None);
        HttpRequest {
            method,
            url,
            addr: None,
            referrer: None,
            payload,
            validators: Validators::default(),
            any_type: true,
            foreign,
            more: fields.map(|(name, value)| (Cow::Owned(name.clone()), value.clone())).collect(),
        }
    }
}

/// A response as the browser gets it; `None` if it is not whole.
fn reply_of(response: &Response) -> Option<ProxyReply> {
    if response.truncated.is_some() || response.body.len() > LARGEST {
        return None;
    }
    let body = response.body.read(LARGEST).ok()?;
    Some(ProxyReply { status: response.status, headers: response.headers.clone(), body })
}

/// The answer to a CORS preflight.
fn welcome(asked: &ProxyRequest) -> ProxyReply {
    let origin = asked.field("origin").unwrap_or("*");
    let wanted = |name| asked.field(name).unwrap_or("*");
    let fields = [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Credentials", "true"),
        ("Access-Control-Allow-Methods", wanted("access-control-request-method")),
        ("Access-Control-Allow-Headers", wanted("access-control-request-headers")),
    ];
    ProxyReply { status: 204, headers: fields.into_iter().collect(), body: Bytes::new() }
}
