//! What waits to be fetched, and on which hosts?

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::steer::ListSteps;
use crate::stream::pieces;
use crate::view::{Frame, minute};
use askama::Template;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use orb_answers::{QueueFilter, QueuePart, QueuedHost, QueuedPage, grouped, is_running, queue, queue_text};
use orb_crawl::why;
use orb_project::ProjectDir;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/queue", Right::Read, |request| Box::pin(show(request)), "What waits to be fetched, by host"),
    RouteRow::get("/p/{p}/queue.txt", Right::Read, |request| Box::pin(send(request)), "The URLs of the queue as text"),
];

/// Pages on one screen.
const ROWS: usize = 100;

#[derive(Template)]
#[template(path = "queue.html")]
struct QueuePage<'a> {
    frame: Frame,
    p: &'a str,
    typed: &'a str,
    is_pattern: bool,
    host: Option<u32>,
    may_run: bool,
    found: String,
    is_part: bool,
    is_cut: bool,
    as_text: String,
    hosts: Vec<QueueHostLine<'a>>,
    waits: bool,
    rows: &'a [QueuedPage],
    steps: ListSteps,
}

struct QueueHostLine<'a> {
    host: &'a QueuedHost,
    queued: String,
    path: String,
    waits: String,
}

/// What the query filters by.
fn filter(request: &AdmittedRequest) -> Result<QueueFilter, ProblemDetails> {
    let query = request.query();
    Ok(QueueFilter::new(query.one("url"), query.one("pattern").is_some(), query.parsed("host")?)?)
}

async fn show(request: AdmittedRequest) -> Handled {
    let (query, filter) = (request.query(), filter(&request)?);
    let before: Option<u64> = query.parsed("before")?;
    let project = request.project()?.clone();
    let asked = request.ask(move |collection| {
        Ok::<_, ProblemDetails>((queue(collection, &filter, before, ROWS)?, waiting(collection.project())))
    });
    let (part, waiting) = asked.await?;
    let next = part.next.map(|next| next.to_string());
    let page = QueuePage {
        frame: request.frame(),
        p: &project.name,
        typed: query.one("url").unwrap_or_default(),
        is_pattern: query.one("pattern").is_some(),
        host: query.parsed("host")?,
        may_run: request.may(Right::Run),
        found: grouped(part.found),
        is_part: part.next.is_some() || before.is_some(),
        is_cut: part.pages.len() as u64 != part.found,
        as_text: as_text(&request.here_with(&[("before", None)])),
        hosts: host_lines(&request, &part, &waiting),
        waits: !waiting.is_empty(),
        rows: &part.pages,
        steps: ListSteps {
            before: before.is_some().then(|| request.here_with(&[("before", None)])),
            after: next.as_deref().map(|next| request.here_with(&[("before", Some(next))])),
        },
    };
    request.page(&page, &part)
}

/// The address of the text that holds the same pages; a project may be called like this screen.
fn as_text(here: &str) -> String {
    match here.split_once('?') {
        Some((path, query)) => format!("{path}.txt?{query}"),
        None => format!("{here}.txt"),
    }
}

/// What hosts wait for while a run goes on, as far as it has written that down.
pub(super) fn waiting(project: &ProjectDir) -> HashMap<String, String> {
    let told = is_running(project).then(|| why(project).ok()).flatten();
    let told = told.into_iter().flat_map(|account| account.hosts);
    let words = |until: Option<String>| until.map(|until| format!(" until {}", minute(&until))).unwrap_or_default();
    told.map(|host| (host.host, format!("{}{}", host.why, words(host.until)))).collect()
}

fn host_lines<'a>(
    request: &AdmittedRequest,
    part: &'a QueuePart,
    waiting: &HashMap<String, String>,
) -> Vec<QueueHostLine<'a>> {
    let line = |host: &'a QueuedHost| {
        let id = host.id.to_string();
        QueueHostLine {
            queued: grouped(host.queued),
            path: request.here_with(&[("host", Some(&id)), ("before", None)]),
            waits: waiting.get(&host.host).cloned().unwrap_or_default(),
            host,
        }
    };
    part.hosts.iter().map(line).collect()
}

/// The URLs, piece by piece as they are read.
async fn send(request: AdmittedRequest) -> Handled {
    let (filter, project) = (filter(&request)?, request.project()?.clone());
    let state = Arc::clone(&request.state);
    // Before anything is promised: can it be asked?
    let first = ask(&state, &project, &filter, 0).await?;
    let (sender, body) = pieces();
    tokio::spawn(async move {
        let mut piece: Result<_, ProblemDetails> = Ok(first);
        loop {
            let (text, next) = match piece {
                Ok(part) => part,
                Err(problem) => {
                    let _ = sender.send(Err(io::Error::other(problem.detail))).await;
                    return;
                }
            };
            if !text.is_empty() && sender.send(Ok(Bytes::from(text))).await.is_err() {
                return;
            }
            let Some(next) = next else { return };
            piece = ask(&state, &project, &filter, next).await;
        }
    });
    let mut response: Response = typed("text/plain; charset=utf-8", body);
    let name = format!("attachment; filename=\"{}-queue.txt\"", request.project()?.name);
    let name = HeaderValue::from_str(&name).map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().insert(CONTENT_DISPOSITION, name);
    Ok(response)
}

/// A piece of the text, and where the next begins.
async fn ask(
    state: &crate::state::AppState,
    project: &ProjectDir,
    filter: &QueueFilter,
    after: u64,
) -> Result<(String, Option<u64>), ProblemDetails> {
    let filter = filter.clone();
    state.desk.ask(project, move |collection| queue_text(collection, &filter, after)).await
}
