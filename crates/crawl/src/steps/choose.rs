//! Which links of a page does a step take, and is the page the expected one?

use super::walker::Passed;
use orb_extract::Picker;
use orb_page::LinkKind;
use orb_project::{StepSettings, matching};
use orb_urls::{Address, Canonicaliser, Scope};
use serde_json::Value;

/// A page from which links are chosen.
pub(super) struct LinkSource<'a> {
    pub(super) base: &'a Address,
    pub(super) html: &'a str,
    pub(super) links: &'a [orb_page::Link],
}

impl<'a> From<&'a Passed> for LinkSource<'a> {
    fn from(passed: &'a Passed) -> Self {
        Self { base: &passed.base, html: &passed.html, links: &passed.document.links }
    }
}

/// How links are chosen.
pub(super) struct LinkChoice {
    way: ChoiceWay,
    matching: Option<Scope>,
}

/// By what links are chosen.
enum ChoiceWay {
    /// All links that people follow.
    Followed,
    /// A CSS selector.
    Selector(Picker),
    /// The entries of a feed.
    Feed,
    /// Places in JSON: the names on the way, `*` for every entry.
    Json(Vec<String>),
    /// Links to other hosts, in whatever the page is written in.
    Elsewhere,
}

impl ChoiceWay {
    fn of(step: &StepSettings) -> Result<Self, String> {
        if let Some(selector) = step.link_selector() {
            return Ok(Self::Selector(Picker::new(selector)?));
        }
        Ok(match step.links.as_deref() {
            None => Self::Followed,
            Some(StepSettings::FEED) => Self::Feed,
            Some(links) => match links.strip_prefix(StepSettings::JSON) {
                Some(pointer) => Self::Json(pointer.split('/').skip(1).map(str::to_owned).collect()),
                None => Self::Elsewhere,
            },
        })
    }

    /// What a page's links are to this choice, as written.
    fn targets(&self, page: &LinkSource<'_>) -> Result<Vec<String>, String> {
        use LinkKind::{A, Area, Document, Entry, Feed, Frame};
        let of = |kinds: &[LinkKind]| {
            let links = page.links.iter().filter(|link| kinds.contains(&link.kind));
            links.map(|link| link.target.clone()).collect::<Vec<_>>()
        };
        Ok(match self {
            Self::Followed => of(&[A, Area, Frame, Entry, Document]),
            Self::Selector(picker) => picker.pick(page.html).map_err(|why| format!("{}: {why}", page.base))?.targets,
            Self::Feed => of(&[Feed]),
            Self::Json(names) => {
                let json = serde_json::from_str(page.html).map_err(|e| format!("{} is no JSON: {e}", page.base))?;
                let mut found = Vec::new();
                addressed(&json, names, &mut found);
                found
            }
            Self::Elsewhere => match serde_json::from_str::<Value>(page.html) {
                Ok(json @ (Value::Object(_) | Value::Array(_))) => {
                    let mut found = Vec::new();
                    every_address(&json, &mut found);
                    found
                }
                _ if page.links.iter().any(|link| link.kind == Feed) => of(&[Feed]),
                _ => of(&[A, Area]),
            },
        })
    }
}

/// The texts at a place in JSON.
fn addressed(json: &Value, names: &[String], found: &mut Vec<String>) {
    match (names.split_first(), json) {
        (None, Value::String(text)) => found.push(text.clone()),
        (Some((name, rest)), Value::Array(entries)) if name == "*" => {
            entries.iter().for_each(|entry| addressed(entry, rest, found));
        }
        (Some((name, rest)), Value::Object(fields)) if name == "*" => {
            fields.values().for_each(|field| addressed(field, rest, found));
        }
        (Some((name, rest)), Value::Object(fields)) => {
            fields.get(name).into_iter().for_each(|field| addressed(field, rest, found));
        }
        (Some((name, rest)), Value::Array(entries)) => {
            let entry = name.parse().ok().and_then(|n: usize| entries.get(n));
            entry.into_iter().for_each(|entry| addressed(entry, rest, found));
        }
        _ => {}
    }
}

/// All texts in JSON that are addresses of web pages.
fn every_address(json: &Value, found: &mut Vec<String>) {
    match json {
        Value::String(text) if text.starts_with("http://") || text.starts_with("https://") => found.push(text.clone()),
        Value::Array(entries) => entries.iter().for_each(|entry| every_address(entry, found)),
        Value::Object(fields) => fields.values().for_each(|field| every_address(field, found)),
        _ => {}
    }
}

impl LinkChoice {
    /// The choice of a step; invalid selectors were rejected before.
    pub(super) fn of(step: &StepSettings) -> Result<Self, String> {
        let way = ChoiceWay::of(step)?;
        let matching = step.links_matching.as_deref().map(matching).transpose().map_err(|e| e.to_string())?;
        Ok(Self { way, matching })
    }

    /// The links it takes from a page, in document order.
    pub(super) fn links(&self, canonical: &Canonicaliser, page: &LinkSource<'_>) -> Result<Vec<Address>, String> {
        let targets = self.way.targets(page)?;
        let addresses = targets.iter().filter_map(|target| canonical.resolve(page.base, target).ok());
        let elsewhere = matches!(self.way, ChoiceWay::Elsewhere);
        let fits = |address: &Address| {
            self.matching.as_ref().is_none_or(|m| m.judge(address, None).is_in())
                && !(elsewhere && address.host() == page.base.host())
        };
        Ok(addresses.filter(fits).collect())
    }
}

/// What is wrong with a page that a step did not expect: the offending key, and why.
pub(super) fn unexpected(step: &StepSettings, passed: &Passed) -> Option<(&'static str, String)> {
    let at = format!("{} (status {})", passed.address, passed.status);
    let says = |words: &str| {
        let text = &passed.document.text;
        let title = passed.document.title.as_deref().unwrap_or_default();
        text.contains(words) || title.contains(words)
    };
    if let Some(words) = step.expect.as_deref().filter(|words| !says(words)) {
        return Some(("expect", format!("'{words}' is not on {at}")));
    }
    if let Some(words) = step.expect_not.as_deref().filter(|words| says(words)) {
        return Some(("expect_not", format!("'{words}' stands on {at}")));
    }
    let picks = |selector: &str| Picker::new(selector)?.pick(&passed.html).map(|p| p.elements).map_err(str::to_owned);
    for (key, selector, wanted) in [
        ("expect_selector", step.expect_selector.as_deref(), true),
        ("expect_not_selector", step.expect_not_selector.as_deref(), false),
    ] {
        let Some(selector) = selector else { continue };
        match picks(selector) {
            Err(why) => return Some((key, format!("{at}: {why}"))),
            Ok(found) if (found > 0) != wanted => {
                let how = if wanted { "matches nothing" } else { "matches" };
                return Some((key, format!("'{selector}' {how} on {at}")));
            }
            Ok(_) => {}
        }
    }
    (passed.status >= 400 && !step.expects()).then(|| ("name", format!("{at} answers with an error")))
}
