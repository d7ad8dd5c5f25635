//! What would a rule for comparing say about the versions of a page that are there?
//!
//! Asked before a rule is saved, so the settings are the asker's. The verdict is that of a tracking
//! run that could ask for no second response; the lines are what is left to compare under the rule.
//! No program is run, whatever the rule says: it may not be the asker's.

use crate::content::{content, decoded, source, viewed};
use crate::diff::{chosen, whole};
use crate::{AnswerError, Collection, DiffBy, DiffSide, DiffWish, Result};
use orb_extract::{PagePart, parts};
use orb_page::{HostId, PageId};
use orb_project::Settings;
use orb_store::StoredExchange;
use orb_track::compare::{CompareJudgement, Comparison};
use orb_track::diff::{Counts, Diff, DiffLine, Piece};
use orb_track::noise::Noise;
use schemars::JsonSchema;
use serde::Serialize;

/// Two versions of a page under a rule.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparedVersions<'a> {
    /// The page.
    pub url: &'a str,
    /// The number of the rule that applies, from 1; `None` if none does.
    pub rule: Option<usize>,
    /// Whether the rule leaves the decision to a program, which was not asked.
    pub has_program: bool,
    /// `same`, `changed`, `around` (only around the main content) or `failed`.
    pub verdict: &'static str,
    /// What changed, or what went wrong, in one line.
    pub detail: Option<String>,
    /// The old version.
    pub from: DiffSide,
    /// The new version.
    pub to: DiffSide,
    /// How many of the compared lines differ.
    #[schemars(with = "serde_json::Value")]
    pub counts: Counts,
    /// The lines that differ, and some around them.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub rows: Vec<DiffLine<'a>>,
}

/// The last two versions of a page that differ, compared under the rules of these settings.
pub fn compare_versions<T>(
    collection: &Collection,
    settings: &Settings,
    (url, context): (&str, usize),
    read: impl FnOnce(&ComparedVersions<'_>) -> T,
) -> Result<T> {
    let mut track = settings.track.clone();
    let has_program: Vec<bool> = track.compare.iter().map(|rule| !rule.program.is_empty()).collect();
    track.compare.iter_mut().for_each(|rule| rule.program.clear());
    let comparison = track.comparison().map_err(|wrong| AnswerError::Refused(wrong.to_string()))?;
    let page = collection.page(url)?;
    let visits = collection.catalogue().visits(PageId(page.id))?;
    let wish = DiffWish { url, from: None, to: None, by: DiffBy::Text, context };
    let (old, new) = chosen(collection, wish, &page.url, &visits)?;
    let [before, now] = [old, new].map(|visit| whole(collection.archive(), &visits, visit, &page.url));
    let noise = collection.catalogue().noise(HostId(page.host_id))?.map(|text| Noise::from_text(&text));
    let judged = judged(&comparison, &page.url, (&before?, &now?), &noise.unwrap_or_default())?;
    let (verdict, detail) = in_words(judged.judgement);
    let [before, now] = judged.lines;
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let now: Vec<&str> = now.iter().map(String::as_str).collect();
    let lines = Diff::of(&before, &now);
    let rule = comparison.rule_for(&page.url);
    Ok(read(&ComparedVersions {
        url: &page.url,
        rule,
        has_program: rule.and_then(|rule| has_program.get(rule - 1)).is_some_and(|has| *has),
        verdict,
        detail,
        from: old.into(),
        to: new.into(),
        counts: lines.counts(),
        rows: lines.groups(context).concat(),
    }))
}

/// A part of a page that a rule may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChoosablePart {
    /// The CSS selector that matches it.
    pub selector: String,
    /// How many elements it matches.
    pub elements: usize,
    /// How the first of them begins.
    pub text: String,
}

/// The parts of the latest version of a page; none of one that is not HTML.
pub fn choosable_parts(collection: &Collection, url: &str) -> Result<Vec<ChoosablePart>> {
    let version = content(collection, url, None)?;
    let stored = version.exchange()?;
    let html = source(&version.url, &stored, &decoded(&stored)?);
    // What is too large or too deep for selectors is compared whole.
    let parts =
        if version.mime.as_deref().is_none_or(|mime| mime.contains("html")) { parts(&html) } else { Ok(vec![]) };
    let part = |PagePart { selector, elements, text }| ChoosablePart { selector, elements, text };
    Ok(parts.unwrap_or_default().into_iter().map(part).collect())
}

/// A regular expression that matches this URL and no other.
pub fn only(url: &str) -> String {
    format!("^{}$", regex::escape(url))
}

/// The longest line that is ignored as a whole; of a longer one, its beginning.
const LONGEST: usize = 120;

/// A regular expression for `ignore` that matches a line that differs, as it is now and as it may
/// be next time: where its versions differ anything may stand, and for a number any other. `None`
/// for a line that is the same in both.
pub fn ignoring(line: &DiffLine<'_>) -> Option<String> {
    let pattern = match line {
        DiffLine::Same { .. } => return None,
        DiffLine::Removed { text, .. } | DiffLine::Added { text, .. } => literally(text),
        DiffLine::Changed { old, new, .. } => {
            let is_told_apart = new.iter().any(|piece| !piece.marked && piece.text.chars().any(char::is_alphanumeric));
            if is_told_apart && new.iter().map(|piece| piece.text.len()).sum::<usize>() <= LONGEST {
                let part = |piece: &Piece<'_>| if piece.marked { ".*".to_owned() } else { regex::escape(piece.text) };
                format!("{}$", new.iter().map(part).collect::<String>())
            } else {
                let whole =
                    |pieces: &[Piece<'_>]| literally(&pieces.iter().map(|piece| piece.text).collect::<String>());
                format!("(?:{}|{})", whole(old), whole(new))
            }
        }
    };
    Some(format!("^{pattern}"))
}

/// A text with any numbers, to its end unless it is long.
fn literally(text: &str) -> String {
    let end = text.char_indices().map(|(at, _)| at).chain([text.len()]).take_while(|at| *at <= LONGEST).last();
    let (text, is_whole) = (&text[..end.unwrap_or(0)], end == Some(text.len()));
    let mut out = String::new();
    for part in text.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
        out.push_str(if digits.is_empty() { "" } else { r"\d+" });
        out.push_str(&regex::escape(&part[digits.len()..]));
    }
    out + if is_whole { "$" } else { ".*" }
}

/// What a comparison says, and what it has compared.
struct JudgedVersions {
    judgement: CompareJudgement,
    lines: [Vec<String>; 2],
}

fn judged(
    comparison: &Comparison,
    url: &str,
    (before, now): (&StoredExchange, &StoredExchange),
    noise: &Noise,
) -> Result<JudgedVersions> {
    let (old_bytes, new_bytes) = (decoded(before)?, decoded(now)?);
    Ok(viewed(url, before, &old_bytes, |old| {
        viewed(url, now, &new_bytes, |new| {
            let judgement = match comparison.judge(url, old, new, None, noise) {
                // Nothing more will be known: any difference is a change.
                CompareJudgement::AskAgain => comparison.judge(url, old, new, Some(new), noise),
                judgement => judgement,
            };
            JudgedVersions { judgement, lines: [comparison.compared(url, old), comparison.compared(url, new)] }
        })
    }))
}

fn in_words(judgement: CompareJudgement) -> (&'static str, Option<String>) {
    match judgement {
        CompareJudgement::Same => ("same", None),
        CompareJudgement::Changed { detail } => ("changed", Some(detail)),
        CompareJudgement::Around { detail } => ("around", Some(detail)),
        CompareJudgement::Failed(why) => ("failed", Some(why)),
        CompareJudgement::AskAgain => ("changed", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_the_line_and_what_it_may_become() {
        let matches = |pattern: &str, text: &str| regex::Regex::new(pattern).unwrap().is_match(text);
        let changed = Diff::of(&["Seen 17 times (a.b)"], &["Seen 18 times (a.b)"]);
        let lines = changed.groups(0).concat();
        let pattern = ignoring(&lines[0]).unwrap();
        assert!(matches(&pattern, "Seen 17 times (a.b)") && matches(&pattern, "Seen 999 times (a.b)"), "{pattern}");
        assert!(!matches(&pattern, "Seen 17 times (aXb)") && !matches(&pattern, "x Seen 17 times (a.b)"), "{pattern}");
        let added = Diff::of(&[], &["Today: 12 new offers"]);
        let pattern = ignoring(&added.groups(0).concat()[0]).unwrap();
        assert!(matches(&pattern, "Today: 3 new offers") && !matches(&pattern, "Today: no new offers"), "{pattern}");
        let other = Diff::of(&["one"], &["two"]);
        for line in other.groups(0).concat() {
            let pattern = ignoring(&line).unwrap();
            assert!(!matches(&pattern, "three") && !matches(&pattern, ""), "{pattern}");
        }
        let long = format!("{}é", "é".repeat(500));
        let pattern = ignoring(&Diff::of(&[], &[long.as_str()]).groups(0).concat()[0]).unwrap();
        assert!(matches(&pattern, &long) && pattern.len() < 300, "{pattern}");
    }
}
