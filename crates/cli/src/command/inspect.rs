//! `orb inspect`: what do we make of one thing, without crawling?

use super::{forms, sessions};
use crate::args::{Common, Inspect, InspectArgs};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use orb_answers::{InspectedUrl, inspect_document, inspect_robots, inspect_urls};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::path::Path;

pub(crate) fn run(common: &Common, args: &InspectArgs) -> Result<(), CommandFailure> {
    match &args.what {
        Inspect::Robots { file, agent, urls } => robots(common, file, agent, urls),
        Inspect::Document { file, base, mime } => document(file, base, mime.as_deref()),
        Inspect::Forms { page, resolve, .. } if page.contains("://") => forms::of_url(common, page, resolve),
        Inspect::Forms { page, base, .. } => forms::of_file(common, &read(Path::new(page))?, base),
        Inspect::Sessions { file, second } => {
            let second = second.as_deref().map(read).transpose()?;
            sessions::run(common, &read(file)?, second.as_deref())
        }
        Inspect::Url { urls, base } => url(common, urls, base.as_deref()),
    }
}

/// The bytes of a file; `-` is standard input.
fn read(file: &Path) -> Result<Vec<u8>, CommandFailure> {
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(bytes);
    }
    Ok(std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?)
}

fn robots(common: &Common, file: &Path, agent: &str, urls: &[String]) -> Result<(), CommandFailure> {
    let rows = inspect_robots(&read(file)?, agent, urls);
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &rows)?;
    } else {
        for row in &rows {
            let verdict = if row.allowed { "allowed" } else { "disallowed" };
            match (&row.rule, row.line) {
                (Some(rule), Some(line)) => writeln!(stdout, "{verdict}\t{}\tline {line}: {rule}", row.url)?,
                _ => writeln!(stdout, "{verdict}\t{}\tno rule", row.url)?,
            }
        }
    }
    Ok(stdout.flush()?)
}

fn document(file: &Path, base: &str, mime: Option<&str>) -> Result<(), CommandFailure> {
    let document = inspect_document(&read(file)?, base, mime)?;
    let mut stdout = out::stdout();
    serde_json::to_writer_pretty(&mut stdout, &document)?;
    writeln!(stdout)?;
    Ok(stdout.flush()?)
}

fn url(common: &Common, urls: &[String], base: Option<&str>) -> Result<(), CommandFailure> {
    let rows = inspect_urls(urls, base)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &rows)?;
    } else {
        rows.iter().try_for_each(|row| print_url(&mut stdout, row))?;
    }
    Ok(stdout.flush()?)
}

fn print_url(stdout: &mut impl std::io::Write, row: &InspectedUrl) -> std::io::Result<()> {
    writeln!(stdout, "{}", row.given)?;
    if let Some(refused) = &row.refused {
        return writeln!(stdout, "  refused    {refused}");
    }
    let show = |v: &Option<String>| v.clone().unwrap_or_default();
    writeln!(stdout, "  canonical  {}", show(&row.url))?;
    writeln!(stdout, "  SURT       {}", show(&row.surt))?;
    writeln!(stdout, "  site       {}", show(&row.site))?;
    for session in &row.sessions {
        let [name, value, place] = [&*session.name, &*session.value, session.place].map(Value::from);
        writeln!(stdout, "  session    {name} = {value} ({place})")?;
    }
    Ok(())
}
