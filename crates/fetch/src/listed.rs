//! What do directories say of their entries, in this run?
//!
//! A protocol that lists tells what has changed without a transfer: a file whose size and time are
//! those of the version we have is that version, and a file that its directory no longer lists is
//! gone. So the listings of a run are remembered, as far as there is room, for the files below
//! them. A file is looked up under its directory's URL; who looks up an entry of a directory that
//! is just being listed waits for it.
//!
//! Time alone can deceive: a file that was changed twice within the grain of its time stamp looks
//! as it did in between. So a version counts as unchanged only if its time stamp was over when it
//! was fetched ([`EntryStamp::is_settled`]), as git does with its index.

use orb_page::{Moment, UrlKey, Version};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How many entries are remembered: about 16 MB.
const MOST_ENTRIES: usize = 250_000;
/// How long an entry waits for its directory to be asked for.
const GRACE: Duration = Duration::from_millis(10);
/// How far the clocks of time zones are apart, at most.
const ZONES: i64 = 26 * 3_600_000;

/// Size and time of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryStamp {
    pub(crate) size: Option<u64>,
    /// The beginning of the span in which it was changed.
    pub(crate) modified: Moment,
    /// The length of that span in milliseconds: a listing may know the day only.
    pub(crate) grain: i64,
    /// Whether the time may be that of any time zone.
    pub(crate) is_local: bool,
}

impl EntryStamp {
    /// The stamp as an entity tag, which is kept with the version.
    pub(crate) fn tag(&self) -> String {
        let size = self.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
        format!("\"{size}.{}.{}{}\"", self.modified.0, self.grain, if self.is_local { "?" } else { "" })
    }

    /// The stamp in an entity tag.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let mut parts = tag.strip_prefix('"')?.strip_suffix('"')?.split('.');
        let (size, modified, grain) = (parts.next()?, parts.next()?, parts.next()?);
        let size = if size == "-" { None } else { Some(size.parse().ok()?) };
        let grain = grain.strip_suffix('?').map_or((grain, false), |grain| (grain, true));
        let (grain, is_local) = (grain.0.parse().ok()?, grain.1);
        let modified = Moment(modified.parse().ok()?);
        (parts.next().is_none() && grain > 0).then_some(Self { size, modified, grain, is_local })
    }

    /// Whether this may be the same change as another: equal sizes, and spans that overlap. Times
    /// of unknown zones are compared among themselves only.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        let overlap = self.modified.0 < other.modified.0.saturating_add(other.grain)
            && other.modified.0 < self.modified.0.saturating_add(self.grain);
        self.size == other.size && self.is_local == other.is_local && overlap
    }

    /// Whether the span was over at this moment, so that a later change shows.
    pub(crate) fn is_settled(&self, at: Moment) -> bool {
        let zones = if self.is_local { ZONES } else { 0 };
        self.modified.0.saturating_add(self.grain).saturating_add(zones) <= at.0
    }

    /// Whether the version that has this stamp now is the one fetched then.
    pub(crate) fn is_of(&self, version: &Version) -> bool {
        let then = version.etag.as_deref().and_then(Self::of_tag);
        then.is_some_and(|then| then.fits(self)) && self.is_settled(version.at)
    }
}

/// What a directory says of a name, whatever its entries are stamped with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry<S = EntryStamp> {
    /// It is there; `None` without size or time.
    Listed(Option<S>),
    /// It is not there, or its directory is not.
    Lacking,
    /// The directory is as it was before, and so is what it had then.
    AsBefore,
    /// The directory was not listed.
    Unlisted,
}

/// The listings of a run.
#[derive(Debug)]
pub(crate) struct Listed<S = EntryStamp> {
    table: Mutex<ListedTable<S>>,
    settled: Notify,
}

#[derive(Debug)]
struct ListedTable<S> {
    directories: HashMap<UrlKey, Directory<S>>,
    entries: usize,
}

#[derive(Debug)]
enum Directory<S> {
    /// Being listed.
    Pending,
    /// Its entries by name, sorted.
    Known(Box<[(UrlKey, Option<S>)]>),
    /// It has what it had before.
    AsBefore,
    /// It is not there.
    Gone,
    /// It cannot be listed.
    Failed,
}

/// A listing under way. What is not reported is forgotten, so that others may try.
#[derive(Debug)]
pub(crate) struct Listen<'a, S: Copy = EntryStamp> {
    listed: &'a Listed<S>,
    directory: UrlKey,
    done: bool,
}

impl<S> Default for Listed<S> {
    fn default() -> Self {
        let table = ListedTable { directories: HashMap::new(), entries: 0 };
        Self { table: Mutex::new(table), settled: Notify::new() }
    }
}

impl<S: Copy> Listed<S> {
    /// Announces that a directory is being listed, again if it was before.
    pub(crate) fn begin(&self, directory: &str) -> Listen<'_, S> {
        let key = UrlKey::of(directory);
        self.lock().insert(key, Directory::Pending);
        Listen { listed: self, directory: key, done: false }
    }

    /// The same for a directory of which nothing is known yet, and if nobody else lists it.
    pub(crate) fn begin_first(&self, directory: &str) -> Option<Listen<'_, S>> {
        let key = UrlKey::of(directory);
        let mut table = self.lock();
        if table.directories.contains_key(&key) {
            return None;
        }
        table.insert(key, Directory::Pending);
        drop(table);
        Some(Listen { listed: self, directory: key, done: false })
    }

    /// What the directory of a URL says of it. Where nothing is known yet, the directory's own page
    /// may have been leased at the same moment: it goes first.
    pub(crate) async fn look_patiently(&self, url: &str) -> Entry<S> {
        if self.is_unknown(url) {
            tokio::time::sleep(GRACE).await;
        }
        self.look(url).await
    }

    fn is_unknown(&self, url: &str) -> bool {
        split(url).is_some_and(|(directory, _)| !self.lock().directories.contains_key(&UrlKey::of(directory)))
    }

    /// What the directory of a URL says of it, as soon as it is listed if it is being listed.
    pub(crate) async fn look(&self, url: &str) -> Entry<S> {
        loop {
            let settled = self.settled.notified();
            if let Some(entry) = self.look_now(url) {
                return entry;
            }
            settled.await;
        }
    }

    /// The same without waiting; `None` while the directory is being listed.
    fn look_now(&self, url: &str) -> Option<Entry<S>> {
        let Some((directory, name)) = split(url) else { return Some(Entry::Unlisted) };
        let table = self.lock();
        match table.directories.get(&UrlKey::of(directory)) {
            Some(Directory::Pending) => None,
            Some(Directory::Known(entries)) => {
                let place = entries.binary_search_by_key(&UrlKey::of(name), |(name, _)| *name);
                Some(place.map_or(Entry::Lacking, |place| Entry::Listed(entries[place].1)))
            }
            Some(Directory::AsBefore) => Some(Entry::AsBefore),
            Some(Directory::Gone) => Some(Entry::Lacking),
            Some(Directory::Failed) | None => Some(Entry::Unlisted),
        }
    }

    /// Whether a directory was tried in vain.
    pub(crate) fn has_failed(&self, directory: &str) -> bool {
        matches!(self.lock().directories.get(&UrlKey::of(directory)), Some(Directory::Failed))
    }

    /// Whether another directory can be remembered.
    pub(crate) fn has_room(&self) -> bool {
        self.lock().entries < MOST_ENTRIES
    }

    fn lock(&self) -> MutexGuard<'_, ListedTable<S>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> ListedTable<S> {
    fn insert(&mut self, key: UrlKey, directory: Directory<S>) {
        let weight = |directory: &Directory<S>| match directory {
            Directory::Known(entries) => entries.len() + 1,
            _ => 1,
        };
        let more = weight(&directory);
        if self.entries + more > MOST_ENTRIES && matches!(directory, Directory::Known(_)) {
            self.remove(key);
            return;
        }
        self.entries += more;
        if let Some(before) = self.directories.insert(key, directory) {
            self.entries -= weight(&before);
        }
    }

    fn remove(&mut self, key: UrlKey) {
        if let Some(before) = self.directories.remove(&key) {
            self.entries -= if let Directory::Known(entries) = before { entries.len() + 1 } else { 1 };
        }
    }
}

impl<S: Copy> Listen<'_, S> {
    /// The directory has these entries, by their references.
    pub(crate) fn known<'e>(self, entries: impl Iterator<Item = (&'e str, Option<S>)>) {
        let mut entries: Vec<_> = entries.map(|(name, stamp)| (UrlKey::of(name), stamp)).collect();
        entries.sort_unstable_by_key(|(name, _)| *name);
        self.report(Directory::Known(entries.into()));
    }

    /// It has what it had before.
    pub(crate) fn unchanged(self) {
        self.report(Directory::AsBefore);
    }

    /// It is not there.
    pub(crate) fn gone(self) {
        self.report(Directory::Gone);
    }

    /// It cannot be listed.
    pub(crate) fn failed(self) {
        self.report(Directory::Failed);
    }

    fn report(mut self, directory: Directory<S>) {
        self.listed.lock().insert(self.directory, directory);
        self.done = true;
        self.listed.settled.notify_waiters();
    }
}

impl<S: Copy> Drop for Listen<'_, S> {
    fn drop(&mut self) {
        if !self.done {
            self.listed.lock().remove(self.directory);
            self.listed.settled.notify_waiters();
        }
    }
}

/// The directory of a URL, with its slash, and the name in it; `None` for a root.
pub(crate) fn split(url: &str) -> Option<(&str, &str)> {
    let start = url.find("://").map_or(0, |at| at + 3);
    let path = start + url[start..].find('/')?;
    let whole = url[path..].strip_suffix('/').unwrap_or(&url[path..]);
    let slash = whole.rfind('/')?;
    Some((&url[..=path + slash], &url[path + slash + 1..])).filter(|(_, name)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn stamp(size: u64, modified: i64, grain: i64) -> EntryStamp {
        EntryStamp { size: Some(size), modified: Moment(modified), grain, is_local: false }
    }

    #[test]
    fn a_url_is_split_into_directory_and_name() {
        assert_eq!(split("ftp://h/a/b.txt"), Some(("ftp://h/a/", "b.txt")));
        assert_eq!(split("ftp://h/a/b/"), Some(("ftp://h/a/", "b/")));
        assert_eq!(split("ftp://h/b"), Some(("ftp://h/", "b")));
        assert_eq!(split("ftp://h/"), None);
        assert_eq!(split("ftp://h"), None);
    }

    #[test]
    fn a_stamp_comes_back_from_its_tag() {
        let local = EntryStamp { size: None, is_local: true, ..stamp(0, 1_794_715_380_000, 60_000) };
        for stamp in [stamp(12, 1_794_715_409_000, 1_000), stamp(0, -5, 1), local] {
            assert_eq!(EntryStamp::of_tag(&stamp.tag()), Some(stamp));
        }
        for wrong in ["", "\"abc\"", "\"1.2\"", "\"1.2.0\"", "\"1.2.3.4\"", "W/\"1.2.3\"", "\"1.2.-1\""] {
            assert_eq!(EntryStamp::of_tag(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn stamps_of_different_grain_fit_where_their_spans_overlap() {
        let (second, minute) = (stamp(1, 125_000, 1_000), stamp(1, 120_000, 60_000));
        assert!(second.fits(&minute) && minute.fits(&second));
        assert!(!stamp(1, 180_000, 1_000).fits(&minute) && !stamp(2, 125_000, 1_000).fits(&minute));
        assert!(!EntryStamp { is_local: true, ..second }.fits(&minute));
    }

    #[test]
    fn what_was_fetched_within_the_grain_of_its_time_may_have_changed_since() {
        let changed = stamp(1, 120_000, 1_000);
        assert!(!changed.is_settled(Moment(120_500)) && changed.is_settled(Moment(121_000)));
        let local = EntryStamp { is_local: true, ..changed };
        assert!(!local.is_settled(Moment(121_000)) && local.is_settled(Moment(121_000 + ZONES)));
    }

    #[tokio::test]
    async fn who_asks_for_an_entry_waits_for_its_directory() {
        let listed: Arc<Listed> = Arc::default();
        assert_eq!(listed.look("x://h/d/a").await, Entry::Unlisted);
        let listing = listed.begin("x://h/d/");
        let waiting = {
            let listed = Arc::clone(&listed);
            tokio::spawn(async move { listed.look("x://h/d/a").await })
        };
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        let known = stamp(1, 2, 3);
        listing.known([("a", Some(known)), ("sub/", None)].into_iter());
        assert_eq!(waiting.await.unwrap(), Entry::Listed(Some(known)));
        assert_eq!(listed.look("x://h/d/b").await, Entry::Lacking);
        assert_eq!(listed.look("x://h/d/sub/").await, Entry::Listed(None));
        assert!(listed.begin_first("x://h/d/").is_none() && listed.begin_first("x://h/f/").is_some());
        drop(listed.begin("x://h/d/"));
        assert_eq!(listed.look("x://h/d/a").await, Entry::Unlisted, "a listing that broke off says nothing");
        listed.begin("x://h/d/sub/").gone();
        assert_eq!(listed.look("x://h/d/sub/x").await, Entry::Lacking);
        listed.begin("x://h/d/sub/").failed();
        assert!(listed.has_failed("x://h/d/sub/") && !listed.has_failed("x://h/d/"));
    }

    #[test]
    fn no_more_is_remembered_than_there_is_room_for() {
        let listed: Listed = Listed::default();
        let many: Vec<String> = (0..MOST_ENTRIES - 10).map(|n| n.to_string()).collect();
        listed.begin("x://h/d/").known(many.iter().map(|name| (name.as_str(), None)));
        assert!(listed.has_room());
        listed.begin("x://h/e/").known(many.iter().take(20).map(|name| (name.as_str(), None)));
        assert_eq!(listed.look_now("x://h/e/1"), Some(Entry::Unlisted));
        assert_eq!(listed.look_now("x://h/d/1"), Some(Entry::Listed(None)));
    }
}
