//! What runs when?

use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::view::Frame;
use askama::Template;
use orb_answers::DueProject;
use orb_page::Moment;
use orb_project::{Home, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/schedule", Right::SignedIn, |request| Box::pin(show(request)), "When the projects are due")];

/// When projects are due.
#[derive(Serialize, JsonSchema)]
struct DueTable {
    /// The projects with a schedule, the next first.
    due: Vec<DueProject>,
    /// Projects of which that cannot be said, and why.
    unknown: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "schedule.html")]
struct SchedulePage<'a> {
    frame: Frame,
    table: &'a DueTable,
}

async fn show(request: AdmittedRequest) -> Handled {
    let identity = request.identity()?.clone();
    let board = Arc::clone(&request.state.board);
    let look = move |home: &Home| {
        let mut table = DueTable { due: Vec::new(), unknown: Vec::new() };
        for project in home.list()?.iter().filter(|project| identity.may(Right::Read, &project.name)) {
            match board.due(project, Moment::now()) {
                Ok(found) => table.due.extend(found),
                Err(error) => table.unknown.push((project.name.clone(), error.to_string())),
            }
        }
        table.due.sort_by(|a, b| (a.due.is_none(), &a.due).cmp(&(b.due.is_none(), &b.due)));
        Ok::<_, StoreError>(table)
    };
    let table = request.work(look).await?;
    request.page(&SchedulePage { frame: request.frame(), table: &table }, &table)
}
