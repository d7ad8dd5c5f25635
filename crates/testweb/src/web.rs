//! Which response does a URL have?
//!
//! The web itself, without a socket: responses are a function of spec, URL and epoch. What little
//! state there is (attempts on pages that succeed on a retry, the counter behind unique responses)
//! is here too.

use crate::Error;
use crate::corners::{self, CORNERS};
use crate::expect::{self, CrawlReach, Expectation};
use crate::naming::HostNaming;
use crate::plain;
use crate::reply::{Ask, Reply, WebView, Wire};
use crate::spec::{Feature, Spec};
use crate::{assets, chance, vocabulary};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum attempts remembered before all are cleared: far more than any test makes.
const TRIES_KEPT: usize = 1 << 20;

/// What attempts are counted by: client, host, path and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AttemptKey {
    client: IpAddr,
    host: u32,
    path: u64,
    epoch: u64,
}

/// A synthetic web.
#[derive(Debug)]
pub struct Web {
    spec: Spec,
    epoch: AtomicU64,
    tickets: AtomicU64,
    tries: Mutex<HashMap<AttemptKey, u32>>,
}

/// A response as a test or an extractor wants it: no framing, no coding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The status; 0 if the connection would close without a response.
    pub status: u16,
    /// The `Content-Type`.
    pub mime: &'static str,
    /// The body; for responses that break the framing, the bytes on the wire.
    pub body: Vec<u8>,
}

impl Web {
    /// The web of this spec.
    pub fn new(spec: Spec) -> Result<Arc<Self>, Error> {
        let spec = spec.checked()?;
        if spec.vocabulary {
            vocabulary::prepare();
        }
        let epoch = AtomicU64::new(spec.epoch);
        Ok(Arc::new(Self { spec, epoch, tickets: AtomicU64::new(0), tries: Mutex::default() }))
    }

    /// Its spec.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The current epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Changes the epoch.
    pub fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    /// Number of hosts: the ordinary ones and those of corners.
    pub fn hosts(&self) -> u32 {
        self.spec.hosts + if self.has_corners() { corners::HOSTS } else { 0 }
    }

    /// Number of plain pages.
    pub fn plain_pages(&self) -> u64 {
        u64::from(self.spec.hosts) * u64::from(self.spec.pages_per_host)
    }

    /// What a crawl must find at the current epoch.
    pub fn expected(&self, naming: HostNaming, reach: CrawlReach) -> Expectation {
        expect::expected(&self.scene(naming), reach)
    }

    /// The response to `target` (a path with its query) on a host, for no client in particular.
    pub fn get(&self, naming: HostNaming, host: u32, target: &str) -> Rendered {
        let (mut reply, mut authority) = (Reply::default(), String::new());
        naming.write(host, &mut authority);
        self.answer(&Ask::new(self.scene(naming), host, &authority, target), &mut reply);
        let status = if reply.wire == Wire::Silence { 0 } else { reply.status };
        Rendered { status, mime: reply.mime, body: reply.body }
    }

    /// How long the response is delayed.
    pub(crate) fn latency(&self, host: u32, target: &str) -> Option<Duration> {
        let latency = self.spec.latency;
        if latency.mean.is_zero() {
            return None;
        }
        let unit = chance::Chance::of(&[self.spec.seed, u64::from(host), chance::mixed_text(target)]).unit();
        Some(latency.mean.mul_f64(1.0 + latency.spread * (2.0 * unit - 1.0)))
    }

    /// This web now, with these names.
    pub(crate) fn scene(&self, naming: HostNaming) -> WebView<'_> {
        WebView { web: self, naming, epoch: self.epoch() }
    }

    /// Whether there is more than plain pages.
    pub(crate) fn has_corners(&self) -> bool {
        CORNERS.iter().any(|corner| self.spec.features.has(corner.feature))
    }

    /// Generates the response into the reply.
    pub(crate) fn answer(&self, ask: &Ask<'_>, reply: &mut Reply) {
        reply.clear();
        if ask.host >= self.hosts() && self.spec.features.has(Feature::Wilds) {
            return corners::stranger(ask, reply);
        }
        if ask.host >= self.hosts() {
            return reply.page(404, "No such host", "<p>This host is not of this web.</p>");
        }
        let ordinary = ask.host < self.spec.hosts;
        if ordinary
            && ask.query.is_empty()
            && let Some(plain) = plain::read_path(&self.spec, ask.host, ask.path)
        {
            return plain::render(ask, plain, reply);
        }
        let furnished = ordinary && self.spec.features.has(Feature::Furniture);
        let answered = (furnished && assets::answer(ask.path, reply)) || corners::answer(ask, reply);
        if !answered {
            reply.missing();
        }
    }

    /// Counts an attempt at this request in this epoch and returns the number of earlier ones.
    pub(crate) fn tried(&self, ask: &Ask<'_>) -> u32 {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= TRIES_KEPT {
            tries.clear();
        }
        let path = chance::mixed_text(ask.path);
        let key = AttemptKey { client: ask.client, host: ask.host, path, epoch: ask.scene.epoch };
        let count = tries.entry(key).or_default();
        *count += 1;
        *count - 1
    }

    /// Forgets all attempts, so that pages refuse again.
    pub fn forget_tries(&self) {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A number that no response has had before.
    pub(crate) fn draw(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }

    /// A session id that was never issued before.
    pub(crate) fn ticket(&self) -> String {
        let number = self.draw();
        format!("{:016X}{:016X}", chance::mixed(&[self.spec.seed, number]), chance::mixed(&[number, self.spec.seed]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMING: HostNaming = HostNaming::Names { port: 80 };

    #[test]
    fn two_webs_of_one_seed_are_one() {
        let (a, b) = (Web::new(Spec::zoo()).unwrap(), Web::new(Spec::zoo()).unwrap());
        for url in a.expected(NAMING, CrawlReach::Host(0)).pages {
            let path = url.trim_start_matches("http://h0000.test");
            assert_eq!(a.get(NAMING, 0, path), b.get(NAMING, 0, path), "{path}");
        }
        let other = Web::new(Spec { seed: 2, ..Spec::zoo() }).unwrap();
        assert_ne!(a.get(NAMING, 0, "/").body, other.get(NAMING, 0, "/").body);
    }

    #[test]
    fn a_host_beyond_the_last_is_not_found() {
        let web = Web::new(Spec::default()).unwrap();
        assert_eq!(web.get(NAMING, 3, "/").status, 404);
        assert_eq!(web.get(NAMING, u32::MAX, "/robots.txt").status, 404);
    }

    #[test]
    fn latency_lies_within_its_spread() {
        let latency = crate::Latency { mean: Duration::from_millis(100), spread: 0.5 };
        let web = Web::new(Spec { latency, ..Spec::default() }).unwrap();
        for page in 0..100 {
            let held = web.latency(0, &format!("/{page}")).unwrap().as_millis();
            assert!((50..=150).contains(&held));
        }
    }

    proptest! {
        #[test]
        fn any_target_has_an_answer(host in 0_u32..12, target in "/(corners|[a-z]{3,10}|markup|traps|lies|sessions|changes|gazette)?(/\\PC{0,12}){0,3}") {
            let web = Web::new(Spec::zoo()).unwrap();
            web.get(NAMING, host, &target);
        }
    }
}
