//! What would a rule for comparing say about the versions of a page that are there?
//!
//! Asked before a rule is saved, so the settings are the asker's. The verdict is that of a tracking
//! run that could ask for no second response; the lines are what is left to compare under the rule.
//! No program is run, whatever the rule says: it may not be the asker's.

use crate::content::{decoded, viewed};
use crate::diff::{chosen, whole};
use crate::{AnswerError, Collection, DiffBy, DiffSide, DiffWish, Result};
use orb_page::{HostId, PageId};
use orb_project::Settings;
use orb_store::StoredExchange;
use orb_track::compare::{CompareJudgement, Comparison};
use orb_track::diff::{Counts, Diff, DiffLine};
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
