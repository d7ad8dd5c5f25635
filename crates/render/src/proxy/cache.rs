//! Which parts have been fetched already?
//!
//! The pages of a site share their scripts, styles and fonts. A part that was fetched once serves
//! every page of the run, unless its server says that it must not be stored: so each script is
//! asked for and archived once, which is the largest gain in speed and in manners. Least recently
//! used parts go first. Two pages that want the same part at once wait for one request.

use bytes::Bytes;
use orb_page::Headers;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Mutex as AsyncMutex;

/// Maximum length of one part that is kept.
const LARGEST: usize = 8 << 20;

/// A part as the browser gets it.
#[derive(Clone, Debug)]
pub(crate) struct CachedPart {
    /// Its status.
    pub(crate) status: u16,
    /// Its header fields.
    pub(crate) headers: Headers,
    /// Its body with its content coding.
    pub(crate) body: Bytes,
}

/// What a part is found by: its URL, and who asks as far as that matters to the server.
pub(crate) type PartKey = (String, String);

/// The parts that are kept.
pub(crate) struct PartCache {
    most: u64,
    kept: Mutex<KeptParts>,
    under_way: Mutex<HashMap<PartKey, Weak<AsyncMutex<()>>>>,
}

#[derive(Default)]
struct KeptParts {
    parts: HashMap<PartKey, (u64, CachedPart)>,
    by_use: BTreeMap<u64, PartKey>,
    clock: u64,
    bytes: u64,
}

impl PartCache {
    /// A cache of about this many bytes.
    pub(crate) fn new(most: u64) -> Self {
        Self { most, kept: Mutex::default(), under_way: Mutex::default() }
    }

    /// A part that is kept.
    pub(crate) fn get(&self, key: &PartKey) -> Option<CachedPart> {
        let kept = &mut *lock(&self.kept);
        let (used, part) = kept.parts.get_mut(key)?;
        kept.by_use.remove(used);
        kept.clock += 1;
        *used = kept.clock;
        kept.by_use.insert(kept.clock, key.clone());
        Some(part.clone())
    }

    /// Keeps a part.
    pub(crate) fn put(&self, key: PartKey, part: CachedPart) {
        let size = size_of_part(&key, &part);
        if part.body.len() > LARGEST || size > self.most {
            return;
        }
        let kept = &mut *lock(&self.kept);
        kept.remove(&key);
        kept.clock += 1;
        kept.bytes += size;
        kept.by_use.insert(kept.clock, key.clone());
        kept.parts.insert(key, (kept.clock, part));
        while kept.bytes > self.most {
            let Some((_, oldest)) = kept.by_use.pop_first() else { break };
            kept.remove(&oldest);
        }
    }

    /// Who holds this fetches the part; others wait, and look again.
    pub(crate) fn turn(&self, key: &PartKey) -> Arc<AsyncMutex<()>> {
        let mut under_way = lock(&self.under_way);
        if let Some(turn) = under_way.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        if under_way.len() > 1_000 {
            under_way.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(AsyncMutex::new(()));
        under_way.insert(key.clone(), Arc::downgrade(&turn));
        turn
    }
}

impl KeptParts {
    fn remove(&mut self, key: &PartKey) {
        if let Some((used, part)) = self.parts.remove(key) {
            self.by_use.remove(&used);
            self.bytes -= size_of_part(key, &part);
        }
    }
}

/// Whether a response may serve other pages, too.
pub(crate) fn is_shared(status: u16, headers: &Headers) -> bool {
    let control = headers.get("cache-control").unwrap_or_default().to_ascii_lowercase();
    let barred = control.split(',').any(|word| matches!(word.trim(), "no-store" | "private"));
    status == 200
        && !barred
        && headers.get("set-cookie").is_none()
        && headers.get("vary").is_none_or(|v| v.trim() != "*")
}

fn size_of_part(key: &PartKey, part: &CachedPart) -> u64 {
    (part.body.len() + key.0.len() + 1_000) as u64
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> PartKey {
        (name.to_owned(), String::new())
    }

    fn part(length: usize) -> CachedPart {
        CachedPart { status: 200, headers: Headers::default(), body: vec![0; length].into() }
    }

    #[test]
    fn the_least_recently_used_part_goes_first() {
        let cache = PartCache::new(10_000);
        for name in ["a", "b", "c"] {
            cache.put(key(name), part(2_000));
        }
        assert!(cache.get(&key("a")).is_some());
        cache.put(key("d"), part(2_000));
        assert!(cache.get(&key("b")).is_none() && cache.get(&key("a")).is_some() && cache.get(&key("d")).is_some());
        cache.put(key("a"), part(1));
        assert_eq!(cache.get(&key("a")).unwrap().body.len(), 1);
        cache.put(key("huge"), part(10_000));
        assert!(cache.get(&key("huge")).is_none());
    }

    #[test]
    fn what_must_not_be_stored_serves_one_page_only() {
        let with = |name: &str, value: &str| [(name, value)].into_iter().collect::<Headers>();
        assert!(is_shared(200, &Headers::default()));
        assert!(is_shared(200, &with("Cache-Control", "no-cache, max-age=0")));
        for (name, value) in [
            ("Cache-Control", "No-Store"),
            ("cache-control", "max-age=9, private"),
            ("Vary", "*"),
            ("Set-Cookie", "a=b"),
        ] {
            assert!(!is_shared(200, &with(name, value)), "{name}: {value}");
        }
        assert!(!is_shared(404, &Headers::default()));
    }
}
