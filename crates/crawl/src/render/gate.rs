//! May this page have that part?
//!
//! robots.txt holds for parts as for pages, unless the project says otherwise: the rules of hosts
//! that the frontier works on are its own; those of others are fetched here, once a run. A host
//! that backs off gets no requests.

use crate::drive::clock::SteadyClock;
use crate::shared::SharedState;
use hashbrown::HashMap;
use orb_fetch::{BoxFuture, Fetchers, HttpRequest, Method, Unwatched, Validators};
use orb_frontier::robots::{MAX_BYTES, MAX_REDIRECTS};
use orb_frontier::{Frontier, Robots};
use orb_page::{FailureKind, HostId, Outcome};
use orb_render::{PartGate, PartRefusal};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;
use url::{Position, Url};

/// Maximum hosts whose rules are kept.
const MOST: usize = 10_000;

type RobotsCell = Arc<OnceCell<Arc<Robots>>>;

/// The rules of hosts that no page is fetched from.
pub(super) struct RobotsDesk {
    fetchers: Arc<Fetchers>,
    agent: String,
    obeyed: bool,
    known: Mutex<HashMap<String, RobotsCell>>,
}

/// Where the frontier is that grants the leases: that of the crawl, or that of a walk.
pub(crate) trait FrontierDoor: Send + Sync {
    /// Locks it.
    fn frontier(&self) -> MutexGuard<'_, Frontier>;
}

impl FrontierDoor for SharedState {
    fn frontier(&self) -> MutexGuard<'_, Frontier> {
        Self::frontier(self)
    }
}

impl FrontierDoor for Mutex<Frontier> {
    fn frontier(&self) -> MutexGuard<'_, Frontier> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The gate of one page.
pub(super) struct PageGate {
    host: HostId,
    origin: String,
    robots: Arc<RobotsDesk>,
    door: Arc<dyn FrontierDoor>,
    clock: SteadyClock,
    /// The hosts of its parts, as far as the frontier knows them.
    hosts: Mutex<HashMap<String, Option<HostId>>>,
    asked_own: AtomicU32,
}

impl PageGate {
    pub(super) fn new(
        host: HostId,
        url: &Url,
        robots: Arc<RobotsDesk>,
        (door, clock): (Arc<dyn FrontierDoor>, SteadyClock),
    ) -> Self {
        let (hosts, asked_own) = (Mutex::default(), AtomicU32::new(0));
        Self { host, origin: origin(url), robots, door, clock, hosts, asked_own }
    }

    /// Number of parts that its own host was asked for.
    pub(super) fn asked_own(&self) -> u32 {
        self.asked_own.load(Ordering::Relaxed)
    }

    /// The host of a part, if the frontier knows it.
    fn host_of(&self, url: &Url) -> Option<HostId> {
        let origin = origin(url);
        if origin == self.origin {
            return Some(self.host);
        }
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        *hosts.entry(origin).or_insert_with(|| {
            let name = url.host_str()?.trim_start_matches('[').trim_end_matches(']');
            self.door.frontier().host_named(url.scheme(), name, url.port_or_known_default()?)
        })
    }
}

impl PartGate for PageGate {
    fn admits<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<(), PartRefusal>> {
        Box::pin(async move {
            let host = self.host_of(url);
            let mut rules = None;
            if let Some(host) = host {
                let mut frontier = self.door.frontier();
                if frontier.is_backing_off(host, self.clock.now()) {
                    return Err(PartRefusal::BackingOff);
                }
                rules = frontier.rules_of(host);
            }
            if !self.robots.obeyed {
                return Ok(());
            }
            let rules = match rules {
                Some(rules) => rules,
                None => self.robots.rules(url).await,
            };
            let allowed = rules.is_allowed(&url[Position::BeforePath..Position::AfterQuery]);
            allowed.then_some(()).ok_or(PartRefusal::Robots)
        })
    }

    fn sent(&self, url: &Url, peer: Option<SocketAddr>) {
        let host = self.host_of(url);
        if host == Some(self.host) {
            self.asked_own.fetch_add(1, Ordering::Relaxed);
        }
        self.door.frontier().part_sent(host, peer.map(|peer| peer.ip()), self.clock.now_rounded_up());
    }
}

impl RobotsDesk {
    pub(super) fn new(fetchers: Arc<Fetchers>, agent: String, obeyed: bool) -> Self {
        Self { fetchers, agent, obeyed, known: Mutex::default() }
    }

    /// The rules of a host, fetched if need be.
    async fn rules(&self, url: &Url) -> Arc<Robots> {
        let origin = origin(url);
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST {
                known.clear();
            }
            Arc::clone(known.entry(origin.clone()).or_default())
        };
        Arc::clone(cell.get_or_init(|| self.fetch(origin)).await)
    }

    async fn fetch(&self, origin: String) -> Arc<Robots> {
        let mut url = Url::parse(&origin).and_then(|root| root.join("/robots.txt")).ok();
        for _ in 0..=MAX_REDIRECTS {
            let Some(asked) = url.take() else { break };
            let response = match self.ask(asked.clone()).await.result {
                Ok(response) => response,
                // The address guard refuses the part, too, and says so.
                Err(failure) if failure.kind == FailureKind::Guard => break,
                Err(_) => return Arc::new(Robots::shut()),
            };
            let location = response.headers.location().filter(|_| (300..400).contains(&response.status));
            match location.and_then(|to| asked.join(&to).ok()).filter(|to| matches!(to.scheme(), "http" | "https")) {
                Some(next) => url = Some(next),
                None => {
                    let text = orb_fetch::decode(&response.body, &response.headers.codings(), MAX_BYTES as u64).bytes;
                    return Arc::new(Robots::from_status(response.status, &text, &self.agent));
                }
            }
        }
        // After more redirects than are followed, nothing is forbidden (RFC 9309, section 2.3.1.2).
        Arc::new(Robots::default())
    }

    async fn ask(&self, url: Url) -> Outcome {
        let request = HttpRequest {
            method: Method::Get,
            url,
            addr: None,
            referrer: None,
            payload: None,
            validators: Validators::default(),
            any_type: true,
            foreign: true,
            more: Vec::new(),
        };
        self.fetchers.send(&request, &Unwatched).await
    }
}

fn origin(url: &Url) -> String {
    url[..Position::BeforePath].to_owned()
}
