//! What did an updated document say before, and what does it say now, side by side?
//!
//! The visible text of both versions from the archive, line by line with the differing words
//! marked. Long texts are cut.

use crate::clip;
use crate::content::{decoded, text};
use orb_aside::HelperLimits;
use orb_page::WarcPosition;
use orb_store::{ArchiveReader, ReportRow};
use orb_track::diff::{Diff, DiffLine, Piece};
use schemars::JsonSchema;
use serde::Serialize;

/// Context lines around a difference.
const AROUND: usize = 3;
/// Maximum lines shown of one document.
const LINES: usize = 400;
/// Maximum characters shown of one line.
const WIDTH: usize = 2_000;
/// Maximum bytes of text that are compared.
const LONGEST: usize = 1 << 18;

/// Two versions of a document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedVersions {
    /// Number and text before, number and text after; absent numbers and texts are null, and if
    /// both numbers are, something was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<LinePair>>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Number and text before, number and text after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
struct LinePair(Option<usize>, Option<SideText>, Option<usize>, Option<SideText>);

/// The text of a line.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
enum SideText {
    /// All of it.
    Whole(String),
    /// Its parts, every second of which differs.
    Parts(Vec<String>),
}

impl ChangedVersions {
    /// The versions that a change is about.
    pub(crate) fn of(archive: &ArchiveReader, row: &ReportRow, limits: HelperLimits) -> Self {
        let note = |note: &str| Self { lines: None, note: Some(note.to_owned()) };
        let (Some(before), Some(after)) =
            (said(archive, row, row.warc_before.as_ref(), limits), said(archive, row, row.warc.as_ref(), limits))
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

fn said(
    archive: &ArchiveReader,
    row: &ReportRow,
    place: Option<&WarcPosition>,
    limits: HelperLimits,
) -> Option<String> {
    let stored = archive.exchange(place?).ok()?;
    let mut words = text(&row.url, &stored, &decoded(&stored).ok()?, limits);
    if words.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| words.is_char_boundary(*at)).unwrap_or(0);
        words.truncate(end);
    }
    Some(words)
}

fn lines(before: &str, after: &str) -> Vec<LinePair> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let diff = Diff::of(&old, &new);
    let gap = |words: &str| LinePair(None, None, None, Some(SideText::Whole(words.to_owned())));
    let mut rows = Vec::new();
    for (n, group) in diff.groups(AROUND).into_iter().enumerate() {
        rows.extend((n > 0).then(|| gap("⋯")));
        rows.extend(group.iter().map(line));
        if rows.len() > LINES {
            rows.truncate(LINES);
            rows.push(gap("⋯ the rest is left out here; orb diff shows it"));
            break;
        }
    }
    rows
}

fn line(row: &DiffLine<'_>) -> LinePair {
    let whole = |text: &str| Some(SideText::Whole(clip(text, WIDTH)));
    match row {
        DiffLine::Same { old_line, new_line, text } => {
            LinePair(Some(*old_line), whole(text), Some(*new_line), whole(text))
        }
        DiffLine::Changed { old_line, new_line, old, new } => {
            LinePair(Some(*old_line), Some(parts(old)), Some(*new_line), Some(parts(new)))
        }
        DiffLine::Removed { old_line, text } => LinePair(Some(*old_line), whole(text), None, None),
        DiffLine::Added { new_line, text } => LinePair(None, None, Some(*new_line), whole(text)),
    }
}

fn parts(pieces: &[Piece<'_>]) -> SideText {
    let mut parts = vec![String::new()];
    for piece in pieces {
        if piece.marked != parts.len().is_multiple_of(2) {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut() {
            last.push_str(piece.text);
        }
    }
    SideText::Parts(parts.iter().map(|part| clip(part, WIDTH)).collect())
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
        let rest = rows[LINES].3.clone();
        assert!(matches!(rest, Some(SideText::Whole(words)) if words.contains("orb diff")));
    }
}
