//! Which session ids do the hosts of this crawl write into their links?
//!
//! What one reader learns from a page is visible to all others and to the fetching side at once. A
//! page is identified, stored and looked up by its URL without session ids; requests use the URL as
//! last seen, with the current ids ([`Sessions::prepare`]). The catalogue stores what was learnt,
//! so the next run knows the ids of this one and distinguishes them from its own. The learning
//! itself is `orb_urls::session`.

use hashbrown::HashMap;
use orb_page::{Lease, PageId, Response};
use orb_urls::session::Site;
use orb_urls::{Address, Canonicaliser, Rules};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Maximum hosts with session ids that are remembered, and maximum pages waiting to be requested
/// with theirs.
pub(crate) const MAX_HOSTS: usize = 20_000;

/// What is known about session ids, shared by all threads of a crawl.
pub(crate) struct Sessions {
    enabled: bool,
    /// Whether any host has session ids: on most crawls none has, which makes this a fast path.
    any: AtomicBool,
    sites: RwLock<HashMap<Box<str>, Arc<Site>>>,
    /// Pages whose server wants them requested by another URL.
    turned: Mutex<HashMap<PageId, String>>,
    canonical: Canonicaliser,
    /// The same rules, but well-known session ids stay.
    verbatim: Canonicaliser,
}

impl Sessions {
    /// Restores what earlier runs have learnt: host names, and what was stored for each.
    pub(crate) fn new(rules: Rules, known: Vec<(String, String)>) -> Self {
        let read = |(host, stored): (String, String)| {
            let mut site: Site = serde_json::from_str(&stored).ok()?;
            site.begin_visit();
            Some((host.into(), Arc::new(site)))
        };
        let sites: HashMap<Box<str>, Arc<Site>> = known.into_iter().filter_map(read).collect();
        Self {
            enabled: rules.learn_sessions,
            any: AtomicBool::new(rules.learn_sessions && !sites.is_empty()),
            sites: RwLock::new(sites),
            turned: Mutex::default(),
            canonical: Canonicaliser::new(rules),
            verbatim: Canonicaliser::new(Rules { strip_session_ids: false, ..rules }),
        }
    }

    /// What is known about a host, if anything.
    pub(crate) fn of(&self, host: &str) -> Option<Arc<Site>> {
        // Set once and never cleared: a stale `false` only means that this page came a moment
        // earlier.
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.sites.read().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }

    /// Parses URLs as they are to be requested: well-known session ids stay if the host wants them.
    pub(crate) fn reader(&self, site: Option<&Site>) -> &Canonicaliser {
        if site.is_some_and(Site::wants_known) { &self.verbatim } else { &self.canonical }
    }

    /// Where a redirect of something that is not a page leads, ids included.
    pub(crate) fn target(&self, lease: &Lease, location: &str) -> Option<Address> {
        let asked = self.verbatim.parse(lease.request_url()).ok()?;
        self.verbatim.resolve(&asked, location).ok()
    }

    /// The URL by which a page was requested.
    pub(crate) fn asked(&self, lease: &Lease) -> Option<Address> {
        match &lease.asked {
            Some(asked) => self.verbatim.parse(asked).ok(),
            None => self.canonical.parse(&lease.url).ok(),
        }
    }

    /// The URL without its session ids; `None` if it has none.
    pub(crate) fn identity(&self, site: &Site, address: &Address) -> Option<Address> {
        let identity = site.identity(address.as_str());
        if identity == address.as_str() { None } else { self.canonical.parse(&identity).ok() }
    }

    /// Learns from a page's links to its own host. Returns what to store if there is something new.
    pub(crate) fn observe(&self, asked: &Address, links: &[&str]) -> Option<String> {
        self.update(asked.host(), |site| site.observe(asked.as_str(), links))
    }

    /// Learns from a redirect within a host.
    pub(crate) fn redirected(&self, asked: &Address, target: &Address) -> Option<String> {
        self.update(asked.host(), |site| site.redirected(asked.as_str(), target.as_str()))
    }

    fn update(&self, host: &str, learn: impl Fn(&Site) -> Option<Site>) -> Option<String> {
        if !self.enabled {
            return None;
        }
        let none = Site::default();
        let known = self.of(host);
        learn(known.as_deref().unwrap_or(&none))?;
        // Another thread may have learnt something meanwhile.
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        let has_room = sites.len() < MAX_HOSTS || sites.contains_key(host);
        let after = learn(sites.get(host).map_or(&none, |site| site)).filter(|_| has_room)?;
        let stored = serde_json::to_string(&after).ok()?;
        sites.insert(host.into(), Arc::new(after));
        self.any.store(true, Ordering::Relaxed);
        Some(stored)
    }

    /// Puts the current session ids into a lease's request URL.
    pub(crate) fn prepare(&self, lease: &mut Lease) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let turned = self.turned().remove(&lease.page);
        if turned.is_some() {
            lease.asked = turned;
        } else if let Some(asked) = &lease.asked
            && let Some(site) = Address::from_canonical(asked).ok().and_then(|address| self.of(address.host()))
        {
            lease.asked = Some(site.renew(asked, &lease.url).into_owned());
        }
    }

    /// Whether an answer redirects to another spelling of the page's own URL, as servers do that
    /// put a session id into it. The page is then requested by that spelling. Also returns what was
    /// learnt and must be stored.
    pub(crate) fn turns(&self, lease: &Lease, response: &Response) -> (bool, Option<String>) {
        let Some((asked, target)) = self.moved_to(lease, response) else { return (false, None) };
        let learnt = self.redirected(&asked, &target);
        (self.turn(lease, target), learnt)
    }

    /// Whether a page that reloads itself from here only says another spelling of its own URL. It
    /// is then requested by that spelling.
    pub(crate) fn reloads(&self, lease: &Lease, target: &str) -> bool {
        let Some(asked) = self.asked(lease) else { return false };
        let target = self.verbatim.resolve(&asked, target).ok();
        target.filter(|target| target.host() == asked.host() && *target != asked).is_some_and(|to| self.turn(lease, to))
    }

    /// Has a page requested by another spelling of its URL next time, if it is one.
    fn turn(&self, lease: &Lease, target: Address) -> bool {
        let identity = match self.of(target.host()) {
            Some(site) => site.identity(target.as_str()).into_owned(),
            None => target.as_str().to_owned(),
        };
        let is_own = self.canonical.parse(&identity).is_ok_and(|identity| identity.as_str() == lease.url);
        let mut turned = self.turned();
        let turns = is_own && turned.len() < MAX_HOSTS;
        if turns {
            turned.insert(lease.page, target.into_string());
            self.any.store(true, Ordering::Relaxed);
        }
        turns
    }

    /// Forgets the other spelling of a page that is not requested again.
    pub(crate) fn stays(&self, page: PageId) {
        self.turned().remove(&page);
    }

    /// The address requested and the one on the same host that it redirects to, ids included.
    fn moved_to(&self, lease: &Lease, response: &Response) -> Option<(Address, Address)> {
        let location = (300..400).contains(&response.status).then(|| response.headers.location()).flatten()?;
        let asked = self.asked(lease)?;
        let target = self.verbatim.resolve(&asked, &location).ok()?;
        (target.host() == asked.host() && target != asked).then_some((asked, target))
    }

    fn turned(&self) -> MutexGuard<'_, HashMap<PageId, String>> {
        self.turned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
