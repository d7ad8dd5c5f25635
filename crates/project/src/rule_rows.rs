//! How are a project's rules shown and changed row by row, with the comments beside them?
//!
//! A rule has no comment of its own in the settings: people write comments in the file, behind a
//! rule or above it. They are read from there and written back there, as are all rules, whenever
//! one is added, removed or moved. The rest of the file stays as it is.

use crate::Settings;
use orb_urls::scope::{Action, ScopeRule};
use std::path::Path;
use toml_edit::{Array, ArrayOfTables, Decor, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value};

/// A rule with the comment beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRow {
    /// The rule.
    pub rule: ScopeRule,
    /// What people have written about it, in one line; may be empty.
    pub comment: String,
}

/// The rules that a text of settings contains, in order, with their comments.
pub fn rule_rows(text: &str) -> Vec<RuleRow> {
    let settings = Settings::parse(text, Path::new("project.toml")).unwrap_or_default();
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let written = document.get("scope").and_then(Item::as_table_like).and_then(|scope| scope.get("rules"));
    let mut comments = match written {
        Some(Item::Value(Value::Array(rules))) => comments_in(rules),
        Some(Item::ArrayOfTables(rules)) => rules.iter().map(comment_of).collect(),
        _ => Vec::new(),
    };
    comments.resize(settings.scope.rules.len(), String::new());
    settings.scope.rules.into_iter().zip(comments).map(|(rule, comment)| RuleRow { rule, comment }).collect()
}

/// A text with these rules instead of its own, and this default.
pub fn with_rule_rows(text: &str, rows: &[RuleRow], default: Option<Action>) -> String {
    let mut wanted = Settings::parse(text, Path::new("project.toml")).unwrap_or_default();
    wanted.scope.rules = rows.iter().map(|row| row.rule.clone()).collect();
    wanted.scope.default = default;
    let edited = edited(text, rows, default);
    let is_meant = |text: &String| Settings::parse(text, Path::new("")).is_ok_and(|settings| settings == wanted);
    edited.filter(is_meant).unwrap_or_else(|| wanted.amended(text))
}

fn edited(text: &str, rows: &[RuleRow], default: Option<Action>) -> Option<String> {
    let mut document = text.parse::<DocumentMut>().ok()?;
    let scope = document.entry("scope").or_insert(Item::Table(Table::new())).as_table_like_mut()?;
    match scope.get_mut("rules") {
        _ if rows.is_empty() => drop(scope.remove("rules")),
        Some(Item::ArrayOfTables(rules)) => *rules = tables(rows),
        Some(Item::Value(value)) => {
            let decor = value.decor().clone();
            *value = Value::Array(list(rows));
            *value.decor_mut() = decor;
        }
        _ => drop(scope.insert("rules", Item::Value(Value::Array(list(rows))))),
    }
    set_default(scope, default);
    Some(document.to_string())
}

fn set_default(scope: &mut dyn TableLike, default: Option<Action>) {
    let name = default.map(|default| if default == Action::Allow { "allow" } else { "deny" });
    match (name, scope.get_mut("default").and_then(Item::as_value_mut)) {
        (Some(name), Some(value)) if value.as_str() == Some(name) => {}
        (Some(name), Some(value)) => {
            let decor = value.decor().clone();
            *value = name.into();
            *value.decor_mut() = decor;
        }
        (Some(name), None) => drop(scope.insert("default", Item::Value(name.into()))),
        (None, _) => drop(scope.remove("default")),
    }
}

/// The rules as a list, one a line. A comment behind a comma belongs to what comes next.
fn list(rows: &[RuleRow]) -> Array {
    let (mut list, mut before) = (Array::new(), String::new());
    for row in rows {
        let mut value = InlineTable::new();
        value.insert(name_of(&row.rule), row.rule.regex().into());
        let mut value = Value::InlineTable(value);
        value.decor_mut().set_prefix(format!("{before}\n  "));
        list.push_formatted(value);
        before = written(&row.comment).map(|comment| format!(" {comment}")).unwrap_or_default();
    }
    list.set_trailing_comma(true);
    list.set_trailing(format!("{before}\n"));
    list
}

/// The rules as tables with headers.
fn tables(rows: &[RuleRow]) -> ArrayOfTables {
    let table = |row: &RuleRow| {
        let mut table = Table::new();
        table.insert(name_of(&row.rule), Item::Value(row.rule.regex().into()));
        let above = written(&row.comment).map(|comment| format!("{comment}\n")).unwrap_or_default();
        table.decor_mut().set_prefix(format!("\n{above}"));
        table
    };
    rows.iter().map(table).collect()
}

fn name_of(rule: &ScopeRule) -> &'static str {
    if rule.action() == Action::Allow { "allow" } else { "deny" }
}

/// A comment as it is written into the file; `None` if there is nothing to write.
fn written(comment: &str) -> Option<String> {
    let plain = comment.replace(char::is_control, " ");
    let plain = plain.trim();
    (!plain.is_empty()).then(|| format!("# {plain}"))
}

/// The comments of the rows of a list.
fn comments_in(rules: &Array) -> Vec<String> {
    let mut comments = vec![Vec::new(); rules.len()];
    for (n, rule) in rules.iter().enumerate() {
        let before = raw(rule.decor().prefix());
        let (behind, above) = before.split_once('\n').unwrap_or((before, ""));
        // What stands behind the comma is about the row before it.
        comments[n.saturating_sub(1)].extend(lines(behind));
        comments[n].extend(lines(above));
        comments[n].extend(lines(raw(rule.decor().suffix())));
    }
    if let Some(last) = comments.last_mut() {
        last.extend(lines(rules.trailing().as_str().unwrap_or_default()));
    }
    comments.into_iter().map(|lines| lines.join(" ")).collect()
}

/// The comments around a table.
fn comment_of(rule: &Table) -> String {
    let around = |decor: &Decor| format!("{}\n{}", raw(decor.prefix()), raw(decor.suffix()));
    let inside = rule.iter().filter_map(|(_, item)| item.as_value()).map(|value| around(value.decor()));
    let all: Vec<String> = std::iter::once(around(rule.decor())).chain(inside).collect();
    all.iter().flat_map(|text| lines(text)).collect::<Vec<_>>().join(" ")
}

fn raw(text: Option<&RawString>) -> &str {
    text.and_then(RawString::as_str).unwrap_or_default()
}

/// The comments in what stands between values.
fn lines(text: &str) -> impl Iterator<Item = String> {
    let comments = text.lines().filter_map(|line| line.trim().strip_prefix('#'));
    comments.map(|comment| comment.trim().to_owned()).filter(|comment| !comment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(rows: &[RuleRow]) -> Vec<(&str, &str)> {
        rows.iter().map(|row| (row.rule.regex(), row.comment.as_str())).collect()
    }

    #[test]
    fn comments_are_read_wherever_people_write_them() {
        let inline = "[scope]\nrules = [ # all\n  { deny = 'a' }, # first\n  # about b\n  { allow = 'b' }, # too\n  { deny = 'c' }\n  # last\n]\n";
        assert_eq!(said(&rule_rows(inline)), [("a", "all first"), ("b", "about b too"), ("c", "last")]);
        let listed = "# ours\n[[scope.rules]] # this\ndeny = 'a' # that\n\n[[scope.rules]]\nallow = 'b'\n";
        assert_eq!(said(&rule_rows(listed)), [("a", "ours this that"), ("b", "")]);
        assert!(rule_rows("not toml [").is_empty());
    }

    #[test]
    fn rules_are_moved_with_their_comments_and_the_rest_stays() {
        let rest = "\n# Ours.\n[fetch] # mine\nconnections = 3 # few\n# end\n";
        let heads = [
            "[scope]\nmode = \"domain\" # wide\nrules = [{ deny = 'a' }, # first\n { allow = 'b' }]\n",
            "[scope]\nmode = \"domain\" # wide\n\n# first\n[[scope.rules]]\ndeny = 'a'\n\n[[scope.rules]]\nallow = 'b'\n",
            "scope.mode = \"domain\" # wide\nscope.rules = [{ deny = 'a' }, # first\n { allow = 'b' }]\n",
        ];
        for head in heads {
            let text = format!("{head}{rest}");
            let mut rows = rule_rows(&text);
            rows.swap(0, 1);
            rows.push(RuleRow { rule: ScopeRule::Deny("c#\"".to_owned()), comment: "new\n# line".to_owned() });
            let now = with_rule_rows(&text, &rows, Some(Action::Deny));
            assert_eq!(said(&rule_rows(&now)), [("b", ""), ("a", "first"), ("c#\"", "new # line")], "{now}");
            let settings = Settings::parse(&now, Path::new("")).unwrap();
            assert_eq!(settings.scope.default, Some(Action::Deny));
            assert!(now.contains("# wide") && now.ends_with(rest), "{now}");
            let none = with_rule_rows(&now, &[], None);
            assert!(rule_rows(&none).is_empty() && none.contains("# wide") && none.ends_with(rest), "{none}");
        }
        let begun = with_rule_rows(rest, &rule_rows(heads[0]), None);
        assert_eq!(said(&rule_rows(&begun)), [("a", "first"), ("b", "")], "{begun}");
        assert!(begun.contains("connections = 3 # few"), "{begun}");
    }
}
