//! What has changed, run after run, and what of it has somebody not seen yet?
//!
//! How far somebody has read is remembered by account. Reading does not move it, since a GET
//! changes nothing: a button says that everything up to the last change on record was seen.

use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::{FilterChoice, ListSteps};
use crate::view::{Frame, minute};
use askama::Template;
use orb_answers::{CHANGES, ReportRow, changes_before, grouped};
use orb_page::Flag;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/changes", Right::Read, |request| Box::pin(show(request)), "The changes, latest first")
        .for_guests(),
    RouteRow::post(
        "/p/{p}/changes/seen",
        Right::Read,
        |request| Box::pin(mark_seen(request)),
        "Remember how far somebody has read the changes",
    ),
];

/// Changes on one screen.
const ROWS: u32 = 100;

#[derive(Template)]
#[template(path = "changes.html")]
struct ChangesPage<'a> {
    frame: Frame,
    p: &'a str,
    choices: Vec<FilterChoice>,
    rows: Vec<ChangeLine<'a>>,
    /// How many changes were not seen yet, if that is more than none.
    unread: Option<String>,
    last: u64,
    is_guest: bool,
    steps: ListSteps,
}

/// A change in a list.
pub(super) struct ChangeLine<'a> {
    pub(super) row: &'a ReportRow,
    pub(super) flag: &'static str,
    pub(super) title: &'a str,
    pub(super) when: String,
    is_unread: bool,
}

impl AdmittedRequest {
    /// The number of the project's last change, and of the last one that whoever asks has seen.
    pub(crate) async fn unread(&self) -> Result<(u64, u64), ProblemDetails> {
        if self.is_guest() {
            return Ok((0, 0));
        }
        let (board, project, user) = (Arc::clone(&self.state.board), self.project()?.clone(), self.user()?.id);
        self.work(move |home| {
            let seen = home.accounts().seen(user, &project.name)?;
            Ok::<_, ProblemDetails>((board.last_change(&project)?, seen))
        })
        .await
    }
}

/// Everything up to a change was seen; without a number, all that there is.
async fn mark_seen(request: AdmittedRequest) -> Handled {
    let last = request.unread().await?.0;
    let form = request.form()?;
    let up_to = form.parsed("up_to")?.unwrap_or(last).min(last);
    let (project, user) = (request.project()?.name.clone(), request.user()?.id);
    let name = project.clone();
    request.work(move |home| home.accounts().mark_seen(user, &name, up_to)).await?;
    match form.one("back") {
        Some("all") => AdmittedRequest::redirect("/changes"),
        _ => AdmittedRequest::redirect(&format!("/p/{project}/changes")),
    }
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
    let (last, seen) = request.unread().await?;
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
        rows: found.iter().map(|row| line(row, (!request.is_guest()).then_some(seen))).collect(),
        unread: (last > seen).then(|| grouped(last - seen)),
        is_guest: request.is_guest(),
        last,
        steps: ListSteps {
            before: before.map(|_| request.here_with(&[("before", None)])),
            after: oldest.map(|oldest| request.here_with(&[("before", Some(&oldest))])),
        },
    };
    request.page(&page, &found)
}

/// A change, for somebody who has seen those up to a number.
pub(super) fn line(row: &ReportRow, seen: Option<u64>) -> ChangeLine<'_> {
    let title = row.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&row.url);
    ChangeLine {
        row,
        flag: row.flag.name(),
        title,
        when: minute(&row.at.to_string()),
        is_unread: seen.is_some_and(|seen| row.seq > Some(seen)),
    }
}
