//! How are a project's settings stored?
//!
//! In its `project.toml`, replaced atomically. TOML truncated between two lines is still TOML, and
//! a crawl must not run with half of its settings, so a file written here has a first line that
//! promises a last one. A file without that first line was written by a person and is taken as it
//! is. People also edit ours: only changed values are replaced in their text.

use crate::settings::{Settings, SettingsError};
use orb_store::{ProjectDir, SettingsLock, StoreError, replace};
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// The first line of a file written here: it promises the last.
const BEGIN: &str = "# kept by orb, whole if there is an \"end of the settings\" below";

/// The last line of such a file.
const END: &str = "# end of the settings";

impl Settings {
    /// Saves these as the project's settings; a user's text that says the same stays as it is.
    pub fn keep(&self, project: &ProjectDir) -> Result<(), StoreError> {
        let _lock = SettingsLock::take(project)?;
        let text = match Self::kept(project) {
            Ok(Some(kept)) if kept == *self => return Ok(()),
            Ok(Some(kept)) => {
                std::fs::read_to_string(project.settings()).ok().and_then(|text| self.amend(&text, &kept))
            }
            _ => None,
        };
        Self::keep_text(project, &text.unwrap_or_else(|| self.to_toml()))
    }

    /// A text with these settings: the given one, edited where it differs.
    pub fn amended(&self, text: &str) -> String {
        let others = Self::parse(text, Path::new("project.toml")).ok();
        others.and_then(|others| self.amend(text, &others)).unwrap_or_else(|| self.to_toml())
    }

    /// The text of other settings, edited where these differ; `None` if that is not possible.
    fn amend(&self, text: &str, others: &Self) -> Option<String> {
        let (written, mut document) = (self.to_toml(), text.parse::<DocumentMut>().ok()?);
        let (before, now) = (others.to_toml().parse().ok()?, written.parse().ok()?);
        change(document.as_table_mut(), &before, &now, written.parse::<DocumentMut>().ok()?.as_table());
        let amended = document.to_string();
        Self::parse(&amended, Path::new("")).ok().filter(|settings| settings == self)?;
        Some(amended)
    }

    /// Saves a text, which must be valid settings, as it is. Whoever reads the file first to change
    /// it holds a [`SettingsLock`].
    pub fn keep_text(project: &ProjectDir, text: &str) -> Result<(), StoreError> {
        let begin = if text.starts_with(BEGIN) { String::new() } else { format!("{BEGIN}\n") };
        let end = if has_end(text) { String::new() } else { format!("\n{END}\n") };
        let text = format!("{begin}{text}{end}");
        replace(&project.settings(), text.as_bytes(), ["settings-written", "settings-kept"])
    }

    /// The project's saved settings, if any.
    pub fn kept(project: &ProjectDir) -> Result<Option<Self>, SettingsError> {
        let path = project.settings();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(SettingsError::Read { path, source }),
        };
        let settings = Self::parse(&text, &path)?;
        if is_cut_off(&text) {
            return Err(SettingsError::CutOff { path, end: END });
        }
        Ok(Some(settings))
    }
}

/// Whether the text is truncated: it promises an end it does not have, or breaks off in the
/// promise.
fn is_cut_off(text: &str) -> bool {
    (text.starts_with(BEGIN) && !has_end(text)) || BEGIN.starts_with(text)
}

/// Whether the last line is there; people may have added lines below it.
fn has_end(text: &str) -> bool {
    text.lines().any(|line| line.trim() == END)
}

/// Edits a user's table from its old values to new ones, which are also given as items.
fn change(table: &mut dyn TableLike, before: &toml::Table, now: &toml::Table, items: &dyn TableLike) {
    for key in before.keys().filter(|key| !now.contains_key(*key)) {
        table.remove(key);
    }
    let changed = |(key, _): &(&str, &Item)| before.get(*key) != now.get(*key);
    for (key, item) in items.iter().filter(changed) {
        if let (Some(toml::Value::Table(before)), Some(toml::Value::Table(now)), Some(items)) =
            (before.get(key), now.get(key), item.as_table_like())
        {
            let inner = table.entry(key).or_insert(Item::Table(Table::new()));
            inner.as_table_like_mut().into_iter().for_each(|inner| change(inner, before, now, items));
            continue;
        }
        match (table.get_mut(key).and_then(Item::as_value_mut), item.clone().into_value()) {
            (Some(value), Ok(mut now)) => {
                // Keep the comment behind the value.
                *now.decor_mut() = std::mem::take(value.decor_mut());
                if let Some(list) = now.as_array_mut().filter(|list| list.iter().any(Value::is_inline_table)) {
                    list.iter_mut().for_each(|one| one.decor_mut().set_prefix("\n  "));
                    list.set_trailing_comma(true);
                    list.set_trailing("\n");
                }
                *value = now;
            }
            _ => drop(table.insert(key, item.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_store::Home;

    #[test]
    fn settings_are_kept_whole_or_told_to_be_cut_off() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        assert_eq!(Settings::kept(&project).unwrap(), None);
        let settings = Settings { seeds: vec!["http://a/".into()], ..Settings::default() };
        settings.keep(&project).unwrap();
        assert_eq!(Settings::kept(&project).unwrap(), Some(settings));
        let whole = std::fs::read(project.settings()).unwrap();
        for length in 0..whole.len() - 1 {
            std::fs::write(project.settings(), &whole[..length]).unwrap();
            assert!(Settings::kept(&project).is_err(), "cut to {length} of {}", whole.len());
        }
    }

    #[test]
    fn a_file_that_a_person_wrote_needs_no_last_line() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let theirs = "seeds = ['http://a/']\n";
        for text in [theirs.to_owned(), format!("{theirs}{END}\n"), format!("{BEGIN}\n{END}\n{theirs}")] {
            std::fs::write(project.settings(), &text).unwrap();
            assert_eq!(Settings::kept(&project).unwrap().unwrap().seeds, ["http://a/"], "{text}");
        }
        std::fs::write(project.settings(), format!("{BEGIN}\n{theirs}")).unwrap();
        assert!(matches!(Settings::kept(&project), Err(SettingsError::CutOff { .. })));
    }

    #[test]
    fn what_a_person_wrote_stays_where_nothing_changes() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let text = "# Ours.\nseeds = [\"http://a/\"] # the start\n\n[fetch]\n# Not many.\nconnections = 10 # for now\nbandwidth = \"1MB/s\"\n\n\
            [urls] # as they are\nsort_query = true\n";
        Settings::keep_text(&project, text).unwrap();
        let mut settings = Settings::kept(&project).unwrap().unwrap();
        settings.keep(&project).unwrap();
        assert_eq!(std::fs::read_to_string(project.settings()).unwrap(), format!("{BEGIN}\n{text}\n{END}\n"));
        settings.fetch.connections = 20;
        settings.fetch.bandwidth = None;
        settings.seeds.push("http://b/".into());
        settings.frontier.depth = Some(3);
        settings.keep(&project).unwrap();
        let amended = "# Ours.\nseeds = [\"http://a/\", \"http://b/\"] # the start\n\n[fetch]\n# Not many.\nconnections = 20 # for now\n\n\
            [urls] # as they are\nsort_query = true\n\n[frontier]\ndepth = 3\n";
        assert_eq!(std::fs::read_to_string(project.settings()).unwrap(), format!("{BEGIN}\n{amended}\n{END}\n"));
        assert_eq!(Settings::kept(&project).unwrap(), Some(settings));
    }

    #[test]
    fn lists_of_tables_are_changed_however_they_were_written() {
        let rest = "\n[fetch] # mine\nconnections = 3\n";
        let listed = "\n[scope]\nmode = 'host'\n[[scope.rules]] # This.\ndeny = 'a'\n";
        let inline = "\n[scope]\n# These.\nrules = [{ deny = 'a' }] # so far\nmode = 'host'\n";
        let dotted = "\nscope.rules = [{ deny = 'a' }]\n";
        let none = "# Nothing.\n";
        for text in [listed, inline, dotted, none].map(|scope| format!("{scope}{rest}")) {
            let before = Settings::parse(&text, Path::new("")).unwrap();
            let more =
                Settings::parse("[[scope.rules]]\ndeny = 'a'\n[[scope.rules]]\nallow = 'b'", Path::new("")).unwrap();
            let after = Settings { scope: more.scope, ..before.clone() };
            let amended = after.amend(&text, &before).unwrap();
            let kept: Vec<&str> = text.lines().filter(|line| !line.contains("deny")).collect();
            assert!(
                kept.iter().all(|line| line.contains("This.") || amended.contains(line)),
                "{text} is now {amended}"
            );
            assert_eq!(
                before.amend(&amended, &after).map(|text| Settings::parse(&text, Path::new("")).unwrap()),
                Some(before)
            );
        }
        let text = format!("{inline}{rest}");
        let before = Settings::parse(&text, Path::new("")).unwrap();
        let mut after = before.clone();
        after.scope.rules.extend(before.scope.rules.iter().cloned());
        let now = "rules = [\n  { deny = \"a\" },\n  { deny = \"a\" },\n] # so far";
        assert_eq!(after.amend(&text, &before), Some(text.replace("rules = [{ deny = 'a' }] # so far", now)));
    }
}
