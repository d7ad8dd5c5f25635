//! Which projects are there, and how are they?

use super::live::left;
use crate::launch::LaunchRecord;
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow, has_page};
use crate::shared::{ServedHome, SharedMark, ShownProject};
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{AnswerError, ProjectStatus, RunStanding, StatusBoard, grouped};
use orb_crawl::machine::MachineState;
use orb_crawl::why;
use orb_page::{Moment, RunState};
use orb_project::{ProjectDir, disk_size, free_space};
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
    /// What somebody should look at, and how much more of that there is.
    concerns: Vec<HomeConcern>,
    more_concerns: usize,
    machine: HomeMachine,
    today: HomeDay,
}

/// Something about a project that somebody should look at.
struct HomeConcern {
    project: String,
    what: String,
    /// Where it can be seen.
    path: String,
}

/// How the machine is.
struct HomeMachine {
    disk: String,
    disk_used: u64,
    load: Option<String>,
    running: usize,
}

/// What is still to be run today.
struct HomeDay {
    due: usize,
    /// The next project, and when.
    next: Option<(String, String)>,
}

/// Concerns that are listed.
const CONCERNS: usize = 8;

/// A day, in milliseconds.
const DAY: i64 = 86_400_000;

/// A project in the list.
struct HomeRow {
    name: String,
    /// Why nothing is known of it.
    problem: Option<String>,
    run: Option<u32>,
    running: bool,
    is_linked: bool,
    kind: String,
    /// Whether the last run was a crawl: what it could not fetch was never a document.
    is_crawl: bool,
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
    /// Whether the last run that was started here failed.
    has_failed: bool,
    /// When it will run until the end of the day.
    due: Vec<String>,
    /// How fast the run is that goes on, and how long it will take.
    pace: Option<String>,
}

/// All that the page shows.
struct HomeState {
    all: Vec<ShownProject>,
    figures: Vec<HomeFigures>,
    disk: u64,
    free: u64,
}

async fn show(request: AdmittedRequest) -> Handled {
    let identity = request.identity()?.clone();
    let state = Arc::clone(&request.state);
    let known = move |home: &ServedHome| {
        let mut projects = home.list()?;
        projects.extend(home.to_come());
        projects.retain(|project| identity.may(Right::Read, &project.name));
        projects.sort_by(|a, b| a.name.cmp(&b.name));
        let all: Vec<ShownProject> = projects.iter().map(|project| state.listed(project)).collect();
        let figures = projects.iter().zip(&all).map(|(project, listed)| {
            if listed.problem.is_some() || !project.dir.exists() {
                return Ok(HomeFigures::default());
            }
            let seen = home.accounts().seen(identity.user.id, &project.name)?;
            figures(&state.board, project, seen)
        });
        let figures = figures.collect::<Result<_, AnswerError>>()?;
        let (disk, free) = (disk_size(home.path())?, free_space(home.path())?);
        Ok::<_, AnswerError>(HomeState { all, figures, disk, free })
    };
    let HomeState { all, figures, disk, free } = request.work(known).await?;
    let user = request.user()?;
    let mut concerns: Vec<HomeConcern> = all.iter().zip(&figures).flat_map(|(one, more)| concerns(one, more)).collect();
    let more_concerns = concerns.len().saturating_sub(CONCERNS);
    concerns.truncate(CONCERNS);
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
        concerns,
        more_concerns,
        machine: machine(&all, (disk, free)),
        today: today(&all, &figures),
    };
    request.page(&page, &all)
}

/// What is known of a project beside its state, for somebody who has seen its changes up to one.
fn figures(board: &StatusBoard, project: &ProjectDir, seen: u64) -> Result<HomeFigures, AnswerError> {
    let now = Moment::now();
    let midnight = Moment((now.0.div_euclid(DAY) + 1) * DAY - 1);
    // The page of the schedule tells of settings that cannot be read.
    let upcoming = board.upcoming(project, now, midnight).ok().flatten();
    Ok(HomeFigures {
        size: board.size(project)?,
        unread: board.last_change(project)?.saturating_sub(seen),
        held_by: board.held_by(project)?,
        trend: board.trend(project)?,
        has_failed: LaunchRecord::read(project).is_some_and(|record| record.has_failed()),
        due: upcoming.map(|upcoming| upcoming.due).unwrap_or_default(),
        pace: board.status(project)?.running.then(|| pace(project)).flatten(),
    })
}

/// The pace of a run, as it has written it down.
fn pace(project: &ProjectDir) -> Option<String> {
    let speed = why(project).ok()?;
    let left = match left(Some(&speed)) {
        none if none == "–" => String::new(),
        left => format!(", {left} left"),
    };
    Some(format!("{:.1} pages/s{left}", speed.now.pages_per_second))
}

/// What somebody should look at. Documents that are missing or in error are looked at with the
/// changes that one has not seen yet.
fn concerns(listed: &ShownProject, figures: &HomeFigures) -> Vec<HomeConcern> {
    let (status, name) = (&listed.status, &listed.status.project);
    let run = status.run.unwrap_or_default();
    let flags = &status.counters.flags;
    let count = |n: u64, word: &str| (n > 0 && figures.unread > 0).then(|| format!("{} {word}", grouped(n)));
    let has_nothing = status.counters.pages == 0 && status.counters.errors > 0 && !status.running;
    // The report of a crawl has documents alone; what it could not fetch never was one.
    let failures = match status.kind.as_deref() {
        Some("crawl") => format!("/p/{name}/pages?kind=FAILED"),
        _ => format!("/p/{name}/runs/{run}?flag=ERR"),
    };
    let is_cut_off = status.state == Some(RunStanding::Interrupted);
    let found = [
        (listed.problem.clone(), format!("/p/{name}/check")),
        (figures.has_failed.then(|| "its last start failed".to_owned()), format!("/p/{name}/run")),
        (has_nothing.then(|| "nothing could be fetched".to_owned()), format!("/p/{name}/runs/{run}")),
        (is_cut_off.then(|| format!("run {run} was cut off")), format!("/p/{name}/run")),
        (figures.held_by.map(|run| format!("run {run} waits for you")), format!("/p/{name}/runs/{run}")),
        (count(flags.missing, "missing"), format!("/p/{name}/runs/{run}?flag=MIS")),
        (count(flags.error, "in error"), failures),
    ];
    let concern =
        |(what, path): (Option<String>, String)| Some(HomeConcern { project: name.clone(), what: what?, path });
    found.into_iter().filter_map(concern).collect()
}

fn machine(all: &[ShownProject], (disk, free): (u64, u64)) -> HomeMachine {
    let used = disk.saturating_sub(free);
    let now = MachineState::now();
    HomeMachine {
        disk: format!("{} of {}", bytes(used), bytes(disk)),
        disk_used: used * 100 / disk.max(1),
        load: now.load.map(|load| format!("{:.1} on {} cores", load[0], now.cores)),
        running: all.iter().filter(|project| project.status.running).count(),
    }
}

fn today(all: &[ShownProject], figures: &[HomeFigures]) -> HomeDay {
    let first = |(project, figures): (&ShownProject, &HomeFigures)| {
        figures.due.first().map(|at| (at.clone(), project.status.project.clone()))
    };
    let next = all.iter().zip(figures).filter_map(first).min();
    HomeDay {
        due: figures.iter().map(|figures| figures.due.len()).sum(),
        next: next.map(|(at, project)| (project, clock(&at))),
    }
}

/// The hour and minute of a moment.
fn clock(at: &str) -> String {
    let civil = Moment::parse(at).map(Moment::civil);
    civil.map_or_else(|| at.to_owned(), |civil| format!("{:02}:{:02} UTC", civil.hour, civil.minute))
}

fn row(listed: &ShownProject, figures: &HomeFigures) -> HomeRow {
    let ShownProject { status: project, shared, problem } = listed;
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
        problem: problem.clone(),
        run: project.run,
        running: project.running,
        is_linked: has_page("/p/{p}"),
        kind,
        is_crawl: project.kind.as_deref() == Some("crawl"),
        pages: grouped(project.counters.pages),
        state: project.state.map_or("new", RunStanding::name),
        chip,
        flags: flags.into_iter().filter(|(_, n)| *n > 0).map(|(flag, n)| (flag, grouped(n))).collect(),
        held_by: figures.held_by,
        unread: (figures.unread > 0).then(|| grouped(figures.unread)),
        when: figures.pace.clone().unwrap_or_else(|| {
            project.finished_at.as_deref().or(project.started_at.as_deref()).map(minute).unwrap_or_default()
        }),
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
