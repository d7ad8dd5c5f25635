//! What does the next page of a site reveal about its session ids?
//!
//! During a crawl, links arrive page by page, together with the URL that was requested. That is
//! evidence a plain list lacks: **an id is born in a response**. It appears in most links of a page
//! that was requested without it, whereas a product or release number appears in the links of the
//! page about it, and so in that page's own URL too. From then on, only that exact word is removed.
//!
//! A second word in the same position is the next id if a page that was requested without it uses
//! it throughout, be it in the next run, an hour later, or in every response. If the page was
//! requested with it, the position identifies pages, and the rule is withdrawn.

use super::known::{self, tail_of};
use super::learn::{ids_of, is_asset};
use super::site::{Near, SessionRule, Site, without_words};
use super::token::{TokenPosition, each};
use super::{SessionIdPlace, drawn};

/// How many links of a page are sampled before all of them are examined.
const SAMPLE: usize = 24;

/// How many words of a redirect's target are tried as ids.
const TRIES: usize = 8;

/// How many words the first look remembers.
const WORDS: usize = 256;

/// Maximum number of id positions per site.
const MAX_RULES: usize = 8;

/// Minimum length of a word for the first look.
const SHORTEST: usize = 10;

/// Minimum length of an id for an existing rule.
const LEAST: usize = 4;

/// How many different words in a rule's position are distinguished.
const MOST: usize = 64;

/// Page names of a site's home page.
const BEGINNINGS: &[&str] = &["", "default", "home", "index", "main", "start", "welcome"];

impl Site {
    /// Learns from a page: the URL requested and the links to its own site. Returns `None` if there
    /// is nothing new.
    pub fn observe(&self, asked: &str, links: &[&str]) -> Option<Self> {
        if self.rules.is_empty() && !shares_a_word(links) {
            return None;
        }
        let mut after = self.clone();
        let made: Vec<&str> = links.iter().copied().filter(|link| !is_asset(link)).collect();
        for rule in after.rules.iter_mut().filter(|rule| !rule.withdrawn && !rule.is_known()) {
            follow(rule, asked, &made);
        }
        let learnt = ids_of(&made, |word| !self.is_id(word) && !has_word(asked, word));
        for rule in learnt.rules {
            after.meet(rule);
        }
        (after != *self).then_some(after)
    }

    /// Learns from a redirect within the site.
    pub fn redirected(&self, asked: &str, target: &str) -> Option<Self> {
        let mut after = self.clone();
        let own = self.identity(asked);
        let rest = self.identity(target);
        if rest == own || (is_beginning(&own) && is_beginning(&rest)) {
            let given =
                known::found(target).into_iter().filter(|id| !id.value.is_empty() && !asked.contains(&id.value));
            given.for_each(|id| after.meet(SessionRule::known(id)));
        }
        let mut tried = 0;
        each(&target[tail_of(target)], LEAST, |token| {
            let is_given = after.is_known_id(token.value);
            let next = after.rules.iter_mut().find(|rule| rule.fits(token.spot) && rule.is_like(token.value));
            let is_named = matches!(token.spot, TokenPosition::Query(n) | TokenPosition::Parameter(n) if known::is_session(n, token.value));
            let is_drawn = next.is_some() || is_named || drawn::bits(token.value).is_some();
            let is_old = is_given || self.is_id(token.value) || has_word(asked, token.value);
            if tried >= TRIES || !is_drawn || is_old {
                return;
            }
            tried += 1;
            let rest = without_words(target, LEAST, |t| t.value == token.value || self.is_id(t.value));
            let rest = rest.as_deref().map(known::strip).unwrap_or_default();
            match next {
                Some(rule)
                    if !rule.withdrawn
                        && (rest == own || rule.place != SessionIdPlace::PathSegment && rule.changes) =>
                {
                    rule.take(token.value);
                    rule.changes = true;
                }
                Some(_) => {}
                None if rest == own || (is_beginning(&own) && is_beginning(&rest)) => {
                    born(token.spot, token.value).into_iter().for_each(|rule| after.meet(rule));
                }
                None => {}
            }
        });
        (after != *self).then_some(after)
    }

    /// Adds a learnt rule, unless its position is already known or was withdrawn.
    fn meet(&mut self, rule: SessionRule) {
        let same_place =
            |known: &SessionRule| known.place == rule.place && known.name == rule.name && known.near == rule.near;
        let is_met = |known: &SessionRule| same_place(known) || rule.ids.iter().any(|id| known.ids.contains(id));
        let has_room = self.rules.len() < MAX_RULES;
        match self.rules.iter_mut().find(|known| is_met(known)) {
            Some(known) if known.is_known() => rule.ids.iter().for_each(|id| known.take(id)),
            Some(_) => {}
            None if has_room => self.rules.push(rule),
            None => {}
        }
    }
}

/// Whether two of the sampled links share a random-looking word. On most sites none do, and this is
/// all the work there is.
fn shares_a_word(links: &[&str]) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    let step = links.len().div_ceil(SAMPLE).max(1);
    for url in links.iter().step_by(step) {
        let tail = &url[tail_of(url)];
        if !has_long_code(tail) {
            continue;
        }
        let first = seen.len();
        let mut shared = false;
        each(tail, SHORTEST, |token| {
            shared |= seen[..first].contains(&token.value) && drawn::bits(token.value).is_some();
            if seen.len() < WORDS {
                seen.push(token.value);
            }
        });
        if shared {
            return true;
        }
    }
    false
}

/// Whether there is a run of ten letters, digits and dashes with at least two digits.
///
/// Each window of ten bytes is scanned from its end. If it contains a delimiter, no run can start
/// before it, so most bytes are never examined (the idea of Boyer–Moore).
fn has_long_code(tail: &str) -> bool {
    let of_code = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let mut rest = tail.as_bytes();
    while let Some(ten) = rest.first_chunk::<SHORTEST>() {
        let seen = match ten.iter().rposition(|byte| !of_code(byte)) {
            Some(sign) => sign,
            None => rest.iter().position(|byte| !of_code(byte)).unwrap_or(rest.len()),
        };
        let (stretch, after) = rest.split_at(seen);
        if seen >= SHORTEST && stretch.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2 {
            return true;
        }
        rest = after.get(1..).unwrap_or_default();
    }
    false
}

/// Examines the words in a rule's position on a page.
fn follow(rule: &mut SessionRule, asked: &str, links: &[&str]) {
    let (mut others, mut mine, mut all): (Vec<(&str, usize)>, u32, usize) = (Vec::new(), 0, 0);
    for link in links {
        each(&link[tail_of(link)], LEAST, |token| {
            if rule.ids.iter().any(|id| id == token.value) {
                mine += 1;
            } else if rule.fits(token.spot) && (rule.place != SessionIdPlace::PathSegment || rule.is_like(token.value))
            {
                all += 1;
                match others.iter().position(|(other, _)| *other == token.value) {
                    Some(at) => others[at].1 += 1,
                    None if others.len() < MOST => others.push((token.value, 1)),
                    None => {}
                }
            }
        });
    }
    let Some((most, count)) = others.iter().copied().max_by_key(|(_, count)| *count) else { return };
    if mine == 0 && count * 4 >= all * 3 {
        take_or_withdraw(rule, most, has_word(asked, most), count >= 2 && count * 2 >= links.len());
    } else if rule.place != SessionIdPlace::PathSegment {
        // Several values of one parameter: ids if ids are known to change here, otherwise page
        // names.
        let ids = rule.changes && others.iter().all(|(id, _)| rule.is_like(id));
        others.iter().filter(|_| ids).for_each(|(id, _)| rule.take(id));
        rule.withdrawn |= !rule.changes;
    }
}

/// Decides about the only other word in a rule's position, by whether most links contain it and
/// whether it was requested.
fn take_or_withdraw(rule: &mut SessionRule, word: &str, was_asked: bool, throughout: bool) {
    if rule.is_like(word) && (rule.changes || (throughout && !was_asked)) {
        rule.take(word);
        rule.changes = true;
    } else if was_asked || !rule.is_like(word) {
        rule.withdrawn |= !rule.changes && (throughout || rule.place != SessionIdPlace::PathSegment);
    }
}

/// A rule for a word that a redirect put into a URL.
fn born(spot: TokenPosition<'_>, id: &str) -> Option<SessionRule> {
    let (place, name, near) = match spot {
        TokenPosition::Query(name) => (SessionIdPlace::Query, name, Near::Anywhere),
        TokenPosition::Parameter(name) => (SessionIdPlace::PathParameter, name, Near::Anywhere),
        TokenPosition::Segment { behind: 0, before, .. } if before > 0 => {
            (SessionIdPlace::PathSegment, "", Near::End(0))
        }
        TokenPosition::Segment { before, .. } => (SessionIdPlace::PathSegment, "", Near::Start(before)),
        TokenPosition::Within(_) => return None,
    };
    let ids = vec![id.to_owned()];
    let name = name.to_owned();
    Some(SessionRule { place, name, near, ids, confidence: 0.9, links: 1, changes: false, withdrawn: false })
}

/// Whether a URL is a home page: no query and no directories.
fn is_beginning(url: &str) -> bool {
    let name = url[tail_of(url)].trim_start_matches('/');
    let stem = name.split('.').next().unwrap_or_default();
    !name.contains(['/', '?']) && BEGINNINGS.iter().any(|known| known.eq_ignore_ascii_case(stem))
}

fn has_word(url: &str, word: &str) -> bool {
    let mut found = false;
    if url.contains(word) {
        each(&url[tail_of(url)], word.len(), |token| found |= token.value == word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: &str = "4f8ab91c77de20aa3bc1";
    const TWO: &str = "90ab44d1f7de20ccb1c7";
    const THREE: &str = "c1d2e3f4a5b6978801fe";

    /// A page with five links that contain this word, in the style of a URL template with `{}`.
    fn page(style: &str, word: &str) -> Vec<String> {
        (0..5).map(|n| style.replace("{}", word).replace('#', &n.to_string())).collect()
    }

    fn seen(site: &Site, asked: &str, links: &[String]) -> Site {
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        site.observe(asked, &links).unwrap_or_else(|| site.clone())
    }

    const STYLES: [&str; 4] = ["http://x/{}/p#", "http://x/p#/{}", "http://x/p#?zq={}", "http://x/p#;zq={}"];

    #[test]
    fn an_id_is_learnt_from_a_page_that_was_asked_for_without_it() {
        for style in STYLES {
            let site = seen(&Site::default(), "http://x/", &page(style, ONE));
            assert!(site.is_id(ONE), "{style}");
            let about = style.replace("{}", ONE).replace('#', "7");
            assert!(seen(&Site::default(), &about, &page(style, ONE)).is_empty(), "a page about {ONE}: {style}");
        }
    }

    #[test]
    fn an_id_that_changes_with_every_answer_is_followed() {
        for style in STYLES {
            let site = seen(&Site::default(), "http://x/", &page(style, ONE));
            let site = seen(&site, &style.replace("{}", ONE).replace('#', "1"), &page(style, TWO));
            let site = seen(&site, &style.replace("{}", TWO).replace('#', "2"), &page(style, THREE)[..1]);
            for id in [ONE, TWO, THREE] {
                assert!(site.is_id(id), "{style}: {site:?}");
            }
            let old = style.replace("{}", ONE).replace('#', "1");
            let now = style.replace("{}", THREE).replace('#', "1");
            assert_eq!(site.renew(&old, &site.identity(&old)), now);
        }
    }

    #[test]
    fn a_place_that_turns_out_to_name_pages_is_left_alone() {
        for style in STYLES {
            let site = seen(&Site::default(), "http://x/", &page(style, ONE));
            let site = seen(&site, &style.replace("{}", TWO).replace('#', "1"), &page(style, TWO));
            assert!(site.is_empty(), "{style}: {site:?}");
            let site = seen(&site, "http://x/", &page(style, THREE));
            assert!(site.is_empty(), "{style}: what was withdrawn is not learnt again");
        }
    }

    #[test]
    fn hashes_where_an_id_stands_are_no_ids() {
        for style in STYLES {
            let site = seen(&Site::default(), "http://x/", &page(style, ONE));
            let mut links = page(style, ONE);
            links.push("http://x/other/00ab44d1f7de20ccb1c7/a".to_owned());
            links.push("http://x/00ab44d1f7de20ccb1c7/b".to_owned());
            let site = seen(&site, "http://x/", &links);
            assert!(site.is_id(ONE) && !site.is_id("00ab44d1f7de20ccb1c7"), "{style}");
        }
    }

    #[test]
    fn a_redirect_that_puts_an_id_into_the_url_tells_it() {
        let told = |asked: &str, target: &str| Site::default().redirected(asked, target);
        for target in
            ["http://x/4f8ab91c77de20aa3bc1/", "http://x/?zq=4f8ab91c77de20aa3bc1", "http://x/;a=4f8ab91c77de20aa3bc1"]
        {
            assert!(told("http://x/", target).unwrap().is_id(ONE), "{target}");
        }
        assert!(told("http://x/a/b", "http://x/a/b/4f8ab91c77de20aa3bc1").is_none(), "a directory is another page");
        assert!(told("http://x/a/b", "http://x/a/b?zq=4f8ab91c77de20aa3bc1").unwrap().is_id(ONE));
        assert!(told("http://x/", "http://x/4f8ab91c77de20aa3bc1/index.html").unwrap().is_id(ONE));
        for target in
            ["http://x/article/4f8ab91c77de20aa3bc1", "http://x/login?state=4f8ab91c77de20aa3bc1", "http://x/en/"]
        {
            assert!(told("http://x/", target).is_none(), "{target}");
        }
        let site = told("http://x/", "http://x/?zq=4f8ab91c77de20aa3bc1").unwrap();
        let site = site.redirected("http://x/a?zq=4f8ab91c77de20aa3bc1", "http://x/a?zq=90ab44d1f7de20ccb1c7").unwrap();
        assert_eq!(site.rules[0].current(), Some(TWO));
    }

    #[test]
    fn a_redirect_tells_ids_that_are_known_by_name_or_form_and_a_new_visit_begins_without_them() {
        for style in ["/(S({}))/p", "/(A({}z)S({}))/p", "/p;jsessionid={}", "/p?PHPSESSID={}", "/({}0001)/p"] {
            let with = |id: &str| {
                format!("http://x{}", style.replace("{}", &id.replace(|c: char| !c.is_ascii_lowercase(), "3")))
            };
            let mut site = Site::default().redirected("http://x/p", &with(ONE)).unwrap();
            assert!(site.wants_known(), "{style}");
            assert_eq!(site.identity(&with(ONE)), "http://x/p", "{style}");
            assert_eq!(site.renew(&with(TWO), "http://x/p"), with(ONE), "{style}");
            site = site.redirected(&with(ONE), &with(THREE)).unwrap();
            assert_eq!(site.renew(&with(ONE), "http://x/p"), with(THREE), "{style}");
            site.begin_visit();
            assert_eq!(site.renew(&with(ONE), "http://x/p"), "http://x/p", "{style}");
            assert!(site.wants_known(), "{style}");
        }
    }

    #[test]
    fn a_page_of_a_site_without_ids_teaches_nothing() {
        let links = page("http://x/news/2024/05/#/a-longer-title-with-words-{}", "12");
        assert_eq!(Site::default().observe("http://x/", &links.iter().map(String::as_str).collect::<Vec<_>>()), None);
    }

    proptest! {
        #[test]
        fn a_long_code_is_found_as_by_a_look_at_every_byte(tail in "([a-c0-3_-]{0,12}[/.?=]?){0,6}") {
            let stretches = tail.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
            let mut long = stretches.filter(|s| s.len() >= SHORTEST);
            let found = long.any(|s| s.bytes().filter(u8::is_ascii_digit).count() >= 2);
            prop_assert_eq!(has_long_code(&tail), found);
        }
    }
}
