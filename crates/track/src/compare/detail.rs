//! What changed, in one line?

use crate::noise::{Difference, words};

/// Words of context on each side of a change.
const AROUND: usize = 3;
/// Maximum characters shown of each side.
const MOST: usize = 70;

/// The first change in words, and the number of others.
pub(crate) fn line(findings: &[Difference<'_>], note: Option<&str>) -> String {
    let count = |what: fn(&Difference<'_>) -> bool| findings.iter().filter(|f| what(f)).count();
    let changed = count(|f| f.old.is_some() && f.new.is_some());
    let added = count(|f| f.old.is_none());
    let removed = count(|f| f.new.is_none());
    let parts = [(changed, "changed"), (added, "added"), (removed, "removed")];
    let parts: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let mut out = parts.join(", ");
    if let Some(first) = findings.iter().find(|f| f.old.is_some() && f.new.is_some()).or(findings.first()) {
        out += &format!("; {}: {}", first.place, shown(first));
    }
    if let Some(note) = note {
        out += &format!(" ({note})");
    }
    out
}

fn shown(finding: &Difference<'_>) -> String {
    match (finding.old, finding.new) {
        (Some(old), Some(new)) => {
            let (old, new) = apart(old, new);
            format!("\"{}\" became \"{}\"", clipped(old), clipped(new))
        }
        (Some(old), None) => format!("\"{}\" is gone", clipped(old)),
        (None, Some(new)) => format!("\"{}\" is new", clipped(new)),
        (None, None) => String::new(),
    }
}

/// Two texts, trimmed to their difference and a few words of context.
fn apart<'a>(old: &'a str, new: &'a str) -> (&'a str, &'a str) {
    let (a, b) = (words(old), words(new));
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - same;
    let behind = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(x, y)| x == y).count();
    let slice = |text: &'a str, words: &[crate::noise::ClassedWord<'a>]| {
        let first = words.get(same.saturating_sub(AROUND));
        let last = words.get((words.len() - behind + AROUND).min(words.len()).saturating_sub(1));
        let at = |word: &crate::noise::ClassedWord<'a>| word.text.as_ptr() as usize - text.as_ptr() as usize;
        match (first, last) {
            (Some(first), Some(last)) if at(first) <= at(last) => &text[at(first)..at(last) + last.text.len()],
            _ => text,
        }
    };
    (slice(old, &a), slice(new, &b))
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_a_few_words_around_it() {
        let old = "It is said that the best of them costs 20 EUR in the old town and elsewhere.";
        let new = "It is said that the best of them costs 25 EUR in the old town and elsewhere.";
        let changed = Difference { place: "div#main p", old: Some(old), new: Some(new) };
        let gone = Difference { place: "p", old: Some("x"), new: None };
        assert_eq!(
            line(&[gone, changed], None),
            "1 changed, 1 removed; div#main p: \"of them costs 20 EUR in the\" became \"of them costs 25 EUR in the\""
        );
        let new = Difference { place: "p", old: None, new: Some("") };
        assert_eq!(line(&[new], Some("too deep")), "1 added; p: \"\" is new (too deep)");
    }
}
