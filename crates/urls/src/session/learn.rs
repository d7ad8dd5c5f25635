//! Which session ids do lists of links reveal?
//!
//! From one session: an id is a word that looks random ([`drawn`]) and appears in most of the
//! generated links. From two sessions: an id differs between the lists, is constant within each,
//! and removing it makes links of both lists equal. Two sessions are far stronger evidence, so less
//! is demanded of the word itself: even a short number may then be an id.

use super::known::{is_session, tail_of};
use super::site::{Near, SessionRule, Site, without_words};
use super::token::{TokenPosition, UrlToken, each};
use super::{SessionIdPlace, drawn, known};
use hashbrown::{HashMap, HashSet};

/// Shorter words are never ids.
const SHORTEST: usize = 4;

/// Names of parameters and directories whose values select a version or a day: they change between
/// visits and still identify pages.
const VERSIONS: &[&str] = &[
    "asof", "build", "date", "day", "edition", "issue", "month", "rev", "revision", "v", "ver", "version", "week",
    "year",
];

/// Names of parameters and directories whose values identify a site, a customer or some content,
/// however random they look.
const CONTENTS: &[&str] = &[
    "account",
    "acct",
    "aff",
    "affid",
    "affiliate",
    "api_key",
    "apikey",
    "app",
    "app_id",
    "appid",
    "article",
    "asset",
    "assets",
    "blob",
    "bundle",
    "cdn",
    "checksum",
    "client",
    "client_id",
    "clientid",
    "commit",
    "digest",
    "dist",
    "doc",
    "docid",
    "document",
    "etag",
    "file",
    "files",
    "hash",
    "id",
    "item",
    "key",
    "md5",
    "media",
    "merchant",
    "object",
    "partner",
    "pid",
    "product",
    "raw",
    "sha",
    "sha1",
    "sha256",
    "shop",
    "site",
    "siteid",
    "sku",
    "static",
    "store",
    "tag",
    "tenant",
    "tree",
    "uploads",
];

/// File extensions of page assets: links to them are often static.
const ASSETS: &[&str] = &[
    "avif", "bmp", "css", "gif", "ico", "jpeg", "jpg", "js", "map", "mjs", "mp3", "mp4", "png", "svg", "ttf", "webm",
    "webp", "woff", "woff2",
];

/// A word in the links, and where it was seen.
struct WordUse<'a> {
    /// Number of links that contain it.
    links: u32,
    /// One-based number of the last link that contained it.
    last: u32,
    /// Where it appears.
    seat: WordPosition<'a>,
}

/// Where a word appears, over all links that contain it.
#[derive(Clone, Copy)]
struct WordPosition<'a> {
    place: SessionIdPlace,
    name: &'a str,
    before: Option<usize>,
    behind: Option<usize>,
    /// The preceding segment, if it is always the same.
    after: Option<&'a str>,
    within: bool,
}

impl<'a> WordPosition<'a> {
    fn of(spot: TokenPosition<'a>) -> Self {
        let seat = |place, name| Self { place, name, before: None, behind: None, after: None, within: false };
        match spot {
            TokenPosition::Query(name) => seat(SessionIdPlace::Query, name),
            TokenPosition::Parameter(name) => seat(SessionIdPlace::PathParameter, name),
            TokenPosition::Within(_) => Self { within: true, ..seat(SessionIdPlace::PathSegment, "") },
            TokenPosition::Segment { before, behind, after } => {
                let whole = seat(SessionIdPlace::PathSegment, "");
                Self { before: Some(before), behind: Some(behind), after: Some(after), ..whole }
            }
        }
    }

    /// Merges one more occurrence of the word.
    fn and(&mut self, spot: TokenPosition<'a>) {
        let other = Self::of(spot);
        if other.within {
            return;
        }
        if self.within {
            *self = other;
        } else if other.place == SessionIdPlace::PathSegment && self.place == SessionIdPlace::PathSegment {
            self.before = self.before.filter(|at| Some(*at) == other.before);
            self.behind = self.behind.filter(|at| Some(*at) == other.behind);
            self.after = self.after.filter(|after| Some(*after) == other.after);
        }
    }

    fn near(&self) -> Near {
        match (self.before, self.behind) {
            (_, Some(0)) => Near::End(0),
            (Some(at), _) => Near::Start(at),
            (_, Some(at)) => Near::End(at),
            _ => Near::Anywhere,
        }
    }

    /// Whether its parameter name, or the directory it is in, is one of these.
    fn is_called(&self, names: &[&str]) -> bool {
        let name = if self.place == SessionIdPlace::PathSegment { self.after.unwrap_or_default() } else { self.name };
        names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// A named parameter over all links.
struct Named<'a> {
    value: &'a str,
    links: u32,
    last: u32,
    constant: bool,
}

/// The words and parameters of a list of links.
struct Survey<'a> {
    links: Vec<&'a str>,
    words: HashMap<&'a str, WordUse<'a>>,
    names: HashMap<(SessionIdPlace, &'a str), Named<'a>>,
    /// Number of links that look generated.
    made: u32,
    known: Vec<SessionRule>,
}

impl<'a> Survey<'a> {
    /// Surveys the links, and the words in them that may be ids.
    fn of(urls: &[&'a str], may_be_id: impl Fn(&str) -> bool) -> Self {
        let mut survey =
            Self { links: Vec::new(), words: HashMap::new(), names: HashMap::new(), made: 0, known: Vec::new() };
        let mut seen = HashSet::with_capacity(urls.len());
        for url in urls {
            if seen.insert(*url) && !is_asset(url) {
                survey.add(url, &may_be_id);
            }
        }
        survey
    }

    fn add(&mut self, url: &'a str, may_be_id: &impl Fn(&str) -> bool) {
        self.links.push(url);
        let number = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
        let tail = &url[tail_of(url)];
        let mut made = memchr::memchr2(b'?', b';', tail.as_bytes()).is_some();
        each(tail, 1, |token| {
            if is_known(token.spot, token.value) {
                return;
            }
            self.name(&token, number);
            if token.value.len() >= SHORTEST && may_be_id(token.value) {
                made = true;
                let word = self.words.entry(token.value).or_insert(WordUse {
                    links: 0,
                    last: 0,
                    seat: WordPosition::of(token.spot),
                });
                word.seat.and(token.spot);
                // A word may occur twice in one link but counts once.
                if word.last != number {
                    (word.last, word.links) = (number, word.links + 1);
                }
            }
        });
        self.made += u32::from(made);
        self.note_known(url);
    }

    fn name(&mut self, token: &UrlToken<'a>, number: u32) {
        let (TokenPosition::Query(_) | TokenPosition::Parameter(_)) = token.spot else { return };
        let seat = WordPosition::of(token.spot);
        let blank = Named { value: token.value, links: 0, last: 0, constant: true };
        let named = self.names.entry((seat.place, seat.name)).or_insert(blank);
        named.constant &= named.value == token.value;
        if named.last != number {
            (named.last, named.links) = (number, named.links + 1);
        }
    }

    /// Records ids that need no evidence.
    fn note_known(&mut self, url: &str) {
        if !may_hold_known(url) {
            return;
        }
        for id in known::found(url).into_iter().filter(|id| !id.value.is_empty()) {
            let known = self.known.iter_mut().find(|rule| rule.place == id.place && rule.name == id.name);
            match known {
                Some(rule) => {
                    rule.links += 1;
                    rule.take(&id.value);
                }
                None => self.known.push(SessionRule::known(id)),
            }
        }
    }

    /// Whether the parameter has the same value in all links that contain it.
    fn is_constant(&self, seat: &WordPosition<'_>) -> bool {
        seat.place == SessionIdPlace::PathSegment
            || self.names.get(&(seat.place, seat.name)).is_some_and(|named| named.constant)
    }
}

/// What the links of one session reveal.
pub fn one_session(urls: &[&str]) -> Site {
    ids_of(urls, |_| true)
}

/// The same, restricted to words that are `new`: an id is not in the URL of the page that issues
/// it.
pub(super) fn ids_of(urls: &[&str], is_new: impl Fn(&str) -> bool) -> Site {
    let survey = Survey::of(urls, |word| drawn::bits(word).is_some());
    let mut rules: Vec<SessionRule> = Vec::new();
    for (value, word) in &survey.words {
        // Three quarters, since some generated links of a session may lack its id.
        let common = word.links >= 2 && word.links * 4 >= survey.made * 3;
        let in_doubt =
            word.seat.is_called(CONTENTS) || word.seat.is_called(VERSIONS) || !survey.is_constant(&word.seat);
        if common && !in_doubt && is_new(value) {
            let share = word.links as f32 / survey.made as f32;
            let confidence = 0.5 + 0.2 * share + 0.02 * word.links.min(10) as f32;
            rules.push(rule(&word.seat, &[value], word.links, confidence));
        }
    }
    finished(rules, survey.known)
}

/// What the links of two sessions of one site reveal.
pub fn two_sessions(old: &[&str], new: &[&str]) -> Site {
    let (a, b) = (Survey::of(old, drawn::may_be_id), Survey::of(new, drawn::may_be_id));
    let mut pairs = named_pairs(&a, &b);
    pairs.extend(segment_pairs(&a, &b));
    let olds: HashSet<&str> = pairs.iter().map(|pair| pair.old).collect();
    let news: HashSet<&str> = pairs.iter().map(|pair| pair.new).collect();
    let before: HashMap<String, &str> = a.links.iter().filter_map(|url| Some((rest(url, &olds)?, *url))).collect();
    let mut met: HashMap<&str, u32> = HashMap::new();
    for url in &b.links {
        let Some(from) = rest(url, &news).and_then(|rest| before.get(&rest)) else { continue };
        for pair in pairs.iter().filter(|pair| from.contains(pair.old) && url.contains(pair.new)) {
            *met.entry(pair.new).or_default() += 1;
        }
    }
    let mut rules: Vec<SessionRule> = Vec::new();
    for pair in &pairs {
        if met.get(pair.new).is_some_and(|met| *met >= 2) {
            let mut rule = rule(&pair.seat, &[pair.old, pair.new], pair.links, 0.99);
            rule.changes = true;
            rules.push(rule);
        }
    }
    let known = joined(a.known, b.known);
    if rules.is_empty() { finished(apart(old, new), known) } else { finished(rules, known) }
}

/// A word of one list and its counterpart in the other.
struct IdPair<'a> {
    old: &'a str,
    new: &'a str,
    seat: WordPosition<'a>,
    links: u32,
}

/// Parameters that are constant within each list and differ between them.
fn named_pairs<'a>(a: &Survey<'a>, b: &Survey<'a>) -> Vec<IdPair<'a>> {
    let mut pairs = Vec::new();
    for ((place, name), one) in &a.names {
        let Some(two) = b.names.get(&(*place, *name)) else { continue };
        let links = one.links.min(two.links);
        let seat = WordPosition::of(if *place == SessionIdPlace::Query {
            TokenPosition::Query(name)
        } else {
            TokenPosition::Parameter(name)
        });
        let changes = one.constant && two.constant && one.value != two.value;
        let is_id = |word: &str| word.len() >= SHORTEST && drawn::may_be_id(word);
        let common = links >= 2 && one.links * 4 >= a.made && two.links * 4 >= b.made;
        let apart = !b.words.contains_key(one.value) && !a.words.contains_key(two.value);
        if changes && common && apart && is_id(one.value) && is_id(two.value) && !seat.is_called(VERSIONS) {
            pairs.push(IdPair { old: one.value, new: two.value, seat, links });
        }
    }
    pairs
}

/// Segments shared by most links of one list and absent from the other.
fn segment_pairs<'a>(a: &Survey<'a>, b: &Survey<'a>) -> Vec<IdPair<'a>> {
    let mut pairs: Vec<IdPair<'a>> = Vec::new();
    let candidates = common_segments(b, a);
    for (old, one) in common_segments(a, b) {
        let matching = candidates.iter().find(|(new, two)| {
            let taken = pairs.iter().any(|pair| pair.new == *new);
            !taken && drawn::same_form(old, new) && drawn::alike(old, new) && two.seat.near() == one.seat.near()
        });
        if let Some((new, two)) = matching {
            pairs.push(IdPair { old, new, seat: one.seat, links: one.links.min(two.links) });
        }
    }
    pairs
}

/// Words in path segments of at least half the links of a list that occur in no link of the other,
/// most frequent first.
fn common_segments<'s, 'a>(of: &'s Survey<'a>, other: &Survey<'a>) -> Vec<(&'a str, &'s WordUse<'a>)> {
    let is_common = |word: &WordUse<'_>| {
        word.links >= 2
            && word.links * 2 >= of.made
            && word.seat.place == SessionIdPlace::PathSegment
            && !word.seat.is_called(VERSIONS)
    };
    let words = of.words.iter().filter(|(value, word)| is_common(word) && !other.words.contains_key(*value));
    let mut words: Vec<_> = words.map(|(value, word)| (*value, word)).collect();
    words.sort_by_key(|(value, word)| (std::cmp::Reverse(word.links), *value));
    words
}

/// A link without these words, if it contains any of them.
fn rest(url: &str, words: &HashSet<&str>) -> Option<String> {
    without_words(url, SHORTEST, |token| words.contains(token.value))
}

/// What each of two lists reveals on its own if they share no links: a word in both belongs to no
/// session.
fn apart(old: &[&str], new: &[&str]) -> Vec<SessionRule> {
    let (a, b) = (one_session(old), one_session(new));
    let mut rules = Vec::new();
    for mut rule in a.rules {
        let twin = b.rules.iter().find(|other| {
            let seats = (rule.place, &rule.name, rule.near) == (other.place, &other.name, other.near);
            seats && rule.ids != other.ids && other.ids.iter().all(|id| rule.is_like(id))
        });
        if let (Some(twin), true) = (twin, rule.confidence < 1.0) {
            rule.ids.extend(twin.ids.iter().cloned());
            rule.changes = true;
            rule.confidence = 0.95;
            rules.push(rule);
        }
    }
    rules
}

fn rule(seat: &WordPosition<'_>, ids: &[&str], links: u32, confidence: f32) -> SessionRule {
    SessionRule {
        place: seat.place,
        name: seat.name.to_owned(),
        near: if seat.place == SessionIdPlace::PathSegment { seat.near() } else { Near::Anywhere },
        ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        confidence,
        links,
        changes: false,
        withdrawn: false,
    }
}

/// Sorts the rules by confidence, highest first.
fn finished(mut rules: Vec<SessionRule>, known: Vec<SessionRule>) -> Site {
    rules.retain(|rule| !known.iter().any(|known| known.place == rule.place && known.name == rule.name));
    rules.extend(known);
    rules.sort_by(|a, b| {
        let surest = b.confidence.total_cmp(&a.confidence);
        surest.then(b.links.cmp(&a.links)).then_with(|| a.ids.cmp(&b.ids))
    });
    Site { rules }
}

fn joined(mut one: Vec<SessionRule>, two: Vec<SessionRule>) -> Vec<SessionRule> {
    for rule in two {
        match one.iter_mut().find(|known| known.place == rule.place && known.name == rule.name) {
            Some(known) => {
                known.changes |= known.ids != rule.ids;
                known.links = known.links.max(rule.links);
                rule.ids.iter().for_each(|id| known.take(id));
            }
            None => one.push(rule),
        }
    }
    one
}

fn is_known(spot: TokenPosition<'_>, value: &str) -> bool {
    matches!(spot, TokenPosition::Query(name) | TokenPosition::Parameter(name) if is_session(name, value))
}

/// Whether a URL may contain an id that is recognisable by name or format.
fn may_hold_known(url: &str) -> bool {
    memchr::memchr3(b'?', b';', b'(', url.as_bytes()).is_some()
}

/// Whether a link leads to a page asset rather than to a page.
pub(super) fn is_asset(url: &str) -> bool {
    let path = url.split(['?', '#', ';']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    last.rsplit_once('.').is_some_and(|(_, ending)| ASSETS.iter().any(|asset| asset.eq_ignore_ascii_case(ending)))
}
