//! What is remembered between two requests for a page, and of the noise of its host?

use bytes::Bytes;
use hashbrown::{HashMap, HashSet};
use orb_extract::Content;
use orb_page::{HostId, PageId};
use orb_store::{CatalogueReader, ProjectDir, StoreError};
use orb_track::noise::Noise;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Hosts whose noise is in memory, give or take those of two commits.
const MAX_HOSTS: usize = 10_000;

/// Maximum bytes of first responses that are kept while the second is on its way.
const MAX_KEPT: usize = 64 << 20;

/// One version of a page with its codings removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct First {
    /// The content.
    pub bytes: Bytes,
    /// The media type from its server.
    pub mime: Option<String>,
    /// The character encoding from its server.
    pub charset: Option<String>,
    /// Number of earlier responses.
    pub earlier: u8,
}

impl First {
    /// Its content, for the extractors.
    pub(crate) fn content<'a>(&'a self, url: &'a str) -> Content<'a> {
        Content { bytes: &self.bytes, mime: self.mime.as_deref(), charset: self.charset.as_deref(), url }
    }
}

/// First responses of pages that are fetched twice.
#[derive(Debug, Default)]
pub(crate) struct FirstLooks(Mutex<(HashMap<PageId, First>, usize)>);

impl FirstLooks {
    /// Keeps a first response; `false` if there is no room for it.
    pub(crate) fn keep(&self, page: PageId, first: First) -> bool {
        let (kept, bytes) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *bytes + first.bytes.len() > MAX_KEPT {
            return false;
        }
        *bytes += first.bytes.len();
        kept.insert(page, first);
        true
    }

    /// The first response of a page that is fetched for the second time.
    pub(crate) fn take(&self, page: PageId) -> Option<First> {
        let (kept, bytes) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = kept.remove(&page)?;
        *bytes -= first.bytes.len();
        Some(first)
    }
}

/// What a server generates for every response, host by host, as learnt by earlier runs and this
/// one.
///
/// Memory is bounded: hosts are read from the catalogue when a page of theirs is compared, and
/// those that were not used for a while make room. A commit looks only at the hosts that were used
/// since the last one.
pub(crate) struct Noises {
    hosts: Mutex<NoisyHosts>,
    project: ProjectDir,
    /// Opened when it is first needed: where nothing has changed, it never is.
    catalogue: Mutex<Option<CatalogueReader>>,
}

#[derive(Debug, Default)]
struct NoisyHosts {
    known: HashMap<HostId, HostNoise>,
    /// Hosts that may have learnt something since the last commit.
    used: HashSet<HostId>,
    commits: u64,
}

/// What is known of a host, how much of it is in the catalogue, and when it was last used.
#[derive(Debug)]
struct HostNoise {
    noise: Arc<Noise>,
    kept: u64,
    used: u64,
}

impl Noises {
    /// Those of a project.
    pub(crate) fn new(project: ProjectDir) -> Self {
        Self { hosts: Mutex::default(), project, catalogue: Mutex::default() }
    }

    /// The noise memory of a host.
    pub(crate) fn of(&self, host: HostId) -> Result<Arc<Noise>, StoreError> {
        if let Some(noise) = lock(&self.hosts).get(host) {
            return Ok(noise);
        }
        // Read without the lock: other hosts go on. Of two threads that read one host, the first
        // counts.
        let text = self.read(host)?;
        let noise = Arc::new(Noise::from_text(&text.unwrap_or_default()));
        let mut hosts = lock(&self.hosts);
        hosts.known.entry(host).or_insert(HostNoise { noise: Arc::clone(&noise), kept: 0, used: 0 });
        Ok(hosts.get(host).unwrap_or(noise))
    }

    /// What the catalogue says about a host.
    fn read(&self, host: HostId) -> Result<Option<String>, StoreError> {
        let mut catalogue = lock(&self.catalogue);
        let reader = match &mut *catalogue {
            Some(reader) => reader,
            none => none.insert(CatalogueReader::open(&self.project)?),
        };
        reader.noise(host)
    }

    /// What was learnt since the last call, to be stored.
    pub(crate) fn learnt(&self) -> Vec<(HostId, String)> {
        lock(&self.hosts).learnt()
    }
}

impl NoisyHosts {
    fn get(&mut self, host: HostId) -> Option<Arc<Noise>> {
        let known = self.known.get_mut(&host)?;
        known.used = self.commits;
        self.used.insert(host);
        Some(Arc::clone(&known.noise))
    }

    fn learnt(&mut self) -> Vec<(HostId, String)> {
        let mut new = Vec::new();
        for host in std::mem::take(&mut self.used) {
            let Some(known) = self.known.get_mut(&host) else { continue };
            // Somebody compares with it at this moment and may learn more.
            if Arc::strong_count(&known.noise) > 1 {
                self.used.insert(host);
            }
            let learnt = known.noise.learnt();
            if std::mem::replace(&mut known.kept, learnt) != learnt {
                new.push((host, known.noise.to_text()));
            }
        }
        self.commits += 1;
        if self.known.len() > MAX_HOSTS {
            self.forget();
        }
        new
    }

    /// Makes room. What was learnt of a host that nobody used since the commit before the last is
    /// in the catalogue.
    fn forget(&mut self) {
        let mut old: Vec<(u64, HostId)> = self.known.iter().map(|(host, known)| (known.used, *host)).collect();
        old.retain(|(used, host)| used + 2 <= self.commits && !self.used.contains(host));
        old.sort_unstable();
        let spare = self.known.len() - MAX_HOSTS * 7 / 8;
        for (_, host) in old.into_iter().take(spare) {
            self.known.remove(&host);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(hosts: &mut NoisyHosts, host: u32) -> Arc<Noise> {
        let fresh = HostNoise { noise: Arc::default(), kept: 0, used: 0 };
        hosts.known.entry(HostId(host)).or_insert(fresh);
        hosts.get(HostId(host)).unwrap()
    }

    #[test]
    fn hosts_that_nobody_uses_make_room_and_those_in_use_stay() {
        let mut hosts = NoisyHosts::default();
        let held = used(&mut hosts, 0);
        for host in 1..=u32::try_from(MAX_HOSTS * 2).unwrap() {
            drop(used(&mut hosts, host));
            if host.is_multiple_of(1_000) {
                assert_eq!(hosts.learnt(), [], "nobody learnt anything");
                assert!(
                    hosts.used.len() == 1 && hosts.used.contains(&HostId(0)),
                    "only what is held is looked at again"
                );
            }
            assert!(hosts.known.len() <= MAX_HOSTS + 3_000, "{}", hosts.known.len());
        }
        assert!(hosts.known.contains_key(&HostId(0)));
        drop(held);
    }
}
