//! What did a run write down while it worked?

use crate::problem::Handled;
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::steer::ListSteps;
use crate::view::Frame;
use askama::Template;
use orb_answers::{RunLog, run_log};

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/p/{p}/runs/{n}/log", Right::Read, |request| Box::pin(show(request)), "The log of a run")];

/// Lines on one screen, and in a text.
const ROWS: usize = 500;
const ROWS_OF_TEXT: usize = 100_000;

#[derive(Template)]
#[template(path = "log.html")]
struct LogPage<'a> {
    frame: Frame,
    p: &'a str,
    log: &'a RunLog,
    wanted: &'a str,
    steps: ListSteps,
}

async fn show(request: AdmittedRequest) -> Handled {
    let (run, fields) = (request.number("n")?, request.query());
    let wanted = fields.one("q").map(str::to_owned);
    let after = fields.parsed("after")?.unwrap_or(0);
    let is_text = fields.one("as") == Some("text");
    let limit = if is_text { ROWS_OF_TEXT } else { ROWS };
    let log = request.ask(move |collection| run_log(collection, run, wanted.as_deref(), after, limit)).await?;
    if is_text {
        let text: String = log.lines.iter().map(|line| format!("{}\n", line.text)).collect();
        return Ok(typed("text/plain; charset=utf-8", text));
    }
    let next = log.next.map(|next| next.to_string());
    let page = LogPage {
        frame: request.frame(),
        p: &request.project()?.name,
        wanted: fields.one("q").unwrap_or_default(),
        steps: ListSteps {
            before: (after > 0).then(|| request.here_with(&[("after", None)])),
            after: next.map(|next| request.here_with(&[("after", Some(&next))])),
        },
        log: &log,
    };
    request.page(&page, &log)
}
