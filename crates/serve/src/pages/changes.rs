//! What has changed, run after run?

use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::{FilterChoice, ListSteps};
use crate::view::{Frame, minute};
use askama::Template;
use orb_answers::{CHANGES, ReportRow, changes_before};
use orb_page::Flag;

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/p/{p}/changes", Right::Read, |request| Box::pin(show(request)), "The changes, latest first")];

/// Changes on one screen.
const ROWS: u32 = 100;

#[derive(Template)]
#[template(path = "changes.html")]
struct ChangesPage<'a> {
    frame: Frame,
    p: &'a str,
    choices: Vec<FilterChoice>,
    rows: Vec<ChangeLine<'a>>,
    steps: ListSteps,
}

struct ChangeLine<'a> {
    row: &'a ReportRow,
    flag: &'static str,
    title: &'a str,
    when: String,
}

async fn show(request: AdmittedRequest) -> Handled {
    let fields = request.query();
    let before: Option<u64> = fields.parsed("before")?;
    let named = |name: &str| {
        Flag::from_name(name).ok_or_else(|| ProblemDetails::malformed(format!("there is no flag '{name}'")))
    };
    let chosen: Vec<Flag> = fields.all("flag").map(named).collect::<Result<_, _>>()?;
    let flags = if chosen.is_empty() { CHANGES.to_vec() } else { chosen.clone() };
    let found = request.ask(move |collection| changes_before(collection, before, &flags, ROWS)).await?;
    let oldest = found.last().and_then(|row| row.seq).filter(|_| found.len() == ROWS as usize);
    let oldest = oldest.map(|seq| seq.to_string());
    let choice = |flag: Option<Flag>| FilterChoice {
        label: flag.map_or("All", Flag::name).to_owned(),
        path: request.here_with(&[("flag", flag.map(Flag::name)), ("before", None)]),
        is_chosen: chosen.first().copied() == flag,
    };
    let page = ChangesPage {
        frame: request.frame(),
        p: &request.project()?.name,
        choices: [None].into_iter().chain(CHANGES.map(Some)).map(choice).collect(),
        rows: found.iter().map(line).collect(),
        steps: ListSteps {
            before: before.map(|_| request.here_with(&[("before", None)])),
            after: oldest.map(|oldest| request.here_with(&[("before", Some(&oldest))])),
        },
    };
    request.page(&page, &found)
}

fn line(row: &ReportRow) -> ChangeLine<'_> {
    let title = row.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&row.url);
    ChangeLine { row, flag: row.flag.name(), title, when: minute(&row.at.to_string()) }
}
