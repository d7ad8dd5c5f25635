//! `orb cat`: a page's content, from the archive.

use super::{find_page, open_reader};
use crate::args::{CatArgs, Common, Form};
use crate::failure::Failure;
use crate::out;
use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use orb_extract::Content;
use orb_page::{Body, PageId};
use orb_store::{ArchiveReader, StoredExchange};
use serde_json::json;
use std::io::Write as _;

/// The largest content that is printed.
const CAP: u64 = 2_000_000_000;

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

fn decoded(stored: &StoredExchange) -> Result<Bytes, Failure> {
    let codings = stored.headers.all("content-encoding").collect::<Vec<_>>().join(",");
    let decoded = orb_fetch::decode(&Body::Memory(Bytes::from(stored.body.clone())), &codings, CAP);
    match decoded.problem {
        Some(problem) if decoded.bytes.is_empty() => Err(anyhow!("{}: {}", stored.url, problem.detail).into()),
        _ => Ok(decoded.bytes),
    }
}

/// What the extractors are given of a stored page.
fn read<T>(url: &str, stored: &StoredExchange, content: &[u8], with: impl FnOnce(&Content<'_>) -> T) -> T {
    let mime = stored.headers.mime();
    let charset = stored.headers.charset();
    with(&Content { bytes: content, mime: mime.as_deref(), charset: charset.as_deref(), url })
}

fn text(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    read(url, stored, content, orb_extract::extract).text
}

/// Markdown of an HTML page; the plain text of anything else.
fn markdown(url: &str, stored: &StoredExchange, content: &[u8]) -> String {
    let document = read(url, stored, content, orb_extract::extract);
    if document.mime != "text/html" && document.mime != "application/xhtml+xml" {
        return document.text;
    }
    read(url, stored, content, |c| orb_extract::markdown(&orb_extract::text_of(c)))
}
