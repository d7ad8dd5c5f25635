//! How does a diff read in HTML, side by side?
//!
//! A table of four columns: line number and line of the old text, line number and line of the new
//! one. Changes within a line are marked with `<del>` and `<ins>`, so that they do not depend on
//! colour. Everything that came from a page is escaped.

use super::{Diff, DiffLine, Piece};
use orb_page::escape_markup;

/// The style sheet of the table.
pub const STYLE: &str = "table.diff{border-collapse:collapse;width:100%;table-layout:fixed;font:14px/1.4 sans-serif}\
table.diff td{padding:1px 6px;vertical-align:top;overflow-wrap:anywhere;white-space:pre-wrap}\
table.diff td.n{width:3.5em;text-align:right;color:#666;font-size:12px;user-select:none}\
table.diff tr.removed td.o,table.diff tr.changed td.o{background:#fde8e8}\
table.diff tr.added td.w,table.diff tr.changed td.w{background:#e6f6e6}\
table.diff del{background:#f5b5b5;text-decoration:line-through}table.diff ins{background:#a8dfa8;text-decoration:underline}\
table.diff tr.gap td{color:#666;text-align:center}\
@media(prefers-color-scheme:dark){table.diff tr.removed td.o,table.diff tr.changed td.o{background:#4a2020}\
table.diff tr.added td.w,table.diff tr.changed td.w{background:#1e3d1e}\
table.diff del{background:#7a2a2a}table.diff ins{background:#2a6a2a}}";

/// The hunks of a diff as a table, with this many lines of context.
pub fn table(diff: &Diff<'_>, context: usize) -> String {
    let mut out = String::from("<table class=\"diff\">\n");
    for (n, group) in diff.groups(context).into_iter().enumerate() {
        if n > 0 {
            out += "<tr class=\"gap\"><td colspan=\"4\">…</td></tr>\n";
        }
        group.iter().for_each(|row| out += &written(row));
    }
    out + "</table>\n"
}

fn written(row: &DiffLine<'_>) -> String {
    let (class, old, new) = match row {
        DiffLine::Same { old_line, new_line, text } => {
            ("same", Some((*old_line, escaped(text))), Some((*new_line, escaped(text))))
        }
        DiffLine::Changed { old_line, new_line, old, new } => {
            ("changed", Some((*old_line, pieces(old, "del"))), Some((*new_line, pieces(new, "ins"))))
        }
        DiffLine::Removed { old_line, text } => ("removed", Some((*old_line, escaped(text))), None),
        DiffLine::Added { new_line, text } => ("added", None, Some((*new_line, escaped(text)))),
    };
    let cells = |side: Option<(usize, String)>, class: &str| match side {
        Some((number, text)) => format!("<td class=\"n\">{number}</td><td class=\"{class}\">{text}</td>"),
        None => "<td class=\"n\"></td><td></td>".to_owned(),
    };
    format!("<tr class=\"{class}\">{}{}</tr>\n", cells(old, "o"), cells(new, "w"))
}

fn pieces(pieces: &[Piece<'_>], tag: &str) -> String {
    let piece = |p: &Piece<'_>| match p.marked {
        true => format!("<{tag}>{}</{tag}>", escaped(p.text)),
        false => escaped(p.text),
    };
    pieces.iter().map(piece).collect()
}

/// Escapes a text for HTML.
pub fn escaped(text: &str) -> String {
    escape_markup(text, |c, out| match c {
        '\'' => out.push_str("&#39;"),
        // Drop bidirectional control characters, which reorder what follows, and characters that
        // HTML forbids.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {}
        c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{FFFD}'),
        c => out.push(c),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_a_page_cannot_leave_its_cell() {
        let table = table(&Diff::of(&["a <script>b</script>"], &["a <img src=x onerror='y'>"]), 3);
        assert!(!table.contains("<script") && !table.contains("<img"), "{table}");
        assert!(table.contains("<tr class=\"changed\"><td class=\"n\">1</td><td class=\"o\">a &lt;"), "{table}");
        assert!(table.contains("<del>script&gt;b&lt;/script</del>"), "{table}");
        assert_eq!(escaped("\u{1b}[2J\u{202E}x"), "\u{FFFD}[2Jx");
    }
}
