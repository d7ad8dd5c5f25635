//! Where does a run start that has no page of its own to start from?
//!
//! A phrase for a search engine (`?wolf spiders`) and a directory whose links are collected but not
//! its own pages (`follow-only`) are seeds of another kind: pages that are passed through on the
//! way to others. Both are short for two steps, one that passes through and one that collects what
//! the pages lead to; [`Settings::with_ways`] writes them out before a run.

use crate::examine::Wrong;
use crate::settings::Settings;
use crate::steps::StepSettings;
use orb_urls::{Canonicaliser, NewsReference};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// What follows the URL of a seed whose own pages are not collected.
const FOLLOW_ONLY: &str = "follow-only";

/// Results on one page of a search engine, where its template counts results.
const RESULTS_A_PAGE: u32 = 10;

/// Section `[search_engine]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineSettings {
    /// The URL of an answer, as OpenSearch writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Which links of an answer are results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<String>,
    /// Pages of an answer.
    pub pages: u32,
    /// Whether a phrase is asked again by every run.
    pub refresh: bool,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self { template: None, results: None, pages: 3, refresh: false }
    }
}

/// A seed as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedText<'a> {
    /// A URL.
    Url(&'a str),
    /// A file with one URL per line.
    File(&'a str),
    /// A newsgroup, a pattern of them or an article.
    News(NewsReference<'a>),
    /// A phrase for the search engine.
    Phrase(&'a str),
    /// A URL whose pages are passed through, so many links deep.
    FollowOnly(&'a str, u32),
}

impl<'a> SeedText<'a> {
    /// What a text says: `URL`, `@file`, `?phrase`, `news:group`, `URL follow-only` or
    /// `URL follow-only depth=2`.
    pub fn of(text: &'a str) -> Self {
        if let Some(phrase) = text.strip_prefix('?') {
            return Self::Phrase(phrase.trim());
        }
        if let Some(file) = text.strip_prefix('@') {
            return Self::File(file);
        }
        if let Some(news) = NewsReference::of(text).filter(|_| !text.contains(char::is_whitespace)) {
            return Self::News(news);
        }
        match text.split_once(char::is_whitespace).map(|(url, rest)| (url, rest.trim())) {
            Some((url, FOLLOW_ONLY)) => Self::FollowOnly(url, 0),
            Some((url, rest)) => {
                let depth = rest.strip_prefix(FOLLOW_ONLY).and_then(|rest| rest.trim().strip_prefix("depth="));
                depth.and_then(|depth| depth.parse().ok()).map_or(Self::Url(text), |depth| Self::FollowOnly(url, depth))
            }
            None => Self::Url(text),
        }
    }

    /// The URL of a page to start from, where the seed itself is one; newsgroups are on this
    /// server.
    pub fn url(self, news_server: Option<&str>) -> Option<Cow<'a, str>> {
        match self {
            Self::Url(url) => Some(url.into()),
            Self::News(news) => news.server.or(news_server).map(|server| news.on(server).into()),
            Self::File(_) | Self::Phrase(_) | Self::FollowOnly(..) => None,
        }
    }

    /// Whether a run gets from here to other pages by steps.
    pub fn is_way(self) -> bool {
        matches!(self, Self::Phrase(_) | Self::FollowOnly(..))
    }
}

/// A row of `[[seeds]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedRow {
    url: String,
    #[serde(default)]
    follow_only: bool,
    #[serde(default)]
    depth: Option<u32>,
}

/// Reads seeds: texts, or tables with `url`, `follow_only` and `depth`.
pub(crate) fn read_seeds<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a URL, or a table with url and follow_only")]
    enum WrittenSeed {
        Text(String),
        Table(SeedRow),
    }
    struct Rows;
    impl<'de> Visitor<'de> for Rows {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of seeds")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Vec<String>, A::Error> {
            let mut seeds = Vec::new();
            while let Some(row) = rows.next_element()? {
                seeds.push(match row {
                    WrittenSeed::Text(text) => text,
                    WrittenSeed::Table(SeedRow { url, follow_only: false, depth: None }) => url,
                    WrittenSeed::Table(SeedRow { url, follow_only: true, depth: None }) => {
                        format!("{url} {FOLLOW_ONLY}")
                    }
                    WrittenSeed::Table(SeedRow { url, follow_only: true, depth: Some(depth) }) => {
                        format!("{url} {FOLLOW_ONLY} depth={depth}")
                    }
                    WrittenSeed::Table(_) => {
                        return Err(de::Error::custom(
                            "depth is said of follow_only seeds; elsewhere it is frontier.depth",
                        ));
                    }
                });
            }
            Ok(seeds)
        }
    }
    from.deserialize_seq(Rows)
}

impl Settings {
    /// The same with its phrases and directories written out as steps.
    #[must_use]
    pub fn with_ways(&self) -> Self {
        let mut settings = self.clone();
        for seed in &self.seeds {
            match SeedText::of(seed) {
                SeedText::Phrase(phrase) => {
                    let pages = self.search_engine.answers(phrase);
                    let results = self.search_engine.links();
                    let once = !self.search_engine.refresh;
                    settings.steps.extend(way(&format!("search for {phrase}"), pages, (0, results), once));
                }
                SeedText::FollowOnly(url, depth) => {
                    let links = StepSettings::ELSEWHERE.to_owned();
                    settings.steps.extend(way(
                        &format!("directory {url}"),
                        vec![url.to_owned()],
                        (depth, links),
                        false,
                    ));
                }
                SeedText::Url(_) | SeedText::File(_) | SeedText::News(_) => {}
            }
        }
        settings
    }
}

/// The two steps of a way: through these pages, and to what they link to.
fn way(name: &str, start: Vec<String>, (depth, links): (u32, String), once: bool) -> [StepSettings; 2] {
    let once = once.then_some(true);
    let through = StepSettings {
        name: format!("through: {name}"),
        start,
        collect: Some(false),
        depth: Some(depth),
        once,
        ..StepSettings::default()
    };
    [through, StepSettings { name: name.to_owned(), links: Some(links), once, ..StepSettings::default() }]
}

impl EngineSettings {
    /// Which links of an answer are results, as a step says it. Results may be anywhere.
    fn links(&self) -> String {
        let Some(results) = &self.results else { return StepSettings::ELSEWHERE.to_owned() };
        let said = StepSettings { links: Some(results.clone()), ..StepSettings::default() };
        if said.chooses_by_kind() { results.clone() } else { format!("{}{results}", StepSettings::ANYWHERE) }
    }

    /// The URLs of the pages that answer a phrase.
    pub fn answers(&self, phrase: &str) -> Vec<String> {
        let Some(template) = &self.template else { return Vec::new() };
        let counts = ["{startPage", "{startIndex"].iter().any(|name| template.contains(name));
        let pages = if counts { self.pages.max(1) } else { 1 };
        (1..=pages).map(|page| filled_in(template, phrase, page)).collect()
    }

    /// What is invalid, given the seeds.
    pub(crate) fn examine(settings: &Settings) -> Vec<Wrong> {
        let engine = &settings.search_engine;
        let mut wrongs = Vec::new();
        let phrases =
            settings.seeds.iter().enumerate().filter(|(_, seed)| matches!(SeedText::of(seed), SeedText::Phrase(_)));
        match &engine.template {
            None => {
                let told = "a phrase needs a search engine: --engine, or template in [search_engine]";
                wrongs.extend(phrases.map(|(n, _)| Wrong::new(format!("seeds[{n}]"), told)));
            }
            Some(template) if !template.contains("{searchTerms}") => {
                let told = "a template says where the words go: {searchTerms}";
                wrongs.push(Wrong::new("search_engine.template", told));
            }
            Some(template) => {
                let url = filled_in(template, "x", 1);
                if let Err(why) = Canonicaliser::new(settings.urls).parse_seed(&url) {
                    wrongs.push(Wrong::new("search_engine.template", format!("'{url}' is not a URL: {why}")));
                }
            }
        }
        wrongs
    }
}

/// A template with its parameters filled in; optional ones that are not known stay empty.
fn filled_in(template: &str, phrase: &str, page: u32) -> String {
    let (mut url, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once('{') {
        url.push_str(before);
        let Some((name, behind)) = behind.split_once('}') else {
            rest = behind;
            break;
        };
        match name.trim_end_matches('?') {
            "searchTerms" => {
                let is_query = url.contains('?');
                url.extend(phrase.bytes().map(|byte| escaped(byte, is_query)));
            }
            "startPage" => url.push_str(&page.to_string()),
            "startIndex" => url.push_str(&((page - 1) * RESULTS_A_PAGE + 1).to_string()),
            "count" => url.push_str(&RESULTS_A_PAGE.to_string()),
            "inputEncoding" | "outputEncoding" => url.push_str("UTF-8"),
            "language" => url.push('*'),
            _ => {}
        }
        rest = behind;
    }
    url + rest
}

/// A byte as it is written in a query, or else in a path, where a plus sign is itself.
fn escaped(byte: u8, is_query: bool) -> String {
    match byte {
        b' ' if is_query => "+".to_owned(),
        byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parsed(text: &str) -> Settings {
        Settings::parse(text, Path::new("p.toml")).unwrap()
    }

    #[test]
    fn seeds_are_written_as_texts_or_as_tables() {
        let settings = parsed(
            "seeds = ['http://a.test/', '@list', '?wolf spiders', { url = 'http://d.test/', follow_only = true, depth = 2 }]",
        );
        let kinds: Vec<SeedText<'_>> = settings.seeds.iter().map(|seed| SeedText::of(seed)).collect();
        let wanted = [
            SeedText::Url("http://a.test/"),
            SeedText::File("list"),
            SeedText::Phrase("wolf spiders"),
            SeedText::FollowOnly("http://d.test/", 2),
        ];
        assert_eq!(kinds, wanted);
        let listed = parsed("[[seeds]]\nurl = 'http://d.test/'\nfollow_only = true\n");
        assert_eq!(listed.seeds, ["http://d.test/ follow-only"]);
        assert_eq!(parsed(&listed.to_toml()), listed);
        assert!(Settings::parse("seeds = [{ url = 'http://a/', depth = 1 }]", Path::new("")).is_err());
    }

    #[test]
    fn a_template_is_filled_in_as_opensearch_says() {
        let engine = |template: &str| EngineSettings {
            template: Some(template.to_owned()),
            pages: 2,
            ..EngineSettings::default()
        };
        let asked = engine("http://s.test/?q={searchTerms}&p={startPage?}&x={safe?}").answers("wolf spiders & käfer");
        let words = "q=wolf+spiders+%26+k%C3%A4fer";
        assert_eq!(asked, [format!("http://s.test/?{words}&p=1&x="), format!("http://s.test/?{words}&p=2&x=")]);
        assert_eq!(engine("http://s.test/{searchTerms}").answers("a/b"), ["http://s.test/a%2Fb"]);
        let in_path = engine("http://s.test/s/{searchTerms}?again={searchTerms}").answers("a b");
        assert_eq!(in_path, ["http://s.test/s/a%20b?again=a+b"]);
        assert_eq!(engine("http://s.test/?q={searchTerms}&i={startIndex}").answers("a")[1], "http://s.test/?q=a&i=11");
    }

    #[test]
    fn a_phrase_needs_an_engine_and_an_engine_a_place_for_it() {
        let told = |text: &str| parsed(text).examine().map_err(|wrong| wrong.to_string());
        assert!(told("seeds = ['?a']").unwrap_err().starts_with("seeds[0]: a phrase needs"));
        assert!(told("search_engine.template = 'http://s.test/'").unwrap_err().contains("{searchTerms}"));
        assert!(told("search_engine.template = 'nowhere {searchTerms}'").unwrap_err().contains("is not a URL"));
        assert_eq!(told("seeds = ['?a']\nsearch_engine.template = 'http://s.test/?q={searchTerms}'"), Ok(()));
    }

    #[test]
    fn a_way_is_two_steps() {
        let settings = parsed(
            "seeds = ['?a b', 'http://d.test/ follow-only']\nsearch_engine.template = 'http://s.test/?q={searchTerms}'",
        )
        .with_ways();
        let steps: Vec<(&str, bool)> =
            settings.steps.iter().map(|step| (step.name.as_str(), step.collects())).collect();
        let wanted = [
            ("through: search for a b", false),
            ("search for a b", true),
            ("through: directory http://d.test/", false),
            ("directory http://d.test/", true),
        ];
        assert_eq!(steps, wanted);
        assert_eq!(settings.examine(), Ok(()));
    }
}
