//! What does a worker make of a response?
//!
//! The middle of a page's life, and its most CPU-intensive part: remove the codings, sniff the
//! type, extract, resolve and judge the links, hash, and pack for the archive. It runs on the
//! reading threads, touches no store and no socket, and ends in a [`Reading`] for the recorder.
//! Whatever the web did wrong is recorded as the visit's problem.

pub(crate) mod desk;
mod drawn;
mod lane;
mod links;
pub(crate) mod picture;
pub(crate) mod score;
pub(crate) mod sessions;
mod trouble;

pub(crate) use links::out_of_scope;

use crate::indexing::{Wording, WordingRules};
use crate::read::drawn::tell_drawing;
use crate::read::score::Topic;
use crate::read::sessions::Sessions;
use crate::read::trouble::{framing, joined, truncation};
use crate::render::DrawnExtras;
use crate::scope::SharedScope;
use crate::steps::StepRules;
use crate::track::revisit::{RevisitDecision, Revisits, copy_version, flag_failure, flag_listing, repeated};
use bytes::Bytes;
use hashbrown::HashMap;
use orb_aside::Helpers;
use orb_extract::Content;
use orb_page::{
    Document, Failure, FailureKind, Flag, Lease, Listing, Moment, Outcome, PageKind, Problem, Response, ResponseKind,
    Truncation, Version, Visit,
};
use orb_store::{Encoded, Encoder, Exchange, RecordedAs, Revisit, StoreError};
use orb_urls::surt::cdx_key;
use orb_urls::{Address, Canonicaliser};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A page read and packed, ready to be recorded.
pub(crate) struct Reading {
    /// Its visit.
    pub visit: Visit,
    /// Its archive records; the last one answers for the visit.
    pub records: Vec<Encoded>,
    /// Its wire bytes, counted against the pipeline's limit.
    pub wire_bytes: u64,
    /// Its gist, apart from its own URL; see [`orb_extract::gist`].
    pub gist: Option<u64>,
    /// Approximate heap bytes of its links and tokens.
    pub heap_bytes: u64,
    /// Its tokens, if there is an index.
    pub words: Option<Box<Wording>>,
    /// What is known about the session ids of its host, if it revealed something new.
    pub sessions: Option<String>,
    /// Whether the server set a cookie with it.
    pub sets_cookie: bool,
}

impl Reading {
    /// A visit of which there is nothing to archive and nothing more to say.
    fn bare(visit: Visit, wire_bytes: u64) -> Self {
        Self {
            visit,
            records: Vec::new(),
            wire_bytes,
            gist: None,
            heap_bytes: 0,
            words: None,
            sessions: None,
            sets_cookie: false,
        }
    }
}

/// What a document revealed besides its visit.
#[derive(Default)]
struct DocumentFindings {
    gist: Option<u64>,
    words: Option<Box<Wording>>,
    sessions: Option<String>,
}

/// How a reader reads.
#[derive(Clone)]
pub(crate) struct ReadRules {
    /// The canonicaliser.
    pub canonical: Arc<Canonicaliser>,
    /// The session ids of hosts.
    pub sessions: Arc<Sessions>,
    /// What belongs to the collection; redirecting seeds extend it.
    pub scope: Arc<SharedScope>,
    /// Maximum distance from a seed.
    pub depth: Option<u32>,
    /// What replaces both for the pages of a step.
    pub steps: Arc<HashMap<u32, StepRules>>,
    /// Maximum length of a redirect chain.
    pub max_redirects: u8,
    /// Whether `nofollow` links are followed.
    pub follow_nofollow: bool,
    /// Maximum decoded size of content.
    pub max_content: u64,
    /// Maximum decoded size of documents that are no web pages.
    pub max_document: u64,
    /// Our name, for X-Robots-Tag.
    pub agent: Arc<str>,
    /// The topic for best-first order.
    pub topic: Arc<Topic>,
    /// Compression level of archive records; `None` without an archive.
    pub archive_level: Option<i32>,
    /// Where large records wait to be archived.
    pub spool_dir: PathBuf,
    /// How to tokenize for the index, if there is one.
    pub wording: Option<WordingRules>,
    /// How revisited pages are judged, if there are any.
    pub revisits: Option<Revisits>,
    /// Who reads formats that may kill their reader.
    pub helpers: Arc<Helpers>,
}

impl ReadRules {
    /// Scope and maximum depth for a page of this step.
    pub(crate) fn of(&self, step: Option<u32>) -> (&SharedScope, Option<u32>) {
        step.and_then(|step| self.steps.get(&step))
            .map_or((&self.scope, self.depth), |rules| (&rules.scope, rules.depth))
    }
}

/// The state of one reading thread.
pub(crate) struct ResponseReader {
    rules: ReadRules,
    encoder: Option<Encoder>,
    by: Arc<str>,
    /// A buffer for the text of the next page.
    room: String,
}

/// Decoded content.
struct DecodedContent {
    bytes: Bytes,
    length: u64,
    digest: Option<[u8; 32]>,
    problem: Option<Problem>,
}

impl ResponseReader {
    /// A reader with its worker's name.
    pub(crate) fn new(rules: ReadRules, by: Arc<str>) -> Self {
        let encoder = rules.archive_level.map(|level| Encoder::new(level).spooling_in(rules.spool_dir.clone()));
        Self { rules, encoder, by, room: String::new() }
    }

    /// Where what does not fit into memory waits.
    pub(crate) fn spool_dir(&self) -> &Path {
        &self.rules.spool_dir
    }

    /// Reads what came back for a lease; `None` if the page must be fetched once more before it can
    /// be judged.
    pub(crate) fn read(&mut self, lease: &Lease, outcome: Outcome, drawn: Option<&DrawnExtras>) -> Option<Reading> {
        let mut visit = self.blank(lease, outcome.at, total(&outcome));
        match outcome.result {
            Err(failure) => {
                failed(&mut visit, &failure);
                flag_failure(lease, &mut visit);
                Some(Reading::bare(visit, 0))
            }
            Ok(response) => self.answered(lease, visit, &response, drawn),
        }
    }

    /// Packs an exchange that is archived but is not a page, such as a robots.txt.
    pub(crate) fn pack(&mut self, url: &str, at: Moment, response: &Response) -> Option<Encoded> {
        self.encode(url, at, response, (None, None)).unwrap_or_default()
    }

    /// The content of a robots.txt or the like, up to `cap` bytes.
    pub(crate) fn content(&self, response: &Response, cap: u64) -> Bytes {
        orb_fetch::decode(&response.body, &response.headers.codings(), cap).bytes
    }

    /// An address named on a page.
    pub(crate) fn address(&self, lease: &Lease, named: &str) -> Option<Address> {
        let own = self.rules.canonical.parse(&lease.url).ok()?;
        self.rules.canonical.resolve(&own, named).ok()
    }

    /// Where something that is not a page is redirected to, session ids included.
    pub(crate) fn moved_to(&self, lease: &Lease, location: &str) -> Option<Address> {
        self.rules.sessions.target(lease, location)
    }

    fn blank(&self, lease: &Lease, at: Moment, elapsed: Duration) -> Visit {
        Visit {
            depth: lease.depth,
            redirects: lease.redirects,
            elapsed_ms: u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX),
            step: lease.step,
            ..Visit::blank(lease.page, lease.host, lease.url.clone(), at, Arc::clone(&self.by))
        }
    }

    fn answered(
        &mut self,
        lease: &Lease,
        mut visit: Visit,
        response: &Response,
        drawn: Option<&DrawnExtras>,
    ) -> Option<Reading> {
        let opened = self.open(response);
        visit.status = Some(response.status);
        visit.transferred = response.original().wire.len();
        if let Some(version) = repeated(lease, response.status, opened.digest) {
            return Some(self.unchanged(lease, visit, response, version));
        }
        if self.reloads(lease, response, &opened.bytes) {
            return None;
        }
        visit.length = opened.length;
        visit.digest = opened.digest;
        visit.etag = response.headers.get("etag");
        visit.last_modified = response.headers.get("last-modified");
        let header_mime = response.headers.mime();
        let mime = orb_extract::sniff(&opened.bytes, header_mime.as_deref()).to_string();
        visit.kind = kind_of(response, &mime);
        if visit.kind == PageKind::HttpError || visit.kind == PageKind::Timeout {
            visit.flag = Flag::Error;
        }
        if visit.kind == PageKind::Listing {
            flag_listing(lease, &mut visit);
        } else if let Some(revisits) = &self.rules.revisits
            && revisits.flag(lease, &mut visit, response, &opened.bytes) == RevisitDecision::LookAgain
        {
            return None;
        }
        let mut problems: Vec<Problem> = opened.problem.into_iter().collect();
        problems.extend(response.truncated.map(truncation));
        problems.extend(framing(response));
        problems.extend(
            response.headers.get("reply").filter(|_| !is_http(response)).map(|said| Problem::new("refused", said)),
        );
        let mut taken = DocumentFindings::default();
        if (200..300).contains(&response.status) {
            let mut document = self.extract(lease, response, header_mime.as_deref(), &opened.bytes);
            if let Some(drawn) = drawn {
                self.unite(lease, response, &mut document, drawn);
                tell_drawing(&mut visit, drawn, &mut problems);
            }
            taken = self.take(lease, &mut visit, response, document, &mut problems);
        } else {
            taken.sessions = self.follow_redirect(lease, &mut visit, response);
            if let Some(to) = visit.links.first().filter(|_| visit.known && visit.kind == PageKind::Redirect) {
                visit.moved = Some(visit.links.url(to).to_owned());
                visit.detail = Some(format!("moved: the server answered {}", response.status));
            }
        }
        visit.mime = Some(mime).filter(|_| !opened.bytes.is_empty()).or(header_mime);
        let payload = visit.digest.filter(|_| shares_payload(response));
        let records = self.records(lease, visit.at, response, (payload, drawn)).unwrap_or_else(|error| {
            problems.push(Problem::new("not-archived", error.to_string()));
            Vec::new()
        });
        visit.problem = joined(&problems).or(visit.problem);
        let heap_bytes = visit.links.size() as u64;
        let DocumentFindings { gist, words, sessions } = taken;
        let heap_bytes = heap_bytes + words.as_ref().map_or(0, |words| words.heap_bytes());
        let (wire_bytes, sets_cookie) = (response.wire.len(), response.headers.get("set-cookie").is_some());
        Some(Reading { visit, records, wire_bytes, gist, heap_bytes, words, sessions, sets_cookie })
    }

    /// A page that has not changed: nothing is extracted, and the archive gets a revisit record.
    fn unchanged(&mut self, lease: &Lease, mut visit: Visit, response: &Response, version: &Version) -> Reading {
        visit.etag = response.headers.get("etag");
        visit.last_modified = response.headers.get("last-modified");
        copy_version(&mut visit, version);
        let earlier = version.warc.is_some().then_some(Revisit { url: &lease.url, at: version.at });
        let payload = version.digest.filter(|_| response.status == 304 || shares_payload(response));
        let is_resource = matches!(response.kind, ResponseKind::Resource { .. } | ResponseKind::Rendered { .. });
        if is_resource && (version.warc.is_some() || response.status == 304) {
            // There is no head to archive: the earlier record stands for this visit.
            return Reading::bare(visit, response.wire.len());
        }
        let records = self.encode(&lease.url, visit.at, response, (payload, earlier)).unwrap_or_else(|error| {
            visit.problem = Some(format!("not-archived: {error}"));
            None
        });
        Reading { records: records.into_iter().collect(), ..Reading::bare(visit, response.wire.len()) }
    }

    /// Removes the content coding and hashes the content.
    fn open(&self, response: &Response) -> DecodedContent {
        let is_document = response.headers.mime().is_some_and(|mime| orb_extract::is_document_type(&mime));
        let most = if is_document { self.rules.max_document } else { self.rules.max_content };
        let decoded = orb_fetch::decode(&response.body, &response.headers.codings(), most);
        let problem = decoded.problem.or_else(|| {
            decoded.truncated.then(|| Problem::new("content-too-large", "the content is larger than the limit"))
        });
        let whole = !matches!(response.truncated, Some(Truncation::Length | Truncation::Unwanted));
        let digest = whole.then(|| Sha256::digest(&decoded.bytes).into());
        DecodedContent { length: decoded.bytes.len() as u64, digest, problem, bytes: decoded.bytes }
    }

    /// Extracts the content, with the media type of its header.
    fn extract(&mut self, lease: &Lease, response: &Response, mime: Option<&str>, bytes: &[u8]) -> Document {
        let charset = response.headers.charset();
        let content = Content { bytes, mime, charset: charset.as_deref(), url: lease.request_url() };
        // Only the index tells a page's own text from what stands around it.
        self.rules.helpers.extract(&content, std::mem::take(&mut self.room), self.rules.wording.is_some())
    }

    /// Moves the document into the visit; returns the gist of an HTML page, and its tokens.
    fn take(
        &mut self,
        lease: &Lease,
        visit: &mut Visit,
        response: &Response,
        mut document: Document,
        problems: &mut Vec<Problem>,
    ) -> DocumentFindings {
        problems.append(&mut document.problems);
        visit.charset.clone_from(&document.charset);
        visit.title = document.title.take();
        visit.lang = document.lang.take();
        if !document.text.is_empty() {
            visit.simhash = Some(orb_extract::simhash(&document.text));
        }
        let title = visit.title.as_deref().unwrap_or_default();
        let gist = || orb_extract::gist(title, &document.text, lease.request_url(), visit.simhash.unwrap_or_default());
        let gist = (visit.kind == PageKind::Html).then(gist);
        document.links.extend(orb_extract::header_links(&response.headers));
        let robots = document.robots.merge(orb_extract::x_robots(&response.headers, &self.rules.agent));
        let words = self.rules.wording.map(|rules| Box::new(Wording::of(&document, &lease.url, robots.noindex, rules)));
        self.room = std::mem::take(&mut document.text);
        let sessions = self.point(lease, visit, document, robots, problems);
        DocumentFindings { gist, words, sessions }
    }

    fn encode(
        &mut self,
        url: &str,
        at: Moment,
        response: &Response,
        (digest, revisit): (Option<[u8; 32]>, Option<Revisit<'_>>),
    ) -> Result<Option<Encoded>, StoreError> {
        let Some(encoder) = self.encoder.as_mut() else { return Ok(None) };
        let key = cdx_key(url);
        let mime = response.headers.mime();
        let exchange = Exchange {
            url,
            key: &key,
            at,
            recorded_as: recorded_as(&response.kind, mime.as_deref()),
            request_head: response.request_head(),
            head: response.head(),
            wire: &response.wire,
            truncated: response.truncated,
            ip: response.peer.map(|p| p.ip()),
            digest,
            revisit,
        };
        encoder.exchange(&exchange).map(Some)
    }
}

/// What the archive records an answer as. One with a head that is no HTTP/1 is kept as bytes.
fn recorded_as<'a>(kind: &'a ResponseKind, mime: Option<&'a str>) -> RecordedAs<'a> {
    const BYTES: &str = "application/octet-stream";
    match kind {
        ResponseKind::Http { standard: true, .. } => RecordedAs::Response,
        ResponseKind::Http { .. } | ResponseKind::Rendered { .. } => {
            RecordedAs::Resource { mime: BYTES, conversation: None }
        }
        ResponseKind::Resource { conversation } => {
            RecordedAs::Resource { mime: mime.unwrap_or(BYTES), conversation: conversation.as_ref() }
        }
    }
}

fn is_http(response: &Response) -> bool {
    matches!(response.kind, ResponseKind::Http { .. })
}

/// The total duration.
fn total(outcome: &Outcome) -> Duration {
    let t = outcome.timings;
    t.dns + t.connect + t.tls + t.wait + t.body
}

/// Whether the content is what the archive's payload digest covers: no coding of either kind.
fn shares_payload(response: &Response) -> bool {
    response.headers.get("content-encoding").is_none() && response.headers.get("transfer-encoding").is_none()
}

/// The page kind of a response.
fn kind_of(response: &Response, mime: &str) -> PageKind {
    match (response.status, response.truncated) {
        (300..=399, _) if response.headers.location().is_some() => PageKind::Redirect,
        (status, _) if !(200..300).contains(&status) => PageKind::HttpError,
        (_, Some(Truncation::Time)) => PageKind::Timeout,
        (_, Some(Truncation::Length | Truncation::Unwanted)) => PageKind::Binary,
        _ if mime == Listing::MIME && matches!(response.kind, ResponseKind::Resource { .. }) => PageKind::Listing,
        _ if mime == "text/html" || mime == "application/xhtml+xml" => PageKind::Html,
        _ => PageKind::Binary,
    }
}

fn failed(visit: &mut Visit, failure: &Failure) {
    visit.flag = Flag::Error;
    visit.problem = Some(failure.detail.clone());
    visit.kind = match failure.kind {
        FailureKind::Dns | FailureKind::Connect | FailureKind::Tls | FailureKind::HostKey | FailureKind::Guard => {
            PageKind::DomainError
        }
        FailureKind::Timeout => PageKind::Timeout,
        FailureKind::Protocol | FailureKind::Malformed | FailureKind::Unsupported | FailureKind::Local => {
            PageKind::HttpError
        }
    };
}

#[cfg(test)]
mod tests;
