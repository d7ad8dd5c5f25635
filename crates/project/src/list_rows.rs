//! How is one row of a list of tables changed, while the rest of the file stays?
//!
//! `[[steps]]` and `[[track.compare]]` are written by people, with comments. Adding, replacing,
//! removing or moving a row leaves the other rows as they are.

use crate::Settings;
use std::path::Path;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

/// What is done to a list; rows are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEdit {
    /// A row was added at the end.
    Add,
    /// This row was replaced.
    Replace(usize),
    /// This row was removed.
    Remove(usize),
    /// This row was moved before the one above it.
    Raise(usize),
}

impl RowEdit {
    /// Does the same to a list, of which `row` is the new one if there is one. A row that is not
    /// there is left alone.
    pub fn apply<T>(self, list: &mut Vec<T>, row: Option<T>) {
        match (self, row) {
            (Self::Add, Some(row)) => list.push(row),
            (Self::Replace(n), Some(row)) => list.get_mut(n).into_iter().zip([row]).for_each(|(old, row)| *old = row),
            (Self::Remove(n), _) if n < list.len() => drop(list.remove(n)),
            (Self::Raise(n), _) if n > 0 && n < list.len() => list.swap(n, n - 1),
            _ => {}
        }
    }
}

impl Settings {
    /// A text with these settings: the given one, in which one row of the list with this key was
    /// edited.
    pub fn amended_row(&self, text: &str, key: &str, edit: RowEdit) -> String {
        let is_meant = |text: &String| Self::parse(text, Path::new("")).is_ok_and(|settings| settings == *self);
        self.edited_row(text, key, edit).filter(is_meant).unwrap_or_else(|| self.amended(text))
    }

    fn edited_row(&self, text: &str, key: &str, edit: RowEdit) -> Option<String> {
        let mut document = text.parse::<DocumentMut>().ok()?;
        let mut written = self.to_toml().parse::<DocumentMut>().ok()?;
        let rows = rows(document.as_table_mut(), key)?;
        let mut tables: Vec<Table> = rows.iter().cloned().map(unplaced).collect();
        let mut fresh = |n: usize| self::rows(written.as_table_mut(), key)?.get(n).cloned().map(unplaced);
        let row = match edit {
            RowEdit::Add => fresh(tables.len()),
            RowEdit::Replace(n) => {
                let mut row = fresh(n)?;
                *row.decor_mut() = tables.get(n)?.decor().clone();
                Some(row)
            }
            _ => None,
        };
        edit.apply(&mut tables, row);
        *rows = tables.into_iter().collect();
        Some(document.to_string())
    }
}

/// The rows of a list, which is made if there is none; `None` if they are written another way.
fn rows<'t>(table: &'t mut Table, key: &str) -> Option<&'t mut ArrayOfTables> {
    match key.split_once('.') {
        Some((first, rest)) => {
            let mut outer = Table::new();
            outer.set_implicit(true);
            rows(table.entry(first).or_insert(Item::Table(outer)).as_table_mut()?, rest)
        }
        None => {
            // With its key, whose blanks would be written into the headers.
            if table.get(key).and_then(Item::as_array).is_some_and(toml_edit::Array::is_empty) {
                table.remove(key);
            }
            table.entry(key).or_insert(Item::ArrayOfTables(ArrayOfTables::new())).as_array_of_tables_mut()
        }
    }
}

/// A table that is written where it stands in its list, not where it stood in the text.
fn unplaced(mut table: Table) -> Table {
    table.set_position(None);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => *inner = unplaced(std::mem::take(inner)),
            Item::ArrayOfTables(inner) => {
                *inner = std::mem::take(inner).into_iter().map(unplaced).collect();
            }
            _ => {}
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StepSettings;

    fn parsed(text: &str) -> Settings {
        Settings::parse(text, Path::new("p.toml")).unwrap()
    }

    #[test]
    fn rows_are_added_moved_and_removed_and_the_others_stay_as_they_are_written() {
        let text = "seeds = ['http://a.test/'] # start\n\n# The door.\n[[steps]]\nname = 'in' # first\nstart = ['http://a.test/']\n\n\
                    [steps.form.fields] # who\nuser = 'me'\n\n# What is behind.\n[[steps]]\nname = 'all'\nlinks = 'a'\n\n[fetch] # mine\nconnections = 3\n# end\n";
        let mut settings = parsed(text);
        let step = StepSettings { name: "new".into(), links: Some("p a".into()), ..StepSettings::default() };
        RowEdit::Add.apply(&mut settings.steps, Some(step));
        let added = settings.amended_row(text, "steps", RowEdit::Add);
        assert_eq!(parsed(&added), settings, "{added}");
        let comments = ["# start", "# The door.", "# first", "# who", "# What is behind.", "# mine", "# end"];
        assert!(comments.iter().all(|comment| added.contains(comment)), "{added}");
        RowEdit::Raise(1).apply(&mut settings.steps, None);
        let raised = settings.amended_row(&added, "steps", RowEdit::Raise(1));
        assert_eq!(parsed(&raised), settings, "{raised}");
        assert!(comments.iter().all(|comment| raised.contains(comment)), "{raised}");
        RowEdit::Remove(0).apply(&mut settings.steps, None);
        let removed = settings.amended_row(&raised, "steps", RowEdit::Remove(0));
        assert!(
            parsed(&removed) == settings && !removed.contains("# What is behind.") && removed.contains("# The door.")
        );
        RowEdit::Remove(9).apply(&mut settings.steps, None);
        assert_eq!(settings.steps.len(), 2);
    }

    #[test]
    fn a_list_is_begun_and_one_written_on_a_line_is_changed_as_well() {
        for text in [
            "[track] # how\nbudget = '100/d'\n",
            "[track]\ncompare = []\nbudget = '1/d' # few\n",
            "# Nothing.\n",
            "track.compare = [{ match = 'a' }] # one\n",
        ] {
            let mut settings = parsed(text);
            let row = crate::CompareSettings { matches: Some("b".into()), ..crate::CompareSettings::default() };
            RowEdit::Add.apply(&mut settings.track.compare, Some(row));
            let added = settings.amended_row(text, "track.compare", RowEdit::Add);
            assert_eq!(parsed(&added), settings, "{added}");
            assert!(added.contains("[[track.compare]]\nmatch = \"b\"\n") || text.contains("# one"), "{added}");
        }
    }
}
