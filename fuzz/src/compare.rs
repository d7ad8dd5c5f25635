//! Can any three responses be compared?
//!
//! Old version, new version, second response and a CSS selector, separated by a control character.
//! A page equals itself under every rule, a second response is always enough, blocks are never
//! empty, what was learnt survives serialisation, and both sides of a diff reproduce the texts it
//! was made from.

use crate::options;
use orb_answers::{HelperLimits, PageViews};
use orb_extract::Content;
use orb_track::compare::{AroundRule, CompareBy, CompareJudgement, CompareRule, ComparedPart, Comparison, Views as _};
use orb_track::diff::html::table;
use orb_track::diff::unified::unified;
use orb_track::diff::{Diff, DiffLine};
use orb_track::noise::Noise;

/// Three responses and a selector.
pub fn compare(bytes: &[u8]) {
    let (first, text) = options(bytes);
    let mut parts = text.split('\u{1}').map(str::to_owned);
    let [old, new, again, selector] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let selector = if orb_extract::check_selector(&selector).is_ok() { selector } else { "p".to_owned() };
    let mime = if first & 1 == 0 { "text/html" } else { "text/plain" };
    let view = |text| {
        let bytes = str::as_bytes(text);
        let content = Content { bytes, mime: Some(mime), charset: Some("utf-8"), url: "http://h/" };
        PageViews::new(content, HelperLimits::default())
    };
    let rules = [
        CompareRule::default(),
        CompareRule { by: Some(CompareBy::Main), ..CompareRule::default() },
        CompareRule {
            by: Some(CompareBy::Selector),
            include: vec![selector.clone()],
            exclude: vec!["b".to_owned()],
            ..CompareRule::default()
        },
        CompareRule { ignore: vec![r"\d+".to_owned()], similarity: Some(2), ..CompareRule::default() },
    ];
    let rule = rules[usize::from(first >> 1) % rules.len()].clone();
    let main = rule.by == Some(CompareBy::Main);
    let comparison = Comparison::new(&[rule], AroundRule::Ignore).expect("a rule that makes sense");
    let noise = Noise::new();
    let (a, b, c) = (view(&old), view(&new), view(&again));
    assert_eq!(comparison.judge("http://h/", &a, &a, None, &noise), CompareJudgement::Same);
    let _ = comparison.judge("http://h/", &a, &b, None, &noise);
    for _ in 0..4 {
        let said = comparison.judge("http://h/", &a, &b, Some(&c), &noise);
        assert_ne!(said, CompareJudgement::AskAgain);
    }
    assert_eq!(Noise::from_text(&noise.to_text()).to_text(), noise.to_text());
    let blocks = |page: &PageViews<'_>| page.passage(&ComparedPart { main, ..ComparedPart::default() }).blocks;
    let (a, b) = (blocks(&a), blocks(&b));
    assert!(a.iter().chain(&b).all(|block| !block.text.is_empty()));
    difference(
        &a.iter().map(|l| l.text.as_str()).collect::<Vec<_>>(),
        &b.iter().map(|l| l.text.as_str()).collect::<Vec<_>>(),
    );
}

fn difference(old: &[&str], new: &[&str]) {
    let diff = Diff::of(old, new);
    let left = diff.rows.iter().filter(|row| !matches!(row, DiffLine::Added { .. })).count();
    let right = diff.rows.iter().filter(|row| !matches!(row, DiffLine::Removed { .. })).count();
    assert_eq!((left, right), (old.len(), new.len()));
    assert_eq!(unified(&diff, 3).is_empty(), old == new);
    assert!(!table(&diff, 3).contains("<script"));
}
