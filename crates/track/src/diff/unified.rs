//! How does a diff read on a terminal?
//!
//! In the format of `diff -u`, so that other tools can read it: hunks with context, `-` before
//! removed lines, `+` before added ones.

use super::{Diff, DiffLine, Piece};

/// The hunks of a diff, with this many lines of context.
pub fn unified(diff: &Diff<'_>, context: usize) -> String {
    let mut out = String::new();
    for group in diff.groups(context) {
        out += &head(group);
        let mut at = 0;
        while let Some(row) = group.get(at) {
            if let DiffLine::Same { text, .. } = row {
                line(&mut out, ' ', text);
                at += 1;
                continue;
            }
            let run = group[at..].iter().take_while(|row| !row.is_same()).count();
            let rows = &group[at..at + run];
            rows.iter().filter_map(|row| side(row, true)).for_each(|text| line(&mut out, '-', &text));
            rows.iter().filter_map(|row| side(row, false)).for_each(|text| line(&mut out, '+', &text));
            at += run;
        }
    }
    out
}

fn line(out: &mut String, sign: char, text: &str) {
    out.push(sign);
    out.push_str(text);
    out.push('\n');
}

/// One side of a row.
fn side(row: &DiffLine<'_>, old: bool) -> Option<String> {
    let joined = |pieces: &[Piece<'_>]| pieces.iter().map(|p| p.text).collect::<String>();
    match row {
        DiffLine::Same { text, .. } => Some((*text).to_owned()),
        DiffLine::Changed { old: said, .. } if old => Some(joined(said)),
        DiffLine::Changed { new: says, .. } => Some(joined(says)),
        DiffLine::Removed { text, .. } => old.then(|| (*text).to_owned()),
        DiffLine::Added { text, .. } => (!old).then(|| (*text).to_owned()),
    }
}

/// The header of a hunk: `@@ -3,7 +3,8 @@`.
fn head(group: &[DiffLine<'_>]) -> String {
    let old_line = |row: &DiffLine<'_>| match row {
        DiffLine::Same { old_line, .. } | DiffLine::Changed { old_line, .. } | DiffLine::Removed { old_line, .. } => {
            Some(*old_line)
        }
        DiffLine::Added { .. } => None,
    };
    let new_line = |row: &DiffLine<'_>| match row {
        DiffLine::Same { new_line, .. } | DiffLine::Changed { new_line, .. } | DiffLine::Added { new_line, .. } => {
            Some(*new_line)
        }
        DiffLine::Removed { .. } => None,
    };
    let lines = |numbers: Vec<usize>| (numbers.first().copied().unwrap_or(0), numbers.len());
    let (old, olds) = lines(group.iter().filter_map(old_line).collect());
    let (new, news) = lines(group.iter().filter_map(new_line).collect());
    format!("@@ -{old},{olds} +{new},{news} @@\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_reads_as_other_tools_write_it() {
        let old = ["1", "2", "3", "4 old", "5", "6", "7", "8"];
        let new = ["1", "2", "3", "4 new", "and", "5", "6", "7", "8"];
        let text = unified(&Diff::of(&old, &new), 2);
        assert_eq!(text, "@@ -2,5 +2,6 @@\n 2\n 3\n-4 old\n+4 new\n+and\n 5\n 6\n");
        assert_eq!(unified(&Diff::of(&[], &["a"]), 3), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(unified(&Diff::of(&old, &old), 3), "");
    }
}
