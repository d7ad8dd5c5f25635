//! `orb inspect sessions`: which words in lists of URLs are session ids?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::{SessionReport, clip, inspect_sessions};
use std::io::Write as _;

pub(super) fn run(common: &Common, first: &[u8], second: Option<&[u8]>) -> Result<(), CommandFailure> {
    let (first, other) = (String::from_utf8_lossy(first), second.map(String::from_utf8_lossy));
    let report = inspect_sessions(&first, other.as_deref());
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &report)?;
    } else {
        print(&report, second.is_some(), &mut stdout)?;
    }
    Ok(stdout.flush()?)
}

fn print(report: &SessionReport, two: bool, out: &mut impl std::io::Write) -> std::io::Result<()> {
    if report.ids.is_empty() {
        writeln!(out, "no session ids")?;
    }
    for id in &report.ids {
        let session = if two { format!(", session {}", id.session) } else { String::new() };
        let sure = (id.confidence * 100.0).round();
        writeln!(out, "{}\t{}\t{}\t{sure} % sure, {} links{session}", id.value, id.host, id.standing, id.links)?;
    }
    for row in report.urls.iter().filter(|row| row.url != row.identity) {
        writeln!(out, "{}\n  {}", row.url, row.identity)?;
    }
    for refused in &report.refused {
        writeln!(out, "no URL\t{}", clip(refused, 200))?;
    }
    Ok(())
}
