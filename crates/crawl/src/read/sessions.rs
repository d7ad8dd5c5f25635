//! Which session ids do the hosts of this crawl write into their links?
//!
//! What one reader learns from a page, all others and the sockets' side know at once. A page is found, stored and looked up by its URL
//! without ids; what is asked of the server is the URL as it was last seen, with the ids of now ([`Sessions::prepare`]). The catalogue keeps what was
//! learnt, so that the next run knows the ids of this one and tells them from its own. The learning itself is `orb_urls::session`.

use hashbrown::HashMap;
use orb_page::{Lease, PageId, Response};
use orb_urls::session::Site;
use orb_urls::{Address, Canonicaliser, Rules};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Hosts with ids that are remembered at most, and pages that wait to be asked for with theirs.
pub(crate) const MAX_HOSTS: usize = 20_000;

/// What is known of session ids, shared by all threads of a crawl.
pub(crate) struct Sessions {
    enabled: bool,
    /// Whether any host has ids: on most crawls none has, and nobody need look further.
    any: AtomicBool,
    sites: RwLock<HashMap<Box<str>, Arc<Site>>>,
    /// Pages whose server wants them asked for by another URL of theirs.
    turned: Mutex<HashMap<PageId, String>>,
    canonical: Canonicaliser,
    /// The same rules, but known session ids stay.
    verbatim: Canonicaliser,
}

impl Sessions {
    /// What earlier runs have learnt: the names of hosts, and what was stored for each.
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

    /// What is known of a host, if anything.
    pub(crate) fn of(&self, host: &str) -> Option<Arc<Site>> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.sites.read().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }

    /// Reads URLs as they are to be asked for: ids known by their names stay where the host wants them.
    pub(crate) fn reader(&self, site: Option<&Site>) -> &Canonicaliser {
        if site.is_some_and(Site::wants_known) { &self.verbatim } else { &self.canonical }
    }

    /// Where a redirect of something that is not a page leads, ids included.
    pub(crate) fn target(&self, lease: &Lease, location: &str) -> Option<Address> {
        let asked = self.verbatim.parse(lease.request_url()).ok()?;
        self.verbatim.resolve(&asked, location).ok()
    }

    /// The address that a page was asked for by.
    pub(crate) fn asked(&self, lease: &Lease) -> Option<Address> {
        match &lease.asked {
            Some(asked) => self.verbatim.parse(asked).ok(),
            None => self.canonical.parse(&lease.url).ok(),
        }
    }

    /// The address without its ids; nothing where it has none.
    pub(crate) fn identity(&self, site: &Site, address: &Address) -> Option<Address> {
        let identity = site.identity(address.as_str());
        if identity == address.as_str() { None } else { self.canonical.parse(&identity).ok() }
    }

    /// Learns from the links of a page to its own host. What is known afterwards is to be stored where something is new.
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
        // Somebody else may have learnt something meanwhile.
        let mut sites = self.sites.write().unwrap_or_else(PoisonError::into_inner);
        let has_room = sites.len() < MAX_HOSTS || sites.contains_key(host);
        let after = learn(sites.get(host).map_or(&none, |site| site)).filter(|_| has_room)?;
        let stored = serde_json::to_string(&after).ok()?;
        sites.insert(host.into(), Arc::new(after));
        self.any.store(true, Ordering::Relaxed);
        Some(stored)
    }

    /// Puts the ids of now into what a lease asks for.
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

    /// Whether an answer redirects to another spelling of the page's own URL, as servers do that put
    /// a session id into it. The page is then requested by that spelling. Also returns what was
    /// learnt and must be stored.
    pub(crate) fn turns(&self, lease: &Lease, response: &Response) -> (bool, Option<String>) {
        let Some((asked, target)) = self.moved_to(lease, response) else { return (false, None) };
        let learnt = self.redirected(&asked, &target);
        let identity = match self.of(asked.host()) {
            Some(site) => site.identity(target.as_str()).into_owned(),
            None => target.as_str().to_owned(),
        };
        if self.canonical.parse(&identity).is_ok_and(|identity| identity.as_str() == lease.url) {
            let mut turned = self.turned();
            if turned.len() < MAX_HOSTS {
                turned.insert(lease.page, target.into_string());
                self.any.store(true, Ordering::Relaxed);
                return (true, learnt);
            }
        }
        (false, learnt)
    }

    /// Forgets the other spelling of a page that is not requested again.
    pub(crate) fn stays(&self, page: PageId) {
        self.turned().remove(&page);
    }

    /// The address requested and the one on the same host that it redirects to, ids included.
    fn moved_to(&self, lease: &Lease, response: &Response) -> Option<(Address, Address)> {
        let location = (300..400).contains(&response.status).then(|| response.headers.get("location")).flatten()?;
        let asked = self.asked(lease)?;
        let target = self.verbatim.resolve(&asked, &location).ok()?;
        (target.host() == asked.host() && target != asked).then_some((asked, target))
    }

    fn turned(&self) -> MutexGuard<'_, HashMap<PageId, String>> {
        self.turned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
