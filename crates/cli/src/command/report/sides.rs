//! What did an updated document say before, and what does it say now, side by side?
//!
//! The visible text of both versions, out of the archive, line by line with the words that differ marked. Bounded: what is long is cut, and a
//! comparison that takes too long is made coarser.

use orb_crawl::content::{decoded, text};
use orb_page::WarcPosition;
use orb_store::{ArchiveReader, ToldRow};
use serde::Serialize;
use serde_json::{Value, json};
use similar::{ChangeTag, DiffOp, TextDiff};
use std::time::{Duration, Instant};

/// Lines around a difference.
const AROUND: usize = 3;
/// Lines shown of one document.
const LINES: usize = 400;
/// Characters shown of one line.
const WIDTH: usize = 2_000;
/// Bytes of text that are compared.
const LONGEST: usize = 1 << 20;
/// How long one comparison may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// Two versions of a document.
#[derive(Serialize)]
pub(super) struct Versions {
    /// Number and text before, number and text after; numbers and texts that are not there are null, and where both numbers are, something
    /// was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<[Value; 4]>>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Versions {
    /// The versions that a change is about.
    pub(super) fn of(archive: &ArchiveReader, row: &ToldRow) -> Self {
        let note = |note: &str| Self { lines: None, note: Some(note.to_owned()) };
        let (Some(before), Some(after)) =
            (said(archive, row, row.warc_before.as_ref()), said(archive, row, row.warc.as_ref()))
        else {
            return note("its versions are not in the archive");
        };
        match (before.is_empty() && after.is_empty(), before == after) {
            (true, _) => note("there is no text to compare"),
            (_, true) => note("the text is the same"),
            _ => Self { lines: Some(lines(&before, &after)), note: None },
        }
    }
}

fn said(archive: &ArchiveReader, row: &ToldRow, place: Option<&WarcPosition>) -> Option<String> {
    let stored = archive.exchange(place?).ok()?;
    let mut words = text(&row.url, &stored, &decoded(&stored).ok()?);
    if words.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| words.is_char_boundary(*at)).unwrap_or(0);
        words.truncate(end);
    }
    Some(words)
}

fn lines(before: &str, after: &str) -> Vec<[Value; 4]> {
    let deadline = Instant::now() + PATIENCE;
    let diff = TextDiff::configure().deadline(deadline).diff_lines(before, after);
    let mut rows = Vec::new();
    for (n, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if n > 0 {
            rows.push([Value::Null, Value::Null, Value::Null, json!("⋯")]);
        }
        for op in group {
            rows.extend(op_rows(&diff, op, deadline));
            if rows.len() > LINES {
                rows.truncate(LINES);
                rows.push([
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    json!("⋯ the rest is left out here; orb diff shows it"),
                ]);
                return rows;
            }
        }
    }
    rows
}

/// The lines of one piece: what was taken away stands beside what took its place.
fn op_rows(diff: &TextDiff<'_, '_, str>, op: &DiffOp, deadline: Instant) -> Vec<[Value; 4]> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for change in diff.iter_inline_changes_deadline(op, Some(deadline)) {
        let shown = marked(change.values());
        match change.tag() {
            ChangeTag::Equal => {
                left.push((change.old_index(), shown.clone()));
                right.push((change.new_index(), shown));
            }
            ChangeTag::Delete => left.push((change.old_index(), shown)),
            ChangeTag::Insert => right.push((change.new_index(), shown)),
        }
    }
    let height = left.len().max(right.len());
    let side = |side: &[(Option<usize>, Value)], n: usize| match side.get(n) {
        Some((number, text)) => [json!(number.map(|n| n + 1)), text.clone()],
        None => [Value::Null, Value::Null],
    };
    (0..height)
        .map(|n| {
            let [[a, b], [c, d]] = [side(&left, n), side(&right, n)];
            [a, b, c, d]
        })
        .collect()
}

/// A line as text, or as parts every second of which is different.
fn marked(values: &[(bool, &str)]) -> Value {
    let mut parts = vec![String::new()];
    for (emphasised, text) in values {
        if *emphasised != (parts.len() % 2 == 0) {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut() {
            last.push_str(text.trim_end_matches(['\n', '\r']));
        }
    }
    let shown = parts.iter().map(|part| out_of(part)).collect::<Vec<_>>();
    if shown.len() == 1 { json!(shown[0]) } else { json!(shown) }
}

fn out_of(part: &str) -> String {
    crate::out::clip(part, WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_stands_side_by_side_with_its_words_marked() {
        let rows = lines("one\ntwo old words\nthree\n", "one\ntwo new words\nthree\nfour\n");
        let text = serde_json::to_string(&rows).unwrap();
        assert_eq!(
            text,
            r#"[[1,"one",1,"one"],[2,["two ","old"," words"],2,["two ","new"," words"]],[3,"three",3,"three"],[null,null,4,"four"]]"#
        );
    }

    #[test]
    fn a_comparison_is_bounded() {
        let long = |word: &str| (0..5_000).map(|n| format!("{word} {n}\n")).collect::<String>();
        let rows = lines(&long("a"), &long("b"));
        assert_eq!(rows.len(), LINES + 1);
        assert!(rows[LINES][3].as_str().unwrap().contains("orb diff"));
    }
}
