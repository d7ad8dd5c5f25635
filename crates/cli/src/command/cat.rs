//! `orb cat`: a page's content, from the archive.

use super::content::{decoded, markdown, text};
use super::{find_page, open_reader};
use crate::args::{CatArgs, Common, Form};
use crate::failure::Failure;
use crate::out;
use anyhow::Context as _;
use bytes::Bytes;
use orb_page::PageId;
use orb_store::ArchiveReader;
use serde_json::json;
use std::io::Write as _;

pub(crate) fn run(common: &Common, args: &CatArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.page.project)?;
    let page = find_page(&reader, &args.page.project, &args.page.url)?;
    let visits = reader.visits(PageId(page.id))?;
    let visit = match args.run {
        Some(run) => {
            visits.iter().find(|v| v.run == run).with_context(|| format!("run {run} did not visit {}", page.url))?
        }
        None => visits.first().with_context(|| format!("{} is {} and was never fetched", page.url, page.kind))?,
    };
    let place = visit.warc().with_context(|| match &visit.problem {
        Some(problem) => format!("there is no content of {}: {problem}", page.url),
        None => format!("the content of {} was not archived", page.url),
    })?;
    let stored = ArchiveReader::open(&project.archive()).exchange(&place)?;
    let content = decoded(&stored)?;
    let shown = match args.form {
        Form::Raw => content,
        Form::Text => Bytes::from(text(&page.url, &stored, &content)),
        Form::Markdown => Bytes::from(markdown(&page.url, &stored, &content)),
    };
    let raw = args.form == Form::Raw && !common.json;
    let mut stdout = if raw { out::content() } else { out::stdout() };
    if common.json {
        let value = json!({"url": page.url, "run": visit.run, "status": visit.status, "mime": visit.mime,
            "content": String::from_utf8_lossy(&shown)});
        out::json(&mut stdout, &value)?;
    } else {
        stdout.write_all(&shown)?;
        if args.form != Form::Raw && !shown.ends_with(b"\n") {
            writeln!(stdout)?;
        }
    }
    Ok(stdout.flush()?)
}
