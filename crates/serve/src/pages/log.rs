//! What did a run write down while it worked?
//!
//! While the run goes on, the page shows the end of its log and follows it.

use crate::fragments::{self, StreamPiece};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::steer::ListSteps;
use crate::view::Frame;
use askama::Template;
use orb_answers::{Collection, LogLevel, LogLine, LogWish, RunLog, run, run_log};
use std::pin::Pin;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/runs/{n}/log", Right::Read, |request| Box::pin(show(request)), "The log of a run"),
    RouteRow::get(
        "/p/{p}/runs/{n}/log/events",
        Right::Read,
        |request| Box::pin(follow(request)),
        "The log of a run while it grows",
    ),
];

/// Lines on one screen, and in a text.
const ROWS: usize = 500;
const ROWS_OF_TEXT: usize = 100_000;

#[derive(Template)]
#[template(path = "log.html")]
struct LogPage<'a> {
    frame: Frame,
    p: &'a str,
    run: u32,
    lines: &'a [LogLine],
    wanted: &'a str,
    levels: Vec<(&'static str, bool)>,
    /// Where more of it comes from, while the run goes on.
    events: Option<String>,
    steps: ListSteps,
}

#[derive(Template)]
#[template(path = "log_lines.html")]
struct LogPiece<'a> {
    lines: &'a [LogLine],
}

/// The lines that a request wants.
fn wish(request: &AdmittedRequest) -> Result<LogWish, ProblemDetails> {
    let fields = request.query();
    let named = |name: &str| LogLevel::ALL.into_iter().find(|level| level.name() == name);
    let level = fields
        .one("level")
        .map(|name| named(name).ok_or_else(|| ProblemDetails::malformed(format!("there is no level '{name}'"))));
    Ok(LogWish {
        contains: fields.one("q").map(str::to_owned),
        level: level.transpose()?.unwrap_or_default(),
        after: fields.parsed("after")?.unwrap_or(0),
        is_tail: false,
        limit: ROWS,
    })
}

/// The lines of a run, and whether it goes on.
fn look(collection: &Collection, number: u32, wish: &LogWish) -> Result<(RunLog, bool), ProblemDetails> {
    let goes_on = run(collection, number)?.state.is_running();
    let wish = LogWish { is_tail: wish.is_tail || (goes_on && wish.after == 0), ..wish.clone() };
    Ok((run_log(collection, number, &wish)?, goes_on))
}

async fn show(request: AdmittedRequest) -> Handled {
    let (number, fields, mut wish) = (request.number("n")?, request.query(), wish(&request)?);
    let (after, level) = (wish.after, wish.level);
    if fields.one("as") == Some("text") {
        wish.limit = ROWS_OF_TEXT;
        let log = request.ask(move |collection| run_log(collection, number, &wish)).await?;
        let text: String = log.lines.iter().map(|line| format!("{}\n", line.text)).collect();
        return Ok(typed("text/plain; charset=utf-8", text));
    }
    let (log, goes_on) = request.ask(move |collection| look(collection, number, &wish)).await?;
    let next = log.next.map(|next| next.to_string());
    let events = || {
        let uri = &request.parts.uri;
        uri.query().map_or_else(|| format!("{}/events", uri.path()), |query| format!("{}/events?{query}", uri.path()))
    };
    let page = LogPage {
        frame: request.frame(),
        p: &request.project()?.name,
        run: log.run,
        lines: &log.lines,
        wanted: fields.one("q").unwrap_or_default(),
        levels: LogLevel::ALL.map(|known| (known.name(), known == level)).to_vec(),
        events: (goes_on && after == 0).then(events),
        steps: ListSteps {
            before: (after > 0).then(|| request.here_with(&[("after", None)])),
            after: next.map(|next| request.here_with(&[("after", Some(&next))])),
        },
    };
    request.page(&page, &log)
}

async fn follow(request: AdmittedRequest) -> Handled {
    let (project, number): (_, u32) = (request.project()?.clone(), request.number("n")?);
    let wish = LogWish { is_tail: true, ..wish(&request)? };
    let first = wish.clone();
    // Before anything is promised: is there such a run?
    request.ask(move |collection| look(collection, number, &first)).await?;
    let what = format!("{}/{number}/log?{}", project.dir.display(), request.parts.uri.query().unwrap_or_default());
    let state = Arc::clone(&request.state);
    let piece = move || {
        let (state, project, wish) = (Arc::clone(&state), project.clone(), wish.clone());
        let looking = async move {
            let asked = state.desk.ask(&project, move |collection| look(collection, number, &wish));
            let (log, goes_on) = asked.await?;
            Ok(StreamPiece::new(&LogPiece { lines: &log.lines }.render()?, !goes_on))
        };
        Box::pin(looking) as Pin<Box<dyn Future<Output = _> + Send>>
    };
    fragments::respond(&request.state, what, Box::new(piece))
}
