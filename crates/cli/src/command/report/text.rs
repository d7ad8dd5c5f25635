//! How is a report written for people?

use super::{FLAGS, sum};
use crate::out;
use orb_answers::{AnswerError, Report, ReportRow};
use orb_page::{Flag, Moment};
use std::io::{self, Write};

/// Default number of rows per flag.
const LINES: u64 = 50;

pub(super) fn write(report: &Report<'_>, sink: &mut impl Write) -> Result<(), AnswerError> {
    opening(report, sink).map_err(AnswerError::Output)?;
    // Without a limit, every flag has its share.
    let groups: Vec<Vec<Flag>> = match (report.limit, report.offset) {
        (None, 0) => report.flags.iter().map(|flag| vec![*flag]).collect(),
        _ => vec![report.flags.clone()],
    };
    groups.iter().try_for_each(|flags| group(report, flags, sink))
}

/// The documents with these flags, and how many are left out.
fn group(report: &Report<'_>, flags: &[Flag], sink: &mut impl Write) -> Result<(), AnswerError> {
    let mut under = None;
    let mut shown = 0;
    report.each_of(flags, LINES, |row| {
        if under != Some(row.flag) {
            under = Some(row.flag);
            let what = if report.around && row.flag == Flag::Same { ", changed around" } else { "" };
            writeln!(sink, "\n{}{what} ({})", row.flag, out::grouped(report.listed(row.flag)))?;
        }
        shown += 1;
        entry(sink, &row)
    })?;
    let all: u64 = flags.iter().map(|flag| report.listed(*flag)).sum();
    let left = all.saturating_sub(report.offset).saturating_sub(shown);
    if left > 0 && shown > 0 {
        let (left, next) = (out::grouped(left), report.offset + shown);
        let names = flags.iter().map(|flag| flag.name()).collect::<Vec<_>>().join(",");
        let around = if report.around { "--around " } else { "" };
        let how = format!("{around}--flag {names} --offset {next} --limit N, or --format csv");
        writeln!(sink, "  … {left} more: {how}").map_err(AnswerError::Output)?;
    }
    Ok(())
}

fn opening(report: &Report<'_>, sink: &mut impl Write) -> io::Result<()> {
    let a = &report.account;
    let stood = out::stood(a.state.name(), a.seconds);
    writeln!(sink, "project {}, run {} ({}): {stood}", a.project, a.run, a.kind)?;
    let ended = a.finished_at.map_or_else(|| "now".to_owned(), minute);
    writeln!(sink, "  {} to {ended} (UTC)", minute(a.started_at))?;
    let counts = FLAGS.iter().map(|flag| format!("{flag} {}", out::grouped(report.count(*flag))));
    writeln!(sink, "  {}", counts.collect::<Vec<_>>().join("  "))?;
    writeln!(sink, "  {}", sum(report))?;
    if a.around > 0 {
        writeln!(sink, "  {} SAM changed around their main content (--around lists them)", out::grouped(a.around))?;
    }
    if let Some(ack) = &a.acknowledged {
        let by = ack.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        let note = ack.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        writeln!(sink, "  acknowledged {}{by}{note}", ack.at)?;
    }
    Ok(())
}

pub(super) fn minute(at: Moment) -> String {
    at.seconds().trim_end_matches('Z').replace('T', " ")
}

fn entry(sink: &mut impl Write, row: &ReportRow) -> io::Result<()> {
    let title = row.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let title = title.map(|title| format!("  {}", out::clip(&line(title), 80))).unwrap_or_default();
    writeln!(sink, "  {}{title}", row.url)?;
    if let Some(to) = &row.moved_to {
        writeln!(sink, "      moved to {to}")?;
    }
    match row.detail.as_deref() {
        Some(detail) if !detail.is_empty() => writeln!(sink, "      {}", out::clip(&line(detail), 200)),
        _ if row.flag == Flag::Error => {
            writeln!(sink, "      status {}", row.status.map_or_else(|| "-".into(), |s| s.to_string()))
        }
        _ => Ok(()),
    }
}

/// A text on one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
