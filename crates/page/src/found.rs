//! Which links does a page have?
//!
//! A page's links travel together from the thread that reads it to the one that records it. Their
//! URLs and anchor texts lie back to back in one string, so a page with hundreds of links takes a
//! few allocations and iterating over them is cache-friendly.

use crate::{LinkKind, SkipReason, UrlKey};
use std::ops::Deref;

/// A slice of the string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TextSpan {
    start: usize,
    length: usize,
}

/// A resolved link: its target, and how often it occurs. Its URL and anchor text are in [`Links`].
#[derive(Clone, Debug, PartialEq)]
pub struct DiscoveredLink {
    /// The URL to request from the target's server, if it differs from the target's canonical URL.
    pub asked: Option<String>,
    /// Key of the target.
    pub key: UrlKey,
    /// Its kind.
    pub kind: LinkKind,
    /// `rel` of the first occurrence.
    pub rel: String,
    /// Number of occurrences on the page.
    pub count: u32,
    /// Whether to follow it.
    pub verdict: Verdict,
    /// Priority for best-first order, 0 to 1.
    pub priority: f32,
    url: TextSpan,
    anchor: TextSpan,
}

/// Whether to follow a link, as far as the page alone can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// In scope: goes to the frontier.
    Follow,
    /// Recorded as `OUTSIDE` with this reason.
    Outside(SkipReason),
}

/// The links of a page, one for each target and kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    found: Vec<DiscoveredLink>,
    text: String,
}

impl Links {
    /// Capacity for this many links and bytes of URLs and anchor texts.
    pub fn with_capacity(links: usize, bytes: usize) -> Self {
        Self { found: Vec::with_capacity(links), text: String::with_capacity(bytes) }
    }

    /// Adds a link to this canonical URL (session ids removed) with this anchor text. It counts
    /// once and is to be followed.
    pub fn push(&mut self, url: &str, key: UrlKey, kind: LinkKind, anchor: &str) -> &mut DiscoveredLink {
        let (url, anchor) = (self.keep(url), self.keep(anchor));
        let (rel, verdict) = (String::new(), Verdict::Follow);
        let at = self.found.len();
        self.found.push(DiscoveredLink { asked: None, key, kind, rel, count: 1, verdict, priority: 0.5, url, anchor });
        &mut self.found[at]
    }

    fn keep(&mut self, text: &str) -> TextSpan {
        let start = self.text.len();
        self.text.push_str(text);
        TextSpan { start, length: text.len() }
    }

    fn text(&self, span: TextSpan) -> &str {
        self.text.get(span.start..span.start + span.length).unwrap_or_default()
    }

    /// The canonical URL of a link's target.
    pub fn url(&self, link: &DiscoveredLink) -> &str {
        self.text(link.url)
    }

    /// The anchor text of a link: the first non-empty one on the page.
    pub fn anchor(&self, link: &DiscoveredLink) -> &str {
        self.text(link.anchor)
    }

    /// Records another occurrence of a link, with this anchor text.
    pub fn repeat(&mut self, at: usize, anchor: &str) {
        let words = self.found.get(at).is_some_and(|first| first.anchor.length == 0).then(|| self.keep(anchor));
        if let Some(first) = self.found.get_mut(at) {
            first.count = first.count.saturating_add(1);
            first.anchor = words.unwrap_or(first.anchor);
        }
    }

    /// Keeps only the links that a predicate accepts.
    pub fn retain(&mut self, wanted: impl FnMut(&DiscoveredLink) -> bool) {
        self.found.retain(wanted);
    }

    /// Memory use in bytes.
    pub fn size(&self) -> usize {
        self.text.len() + self.found.len() * size_of::<DiscoveredLink>()
    }
}

impl Deref for Links {
    type Target = [DiscoveredLink];

    fn deref(&self) -> &[DiscoveredLink] {
        &self.found
    }
}

impl<'a> IntoIterator for &'a Links {
    type Item = &'a DiscoveredLink;
    type IntoIter = std::slice::Iter<'a, DiscoveredLink>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_their_own_addresses_and_words() {
        let mut links = Links::default();
        for n in 0..3 {
            let url = format!("http://x/{n}");
            links.push(&url, UrlKey::of(&url), LinkKind::A, if n == 1 { "" } else { "words" }).priority = 0.25;
        }
        links.repeat(1, "");
        links.repeat(1, "later");
        links.repeat(1, "last");
        links.repeat(2, "others");
        let said = |links: &Links| -> Vec<_> {
            links.iter().map(|l| (links.url(l).to_owned(), links.anchor(l).to_owned(), l.count)).collect()
        };
        let line = |url: &str, words: &str, count| (url.to_owned(), words.to_owned(), count);
        let all = [line("http://x/0", "words", 1), line("http://x/1", "later", 4), line("http://x/2", "words", 2)];
        assert_eq!(said(&links), all);
        links.retain(|link| link.count > 1);
        assert_eq!(said(&links), all[1..]);
    }
}
