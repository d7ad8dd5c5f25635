//! What do all requests share?

use crate::brake::Brake;
use crate::counting::Counting;
use crate::desk::Desk;
use crate::first::FirstLink;
use crate::fragments::SharedLooks;
use crate::gate::{AllowedHosts, BODIES_AT_ONCE, KnownVisitors, TrustedProxies};
use crate::keys::KeyBook;
use crate::launch::Launcher;
use crate::pulse::Pulse;
use crate::repeats::Repeats;
use crate::shared::SharedProjects;
use crate::viewing::ViewHost;
use crate::websub::Subscriptions;
use orb_answers::StatusBoard;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// How many requests are handled at once; the others wait.
pub(crate) const REQUESTS_AT_ONCE: usize = 64;

/// How many passwords are hashed at once: each takes 19 MiB and a core.
const HASHED_AT_ONCE: usize = 2;

/// How many SQL queries run at once: each may take a core for its whole time.
const QUERIED_AT_ONCE: usize = 2;

/// How many endless responses there may be at once.
pub(crate) const STREAMS_AT_ONCE: usize = 256;

/// What all requests share.
pub(crate) struct AppState {
    /// Who asks the collections.
    pub(crate) desk: Desk,
    /// How the projects stand.
    pub(crate) board: Arc<StatusBoard>,
    /// Who counts what takes long.
    pub(crate) counting: Counting,
    /// What the viewers of one thing share.
    pub(crate) looks: SharedLooks,
    /// Who was recognised a moment ago.
    pub(crate) known: KnownVisitors,
    /// How often passwords may be tried.
    pub(crate) brake: Brake,
    /// The link that makes the first account.
    pub(crate) first: FirstLink,
    /// The projects on the shared store, if there is one.
    pub(crate) shared: Option<Arc<SharedProjects>>,
    /// Who starts runs.
    pub(crate) launcher: Launcher,
    /// Which hosts have proved that they call for their own pages.
    pub(crate) keys: Arc<KeyBook>,
    /// Which feeds are delivered to us.
    pub(crate) websub: Subscriptions,
    /// What was answered to requests that may come again.
    pub(crate) repeats: Repeats,
    /// Whether an administrator may change settings that run programs, read files or reach inside.
    pub(crate) operator_keys: bool,
    /// The names this server answers to.
    pub(crate) hosts: AllowedHosts,
    /// The proxies whose word on visitors is believed.
    pub(crate) proxies: TrustedProxies,
    /// The host on which archived pages are shown, if it is one of its own.
    pub(crate) views: ViewHost,
    /// An address that people are offered to collect.
    pub(crate) suggestion: Option<String>,
    /// Whether clients come over TLS.
    pub(crate) secure: bool,
    /// Requests that may still begin.
    pub(crate) requests: Semaphore,
    /// Bodies that may still be received.
    pub(crate) bodies: Semaphore,
    /// How long a client may take for the next thing.
    pub(crate) patience: Duration,
    /// Passwords that may still be hashed.
    pub(crate) hashing: Semaphore,
    /// SQL queries that may still begin.
    pub(crate) queries: Arc<Semaphore>,
    /// Endless responses that may still begin.
    pub(crate) streams: Arc<Semaphore>,
    /// Who looks for events.
    pub(crate) pulse: Pulse,
    /// Becomes true when the server stops: endless responses end then.
    pub(crate) closing: watch::Receiver<bool>,
    /// When the server started.
    pub(crate) started: Instant,
}

impl AppState {
    pub(crate) fn new(desk: Desk, hosts: AllowedHosts, secure: bool, closing: watch::Receiver<bool>) -> Self {
        Self {
            desk,
            board: Arc::default(),
            counting: Counting::default(),
            looks: SharedLooks::default(),
            known: KnownVisitors::default(),
            brake: Brake::default(),
            first: FirstLink::default(),
            shared: None,
            launcher: Launcher::new(None),
            keys: Arc::default(),
            websub: Subscriptions::default(),
            repeats: Repeats::default(),
            operator_keys: false,
            hosts,
            proxies: TrustedProxies::default(),
            views: ViewHost::default(),
            suggestion: None,
            secure,
            requests: Semaphore::new(REQUESTS_AT_ONCE),
            bodies: Semaphore::new(BODIES_AT_ONCE),
            patience: Duration::from_secs(20),
            hashing: Semaphore::new(HASHED_AT_ONCE),
            queries: Arc::new(Semaphore::new(QUERIED_AT_ONCE)),
            streams: Arc::new(Semaphore::new(STREAMS_AT_ONCE)),
            pulse: Pulse::default(),
            closing,
            started: Instant::now(),
        }
    }

    /// The name of the session's cookie. Over TLS the prefix makes browsers refuse one that another
    /// host, or this one without TLS, tries to set.
    pub(crate) fn cookie_name(&self) -> &'static str {
        if self.secure { "__Host-orb" } else { "orb" }
    }
}
