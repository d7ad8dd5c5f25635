//! Where in a project file does it say so?
//!
//! The parser knows where it failed. A semantic error is reported with the path of its key, such as
//! `scope.rules[2].deny`, and its position is found by parsing the text again with spans. So the
//! settings themselves need not remember positions.

use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A position in a text: line and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl TextPosition {
    /// The position of a byte offset.
    pub(crate) fn of(text: &str, at: usize) -> Self {
        let before = &text.as_bytes()[..at.min(text.len())];
        let begin = before.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
        // Count characters by their first byte.
        let column = before[begin..].iter().filter(|b| **b & 0xc0 != 0x80).count() + 1;
        Self { line: before.iter().filter(|b| **b == b'\n').count() + 1, column }
    }

    /// The position of a key's value, or of the enclosing table if the key is not written.
    pub(crate) fn of_key(text: &str, key: &str) -> Self {
        let Ok(table) = DeTable::parse(text) else { return Self { line: 1, column: 1 } };
        let mut at = 0..0;
        let mut steps = key.split('.').flat_map(steps);
        if let Some(KeyStep::Key(first)) = steps.next()
            && let Some((span, mut value)) = entry(table.get_ref(), first)
        {
            at = span;
            for step in steps {
                let next = match (step, value) {
                    (KeyStep::Key(name), DeValue::Table(table)) => entry(table, name),
                    (KeyStep::Row(row), DeValue::Array(rows)) => rows.get(row).map(|v| (v.span(), v.get_ref())),
                    _ => None,
                };
                let Some((span, inner)) = next else { break };
                (at, value) = (span, inner);
            }
        }
        Self::of(text, at.start)
    }
}

/// A step of a key path.
enum KeyStep<'a> {
    Key(&'a str),
    Row(usize),
}

/// `rules[2]` as its steps.
fn steps(part: &str) -> impl Iterator<Item = KeyStep<'_>> {
    let (name, rows) = part.split_at(part.find('[').unwrap_or(part.len()));
    let rows = rows.split(['[', ']']).filter_map(|row| row.parse().ok()).map(KeyStep::Row);
    std::iter::once(KeyStep::Key(name)).chain(rows)
}

/// A key of a table: where to point, and its value. For a table with a header, the header is
/// pointed to.
fn entry<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<(Range<usize>, &'t DeValue<'i>)> {
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == name)?;
    let span = if value.get_ref().is_table() { key.span() } else { value.span() };
    Some((span, value.get_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_its_path_and_its_enclosing_table_where_it_is_not_written() {
        let text = "seeds = ['a']\nfrontier.depth = 3\n[scope]\nmode = 'any'\nrules = [\n  { allow = 'ä' }, { deny = '(' },\n]\n\n\
                    [[outputs.webhook]]\nurl = 'x'\n[[outputs.webhook]]\nurl = 'y'\n";
        for (key, line, column) in [
            ("seeds[0]", 1, 10),
            ("seeds[9]", 1, 9),
            ("frontier.depth", 2, 18),
            ("scope.mode", 4, 8),
            ("scope.rules[1].deny", 6, 29),
            ("scope.default", 3, 2),
            ("outputs.webhook[1].url", 12, 7),
            ("outputs.webhook[1].secret", 11, 1),
            ("nothing.here", 1, 1),
        ] {
            assert_eq!(TextPosition::of_key(text, key), TextPosition { line, column }, "{key}");
        }
        assert_eq!(TextPosition::of_key("not toml [", "a"), TextPosition { line: 1, column: 1 });
        assert_eq!(TextPosition::of("äb\n", 99), TextPosition { line: 2, column: 1 });
    }
}
