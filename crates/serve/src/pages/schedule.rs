//! When are the projects due, now and on the days to come?

use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::Frame;
use askama::Template;
use orb_answers::{DueProject, UpcomingRuns};
use orb_page::Moment;
use orb_project::StoreError;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/schedule", Right::SignedIn, |request| Box::pin(show(request)), "When the projects are due")];

/// A day, in milliseconds, and how many of them are shown.
const DAY: i64 = 86_400_000;
const DAYS: i64 = 7;

/// Times of one day that are shown one by one.
const TIMES: usize = 4;

/// When projects are due.
#[derive(Serialize, JsonSchema)]
struct DueTable {
    /// The projects with a schedule, the next first.
    due: Vec<DueProject>,
    /// When they are due within the next seven days.
    week: Vec<UpcomingRuns>,
    /// Projects of which that cannot be said, and why.
    unknown: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "schedule.html")]
struct SchedulePage<'a> {
    frame: Frame,
    table: &'a DueTable,
    days: Vec<String>,
    rows: Vec<WeekRow<'a>>,
}

/// A project on the days of the week.
struct WeekRow<'a> {
    runs: &'a UpcomingRuns,
    days: Vec<String>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let identity = request.identity()?.clone();
    let board = Arc::clone(&request.state.board);
    let now = Moment::now();
    // Whole days, by the clock that pages show.
    let today = now.0.div_euclid(DAY);
    let until = Moment((today + DAYS) * DAY - 1);
    let look = move |home: &ServedHome| {
        let mut table = DueTable { due: Vec::new(), week: Vec::new(), unknown: Vec::new() };
        for project in home.list()?.iter().filter(|project| identity.may(Right::Read, &project.name)) {
            match board.due(project, now).and_then(|due| Ok((due, board.upcoming(project, now, until)?))) {
                Ok((due, upcoming)) => {
                    table.due.extend(due);
                    table.week.extend(upcoming);
                }
                Err(error) => table.unknown.push((project.name.clone(), error.to_string())),
            }
        }
        table.due.sort_by(|a, b| (a.due.is_none(), &a.due).cmp(&(b.due.is_none(), &b.due)));
        Ok::<_, StoreError>(table)
    };
    let table = request.work(look).await?;
    let row = |runs| WeekRow { runs, days: (today..today + DAYS).map(|day| on(day, runs)).collect() };
    let page = SchedulePage {
        frame: request.frame(),
        days: (today..today + DAYS).map(|day| day_name(day, today)).collect(),
        rows: table.week.iter().map(row).collect(),
        table: &table,
    };
    request.page(&page, &table)
}

/// The name of a day, counted from 1970.
fn day_name(day: i64, today: i64) -> String {
    const NAMES: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let name = NAMES[usize::try_from(day.rem_euclid(7)).unwrap_or(0)];
    let date = Moment(day * DAY).civil();
    if day == today { "Today".to_owned() } else { format!("{name} {}", date.day) }
}

/// When a project is due on a day.
fn on(day: i64, runs: &UpcomingRuns) -> String {
    let moments = runs.due.iter().filter_map(|at| Moment::parse(at));
    let times: Vec<Moment> = moments.filter(|at| at.0.div_euclid(DAY) == day).collect();
    let clock = |at: &Moment| {
        let civil = at.civil();
        format!("{:02}:{:02}", civil.hour, civil.minute)
    };
    match (times.first(), times.last()) {
        (Some(first), Some(last)) if times.len() > TIMES => {
            format!("{} × {}–{}", times.len(), clock(first), clock(last))
        }
        _ => times.iter().map(clock).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_shows_its_times_or_how_many_there_are() {
        let due = |times: &[&str]| UpcomingRuns {
            project: "p".into(),
            due: times.iter().map(|time| format!("2026-11-18T{time}:00Z")).collect(),
            budget: None,
        };
        let day = Moment::parse("2026-11-18T00:00:00Z").unwrap().0 / DAY;
        assert_eq!(on(day, &due(&["06:30", "14:30"])), "06:30 14:30");
        assert_eq!(on(day, &due(&["00:00", "05:00", "10:00", "15:00", "20:00"])), "5 × 00:00–20:00");
        assert_eq!(on(day + 1, &due(&["06:30"])), "");
        assert_eq!((day_name(day, day), day_name(day, day - 1)), ("Today".into(), "Wed 18".into()));
    }
}
