//! What has changed in any project, that somebody has not seen yet?
//!
//! The projects whose last run is the latest come first, each with its last changes. Whoever has
//! seen everything is told so.

use super::changes::{ChangeLine, line};
use crate::desk::OpenShelf;
use crate::gate::Identity;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::Frame;
use askama::Template;
use orb_answers::{CHANGES, ReportRow, StatusBoard, changes_before, grouped};
use orb_page::Moment;
use serde::Serialize;
use std::cmp::Reverse;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/changes",
    Right::SignedIn,
    |request| Box::pin(show(request)),
    "What has changed in all projects, that one has not seen yet",
)];

/// Projects that are shown, and changes of each.
const PROJECTS: usize = 20;
const CHANGES_EACH: u32 = 10;

/// What somebody has not seen yet of a project.
#[derive(Serialize)]
struct UnseenChanges {
    project: String,
    /// How many changes.
    unread: u64,
    /// The number of the last one.
    last: u64,
    /// The last ones.
    changes: Vec<ReportRow>,
}

#[derive(Template)]
#[template(path = "unseen.html")]
struct UnseenPage<'a> {
    frame: Frame,
    cards: Vec<UnseenCard<'a>>,
    /// Projects that are not shown.
    more: usize,
}

/// A project with its changes.
struct UnseenCard<'a> {
    p: &'a str,
    unread: String,
    last: u64,
    rows: Vec<ChangeLine<'a>>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let (identity, board) = (request.identity()?.clone(), Arc::clone(&request.state.board));
    let shelf = request.state.desk.shelf();
    let (found, more) = request.work(move |home| unseen(home, &identity, (&board, &shelf))).await?;
    let page = UnseenPage { frame: request.frame(), cards: found.iter().map(card).collect(), more };
    request.page(&page, &found)
}

fn card(one: &UnseenChanges) -> UnseenCard<'_> {
    let rows = one.changes.iter().map(|row| line(row, Some(one.last - one.unread))).collect();
    UnseenCard { p: &one.project, unread: grouped(one.unread), last: one.last, rows }
}

/// The changes that somebody has not seen, and how many projects with some are left out.
fn unseen(
    home: &ServedHome,
    identity: &Identity,
    (board, shelf): (&StatusBoard, &OpenShelf),
) -> Result<(Vec<UnseenChanges>, usize), ProblemDetails> {
    let mut known = Vec::new();
    for project in home.list()?.into_iter().filter(|project| identity.may(Right::Read, &project.name)) {
        let seen = home.accounts().seen(identity.user.id, &project.name)?;
        // One that cannot be read is told of where the projects are listed.
        let Ok(last) = board.last_change(&project) else { continue };
        let began = board.last_run(&project)?.map_or(Moment(0), |run| run.started_at);
        if last > seen {
            known.push((Reverse(began), project, last, last - seen));
        }
    }
    known.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
    let more = known.len().saturating_sub(PROJECTS);
    let changes = known.into_iter().take(PROJECTS).map(|(_, project, last, unread)| {
        let name = project.name.clone();
        let mut changes = shelf.ask(project, |collection| changes_before(collection, None, &CHANGES, CHANGES_EACH))?;
        changes.retain(|row| row.seq > Some(last - unread));
        Ok(UnseenChanges { project: name, unread, last, changes })
    });
    Ok((changes.collect::<Result<_, ProblemDetails>>()?, more))
}
