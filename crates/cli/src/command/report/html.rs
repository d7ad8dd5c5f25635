//! How is a report written as one HTML page, to be read without a network?
//!
//! With counts, tables, filters and diffs side by side. The page, its style and its script are
//! separate files here and are inlined; the documents are embedded as JSON, one by one. Titles,
//! URLs and texts are untrusted: the JSON contains no `<`, so it cannot close the script element,
//! and a Content-Security-Policy forbids the page to load anything.

use super::text::minute;
use super::{FLAGS, sum};
use crate::out;
use orb_answers::{AnswerError, ChangedVersions, Report, ReportRow, escaped};
use orb_page::Flag;
use serde::Serialize;
use std::io::{self, Write};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A document with its diff.
#[derive(Serialize)]
struct ShownDocument<'a> {
    #[serde(flatten)]
    row: &'a ReportRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<ChangedVersions>,
}

pub(super) fn write(report: &Report<'_>, diffs: u64, sink: &mut impl Write) -> Result<(), AnswerError> {
    let mut rest = PAGE;
    // A single pass: inserted text is not searched for placeholders again.
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        sink.write_all(before.as_bytes()).map_err(AnswerError::Output)?;
        if name == "rows" {
            rows(report, diffs, sink)?;
        } else {
            sink.write_all(part(report, name).as_bytes()).map_err(AnswerError::Output)?;
        }
        rest = after;
    }
    sink.write_all(rest.as_bytes()).map_err(AnswerError::Output)
}

/// A part of the page by its name.
fn part(report: &Report<'_>, name: &str) -> String {
    let a = &report.account;
    match name {
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "title" => escaped(&format!("{}, run {}", a.project, a.run)),
        "about" => {
            let ended = a.finished_at.map_or_else(String::new, |at| format!(" to {}", minute(at)));
            escaped(&format!("{}, {}: {}{ended} (UTC)", a.kind, a.state, minute(a.started_at)))
        }
        "counts" => FLAGS.iter().map(|flag| count(*flag, report.count(*flag))).collect(),
        "account" => {
            let ack = a.acknowledged.as_ref().map(|ack| {
                let by = ack.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
                format!(
                    ". Acknowledged {}{by}{}",
                    ack.at,
                    ack.note.as_ref().map(|n| format!(": {n}")).unwrap_or_default()
                )
            });
            let around = match a.around {
                0 => String::new(),
                around => format!(". {} SAM changed around their main content", out::grouped(around)),
            };
            escaped(&format!("{}{around}{}", sum(report), ack.unwrap_or_default()))
        }
        _ => String::new(),
    }
}

fn count(flag: Flag, count: u64) -> String {
    let words = match flag {
        Flag::New => "new",
        Flag::Same => "the same",
        Flag::Updated => "updated",
        Flag::Missing => "missing",
        Flag::Error => "failed",
    };
    format!("<li class=\"{flag}\"><b>{}</b><span>{flag} · {words}</span></li>", out::grouped(count))
}

fn rows(report: &Report<'_>, diffs: u64, sink: &mut impl Write) -> Result<(), AnswerError> {
    let (mut first, mut diffs) = (true, diffs);
    report.each(|row| {
        let wanted = row.flag == Flag::Updated && row.moved_to.is_none() && diffs > 0;
        diffs -= u64::from(wanted);
        let diff = wanted.then(|| report.versions(&row));
        let text = serde_json::to_string(&ShownDocument { row: &row, diff }).map_err(io::Error::from)?;
        sink.write_all(if std::mem::take(&mut first) { b"\n" } else { b",\n" })?;
        sink.write_all(text.replace('<', "\\u003c").as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_nothing_of_any_network() {
        for (part, text) in [("page", PAGE), ("style", STYLE), ("script", SCRIPT)] {
            for word in ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
                assert!(!text.contains(word), "{part} has {word}");
            }
        }
        assert!(PAGE.contains("default-src 'none'"));
    }
}
