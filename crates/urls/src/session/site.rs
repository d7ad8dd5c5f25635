//! What is known of the session ids of one site, and what are its URLs without them?

use super::known::tail_of;
use super::token::{Spot, Token, cut_out, each};
use super::{Place, drawn, known};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Ids of one place that are remembered, the newest last: pages in flight may still show an older one.
const MAX_IDS: usize = 32;

/// Words of a URL that are tried as ids nobody remembers.
const FEW: usize = 8;

/// Rounds until a URL has lost all it can lose; one is the rule.
const ROUNDS: usize = 8;

/// Where among the segments of a path an id stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Near {
    /// Behind so many others.
    Start(usize),
    /// Before so many others.
    End(usize),
    /// Here and there, or within a parameter.
    #[default]
    Anywhere,
}

/// One place of a site where session ids stand, and the ids that were seen there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What the ids are in the URL.
    pub place: Place,
    /// The parameter's name; empty for a path segment.
    pub name: String,
    /// Where a path segment stands.
    #[serde(default)]
    pub near: Near,
    /// The ids seen, the newest last.
    pub ids: Vec<String>,
    /// How sure it is, 0 to 1.
    pub confidence: f32,
    /// In how many links it was seen when it was learnt.
    pub links: u32,
    /// The id was seen to change.
    #[serde(default)]
    pub changes: bool,
    /// It has turned out to name pages, not visitors: nothing is taken out any more.
    #[serde(default)]
    pub withdrawn: bool,
}

impl Rule {
    /// The id of now.
    pub fn current(&self) -> Option<&str> {
        self.ids.last().map(String::as_str)
    }

    /// Whether the name alone says that it is an id.
    pub(super) fn is_known(&self) -> bool {
        self.confidence >= 1.0
    }

    /// Whether a word stands where the ids of this rule do.
    pub(super) fn fits(&self, spot: Spot<'_>) -> bool {
        match (self.place, spot) {
            (Place::Query, Spot::Query(name)) | (Place::PathParameter, Spot::Parameter(name)) => name == self.name,
            (Place::PathSegment, Spot::Segment { before, behind, .. }) => match self.near {
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
        let form = self.place != Place::PathSegment || drawn::same_form(id, value);
        form && drawn::alike(id, value)
    }

    /// Makes this the id of now.
    pub(super) fn take(&mut self, id: &str) {
        self.ids.retain(|known| known != id);
        if self.ids.len() >= MAX_IDS {
            self.ids.remove(0);
        }
        self.ids.push(id.to_owned());
    }
}

/// What is known of the session ids of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Site {
    /// The places, the surest first.
    pub rules: Vec<Rule>,
}

impl Site {
    /// Whether no id would be taken out.
    pub fn is_empty(&self) -> bool {
        self.rules.iter().all(|rule| rule.withdrawn)
    }

    /// The rules that hold.
    pub(super) fn live(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| !rule.withdrawn)
    }

    /// Whether pages are to be asked for with ids whose names are known: the site has redirected to URLs with them.
    pub fn wants_known(&self) -> bool {
        self.live().any(|rule| rule.current().is_some_and(|id| known::is_session(&rule.name, id)))
    }

    /// Whether this very word is an id.
    pub fn is_id(&self, word: &str) -> bool {
        self.live().any(|rule| rule.ids.iter().any(|id| id == word))
    }

    /// The ids that stand in a URL, in their order and each once.
    pub fn ids_in<'a>(&self, url: &'a str) -> Vec<&'a str> {
        let mut out = Vec::new();
        each(&url[tail_of(url)], self.shortest(), |token| {
            if !out.contains(&token.value) && self.is_id(token.value) {
                out.push(token.value);
            }
        });
        out
    }

    /// The URL with its ids taken out, those that are known by name among them: what a page is known by.
    pub fn identity<'a>(&self, url: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(url);
        for _ in 0..ROUNDS {
            let learnt = self.without_learnt(&out);
            let both = match known::strip(learnt.as_deref().unwrap_or(&out)) {
                Cow::Owned(stripped) => Some(stripped),
                Cow::Borrowed(_) => learnt,
            };
            match both {
                Some(shorter) => out = Cow::Owned(shorter),
                None => break,
            }
        }
        out
    }

    /// The URL without the ids that were learnt, or nothing where there are none in it.
    pub fn without_learnt(&self, url: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        without_words(url, self.shortest(), |token| self.is_id(token.value))
    }

    /// A URL as it was once asked for, with the ids of now in place of the old ones; `identity` is the same URL without ids, which
    /// tells an id from what only looks like one. A URL without ids stays as it is, and so does one that would become another page's: an
    /// id of now may be such that what stands around the old one looks like an id in its turn.
    pub fn renew<'a>(&self, url: &'a str, identity: &str) -> Cow<'a, str> {
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

    /// The ids of earlier sessions that stand in path and query by this rule.
    fn old_ids(&self, rule: &Rule, tail: &str, identity: &str, head: &str) -> Vec<String> {
        let now = rule.current().unwrap_or_default();
        let (mut old, mut like) = (Vec::new(), Vec::new());
        each(tail, 1, |token| {
            if token.value != now && rule.ids.iter().any(|id| id == token.value) {
                old.push(token.value.to_owned());
            } else if like.len() < FEW && token.value != now && rule.fits(token.spot) && rule.is_like(token.value) {
                like.push(token.value.to_owned());
            }
        });
        // An id that nobody remembers is one when the URL without it is the page's.
        let is_id = |word: &String| {
            without_words(&[head, tail].concat(), 1, |token| token.value == word || self.is_id(token.value))
                .is_some_and(|rest| known::strip(&rest) == identity)
        };
        if old.is_empty() {
            old.extend(like.into_iter().filter(is_id));
        }
        old
    }

    /// How long the shortest id is.
    fn shortest(&self) -> usize {
        self.live().flat_map(|rule| &rule.ids).map(String::len).min().unwrap_or(usize::MAX)
    }
}

/// The URL without these words, or nothing where it has none of them.
pub(super) fn without_words(url: &str, least: usize, is_out: impl Fn(&Token<'_>) -> bool) -> Option<String> {
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
