//! Which projects are there, and how are they?

use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow, has_page};
use crate::shared::{ServedHome, SharedMark, ShownProject};
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{AnswerError, ProjectStatus, RunStanding, grouped};
use orb_page::RunState;
use orb_project::{ProjectDir, free_space};
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/", Right::SignedIn, |request| Box::pin(show(request)), "The projects and their state")];

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    frame: Frame,
    user: &'a str,
    is_admin: bool,
    can_make: bool,
    suggestion: &'a str,
    count: String,
    size: String,
    free: String,
    rows: Vec<HomeRow>,
}

/// A project in the list.
struct HomeRow {
    name: String,
    running: bool,
    is_linked: bool,
    kind: String,
    pages: String,
    state: &'static str,
    chip: &'static str,
    flags: Vec<(&'static str, String)>,
    /// Changes that were not seen yet, if that is more than none.
    unread: Option<String>,
    /// The run that must be acknowledged before the next one begins.
    held_by: Option<u32>,
    when: String,
    next: String,
    size: String,
    trend: Vec<SparkBar>,
    /// What one most likely wants to see of it, and where that is.
    go_to: (&'static str, String),
    /// That it is on the shared store, and how old this is.
    shared: Option<String>,
}

/// The changes of one run.
struct SparkBar {
    x: usize,
    y: String,
    height: String,
}

/// What is known of a project beside its state.
#[derive(Default)]
struct HomeFigures {
    size: u64,
    unread: u64,
    held_by: Option<u32>,
    trend: Vec<u64>,
}

async fn show(request: AdmittedRequest) -> Handled {
    let identity = request.identity()?.clone();
    let state = Arc::clone(&request.state);
    let known = move |home: &ServedHome| {
        let (mut projects, board) = (home.list()?, &state.board);
        projects.extend(home.to_come());
        projects.retain(|project| identity.may(Right::Read, &project.name));
        projects.sort_by(|a, b| a.name.cmp(&b.name));
        let all: Vec<ShownProject> = projects.iter().map(|project| state.shown(project)).collect::<Result<_, _>>()?;
        let figures = |project: &ProjectDir| {
            if !project.dir.exists() {
                return Ok(HomeFigures::default());
            }
            let seen = home.accounts().seen(identity.user.id, &project.name)?;
            let unread = board.last_change(project)?.saturating_sub(seen);
            let (size, held_by, trend) = (board.size(project)?, board.held_by(project)?, board.trend(project)?);
            Ok::<_, AnswerError>(HomeFigures { size, unread, held_by, trend })
        };
        let figures: Vec<HomeFigures> = projects.iter().map(figures).collect::<Result<_, _>>()?;
        Ok::<_, AnswerError>((all, figures, free_space(home.path())?))
    };
    let (all, figures, free) = request.work(known).await?;
    let user = request.user()?;
    let page = HomePage {
        frame: request.frame(),
        user: &user.name,
        is_admin: user.admin,
        can_make: user.admin && has_page("/new"),
        suggestion: request.state.suggestion.as_deref().unwrap_or_default(),
        count: if all.len() == 1 { "1 collection".to_owned() } else { format!("{} collections", all.len()) },
        size: bytes(figures.iter().map(|figures| figures.size).sum()),
        free: bytes(free),
        rows: all.iter().zip(&figures).map(|(project, figures)| row(project, figures)).collect(),
    };
    request.page(&page, &all)
}

fn row(listed: &ShownProject, figures: &HomeFigures) -> HomeRow {
    let ShownProject { status: project, shared } = listed;
    let flags = &project.counters.flags;
    let flags = [("NEW", flags.new), ("UPD", flags.updated), ("MIS", flags.missing), ("ERR", flags.error)];
    let chip = match project.state {
        Some(RunStanding::Running) => " run",
        Some(RunStanding::Interrupted | RunStanding::Ended(RunState::Stopped)) => " hold",
        Some(RunStanding::Ended(_)) | None => "",
    };
    let kind = match (&project.kind, project.run) {
        (Some(kind), Some(run)) => format!("{kind}, run {run}"),
        _ => "nothing collected yet".to_owned(),
    };
    HomeRow {
        name: project.project.clone(),
        running: project.running,
        is_linked: has_page("/p/{p}"),
        kind,
        pages: grouped(project.counters.pages),
        state: project.state.map_or("new", RunStanding::name),
        chip,
        flags: flags.into_iter().filter(|(_, n)| *n > 0).map(|(flag, n)| (flag, grouped(n))).collect(),
        held_by: figures.held_by,
        unread: (figures.unread > 0).then(|| grouped(figures.unread)),
        when: project.finished_at.as_deref().or(project.started_at.as_deref()).map(minute).unwrap_or_default(),
        next: project.next_due.as_deref().map_or_else(|| "–".to_owned(), minute),
        size: bytes(figures.size),
        trend: spark(&figures.trend),
        go_to: go_to(project),
        shared: shared.as_ref().map(SharedMark::text),
    }
}

/// The changes of the last runs as bars.
fn spark(trend: &[u64]) -> Vec<SparkBar> {
    const HEIGHT: f64 = 24.0;
    let most = trend.iter().copied().max().unwrap_or(0).max(1) as f64;
    let bar = |(place, changes): (usize, &u64)| {
        let height = (*changes as f64 / most * HEIGHT).max(1.0);
        SparkBar { x: place * 10, y: format!("{:.1}", HEIGHT + 2.0 - height), height: format!("{height:.1}") }
    };
    trend.iter().enumerate().map(bar).collect()
}

/// A run that goes on is watched, one that has ended has a report, and a first one is started.
fn go_to(project: &ProjectStatus) -> (&'static str, String) {
    let name = &project.project;
    match (project.run, project.state) {
        (Some(run), Some(RunStanding::Running)) => ("Watch", format!("/p/{name}/runs/{run}/live")),
        (Some(run), _) => ("Report", format!("/p/{name}/runs/{run}")),
        (None, _) => ("Start", format!("/p/{name}/run")),
    }
}
