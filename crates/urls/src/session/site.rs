//! What is known about the session ids of one site, and what are its URLs without them?

use super::known::tail_of;
use super::token::{TokenPosition, UrlToken, cut_out, each};
use super::{SessionId, SessionIdPlace, drawn, known};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How many ids per position are remembered, newest last: pages in flight may still show an older
/// one.
const MAX_IDS: usize = 32;

/// How many words of a URL are tried as forgotten ids.
const FEW: usize = 8;

/// Maximum passes to strip all ids from a URL. One is usually enough.
const ROUNDS: usize = 8;

/// Position of an id among the segments of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Near {
    /// After this many segments.
    Start(usize),
    /// Before this many segments.
    End(usize),
    /// At varying positions, or inside a parameter.
    #[default]
    Anywhere,
}

/// A position in a site's URLs where session ids appear, and the ids seen there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRule {
    /// Which part of the URL holds the id.
    pub place: SessionIdPlace,
    /// The parameter's name; empty for a path segment.
    pub name: String,
    /// Position of a path segment.
    #[serde(default)]
    pub near: Near,
    /// The ids seen, newest last.
    pub ids: Vec<String>,
    /// Confidence from 0 to 1.
    pub confidence: f32,
    /// Number of links that contained it when it was learnt.
    pub links: u32,
    /// Whether the id was seen to change.
    #[serde(default)]
    pub changes: bool,
    /// The position turned out to identify pages, not visitors, so nothing is removed any more.
    #[serde(default)]
    pub withdrawn: bool,
}

impl SessionRule {
    /// The current session's id.
    pub fn current(&self) -> Option<&str> {
        self.ids.last().map(String::as_str)
    }

    /// Whether the name or the form alone marks it as an id.
    pub(super) fn is_known(&self) -> bool {
        self.confidence >= 1.0
    }

    /// A rule for an id that is recognised by its name or form and needs no proof.
    pub(super) fn known(id: SessionId) -> Self {
        Self {
            place: id.place,
            name: id.name,
            near: Near::Anywhere,
            ids: vec![id.value],
            confidence: 1.0,
            links: 1,
            changes: false,
            withdrawn: false,
        }
    }

    /// Whether a word is in this rule's position.
    pub(super) fn fits(&self, spot: TokenPosition<'_>) -> bool {
        match (self.place, spot) {
            (SessionIdPlace::Query, TokenPosition::Query(name))
            | (SessionIdPlace::PathParameter, TokenPosition::Parameter(name)) => name == self.name,
            (SessionIdPlace::PathSegment, TokenPosition::Segment { before, behind, .. }) => match self.near {
                Near::Start(at) => at == before,
                Near::End(at) => at == behind,
                Near::Anywhere => true,
            },
            _ => false,
        }
    }

    /// Whether a word may be another id of this rule.
    pub(super) fn is_like(&self, value: &str) -> bool {
        let Some(id) = self.current() else { return false };
        let form = self.place != SessionIdPlace::PathSegment || drawn::same_form(id, value);
        form && drawn::alike(id, value)
    }

    /// Makes this the current id.
    pub(super) fn take(&mut self, id: &str) {
        self.ids.retain(|known| known != id);
        if self.ids.len() >= MAX_IDS {
            self.ids.remove(0);
        }
        self.ids.push(id.to_owned());
    }
}

/// What is known about the session ids of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Site {
    /// The rules, highest confidence first.
    pub rules: Vec<SessionRule>,
}

impl Site {
    /// Whether no id would be removed.
    pub fn is_empty(&self) -> bool {
        self.rules.iter().all(|rule| rule.withdrawn)
    }

    /// The rules that have not been withdrawn.
    pub(super) fn live(&self) -> impl Iterator<Item = &SessionRule> {
        self.rules.iter().filter(|rule| !rule.withdrawn)
    }

    /// Whether requests must carry ids in well-known parameters, because the site redirected to
    /// URLs that contain them.
    pub fn wants_known(&self) -> bool {
        self.live().any(|rule| rule.is_known() || rule.current().is_some_and(|id| known::is_session(&rule.name, id)))
    }

    /// Begins a new visit: forgets ids recognised by name or form. The site issues a new one to
    /// whoever asks without, and may have expired the last.
    pub fn begin_visit(&mut self) {
        self.rules.iter_mut().filter(|rule| rule.is_known()).for_each(|rule| rule.ids.clear());
    }

    /// Whether this exact word is an id.
    pub fn is_id(&self, word: &str) -> bool {
        self.live().any(|rule| rule.ids.iter().any(|id| id == word))
    }

    /// Whether this exact word is an id that was recognised by its name or form.
    pub(super) fn is_known_id(&self, word: &str) -> bool {
        self.live().any(|rule| rule.is_known() && rule.ids.iter().any(|id| id == word))
    }

    /// The ids in a URL, in order, without duplicates.
    pub fn ids_in<'a>(&self, url: &'a str) -> Vec<&'a str> {
        let mut out = Vec::new();
        each(&url[tail_of(url)], self.shortest(), |token| {
            if !out.contains(&token.value) && self.is_id(token.value) {
                out.push(token.value);
            }
        });
        out
    }

    /// The URL without its ids, including those recognised by name. This identifies the page.
    pub fn identity<'a>(&self, url: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(url);
        // Removing one id can expose another, so repeat until nothing changes.
        for _ in 0..ROUNDS {
            // Known forms first: `(S(id))` is no longer recognised once its id is gone.
            let stripped = known::strip(&out);
            let both = self.without_learnt(&stripped).or(match stripped {
                Cow::Owned(stripped) => Some(stripped),
                Cow::Borrowed(_) => None,
            });
            match both {
                Some(shorter) => out = Cow::Owned(shorter),
                None => break,
            }
        }
        out
    }

    /// The URL without the learnt ids, or `None` if it has none.
    pub fn without_learnt(&self, url: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        without_words(url, self.shortest(), |token| self.is_id(token.value))
    }

    /// A URL as it was once requested, with the current ids in place of the old ones. `identity` is
    /// the same URL without ids, and tells ids from lookalikes. A URL without ids is returned
    /// unchanged. So is one whose renewed form would identify another page, which can happen if the
    /// text around the new id looks like an id itself.
    /// Ids recognised by name are removed if there is no current one: the site will issue one.
    pub fn renew<'a>(&self, url: &'a str, identity: &str) -> Cow<'a, str> {
        if self.live().any(|rule| rule.is_known() && rule.current().is_none()) {
            return known::strip(url);
        }
        let range = tail_of(url);
        let tail = &url[range.clone()];
        let mut out: Option<String> = None;
        for rule in self.live() {
            let Some(now) = rule.current() else { continue };
            let text = out.as_deref().unwrap_or(tail);
            let old = self.old_ids(rule, text, identity, &url[..range.start]);
            if !old.is_empty() {
                out = Some(replaced(text, &old, now));
            }
        }
        let renewed = out.map(|tail| [&url[..range.start], &tail, &url[range.end..]].concat());
        match renewed.filter(|renewed| self.identity(renewed) == self.identity(identity)) {
            Some(renewed) => Cow::Owned(renewed),
            None => Cow::Borrowed(url),
        }
    }

    /// Ids of earlier sessions that this rule finds in path and query.
    fn old_ids(&self, rule: &SessionRule, tail: &str, identity: &str, head: &str) -> Vec<String> {
        let now = rule.current().unwrap_or_default();
        let (mut old, mut like) = (Vec::new(), Vec::new());
        if rule.is_known() {
            let same_place = |id: &SessionId| id.place == rule.place && id.name.eq_ignore_ascii_case(&rule.name);
            let found = known::found(tail).into_iter().filter(|id| same_place(id) && id.value != now);
            old.extend(found.map(|id| id.value));
        }
        each(tail, 1, |token| {
            if token.value != now && rule.ids.iter().any(|id| id == token.value) {
                old.push(token.value.to_owned());
            } else if like.len() < FEW && token.value != now && rule.fits(token.spot) && rule.is_like(token.value) {
                like.push(token.value.to_owned());
            }
        });
        // A forgotten id is still recognised if removing it gives the page's identity.
        let is_id = |word: &String| {
            let url = [head, tail].concat();
            without_words(&known::strip(&url), 1, |token| token.value == word || self.is_id(token.value))
                .is_some_and(|rest| known::strip(&rest) == identity)
        };
        if old.is_empty() {
            old.extend(like.into_iter().filter(is_id));
        }
        old
    }

    /// Length of the shortest id.
    fn shortest(&self) -> usize {
        self.live().flat_map(|rule| &rule.ids).map(String::len).min().unwrap_or(usize::MAX)
    }
}

/// The URL without these words, or `None` if it contains none of them.
pub(super) fn without_words(url: &str, least: usize, is_out: impl Fn(&UrlToken<'_>) -> bool) -> Option<String> {
    let range = tail_of(url);
    let tail = &url[range.clone()];
    let mut cuts = Vec::new();
    each(tail, least, |token| {
        if is_out(&token) {
            cuts.push(token.cut(tail));
        }
    });
    if cuts.is_empty() {
        return None;
    }
    Some([&url[..range.start], &cut_out(tail, &cuts), &url[range.end..]].concat())
}

fn replaced(tail: &str, old: &[String], now: &str) -> String {
    let (mut out, mut copied) = (String::with_capacity(tail.len()), 0);
    each(tail, 1, |token| {
        if old.iter().any(|id| id == token.value) {
            out.push_str(&tail[copied..token.start]);
            out.push_str(now);
            copied = token.start + token.value.len();
        }
    });
    out.push_str(&tail[copied..]);
    out
}
