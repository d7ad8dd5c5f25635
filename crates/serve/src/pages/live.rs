//! How is a run going, and why not faster?

use super::pace::{PaceChart, chart};
use super::project::is_unfinished;
use super::team::TeamCard;
use super::web::{WebChart, web_chart};
use crate::fragments::{self, StreamPiece};
use crate::gate::without_port;
use crate::launch::asked_by;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow, has_page};
use crate::state::AppState;
use crate::view::{Frame, bytes, minute};
use askama::Template;
use http::StatusCode;
use orb_answers::{
    AnswerError, HostWeb, NewestRow, ProjectStatus, RunStanding, SharedStatus, grouped, host_web, is_shared_copy,
    newest,
};
use orb_crawl::{SpeedAccount, why};
use orb_page::{Moment, RunId};
use orb_project::ProjectDir;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/runs/{n}/live", Right::Read, |request| Box::pin(show(request)), "A run while it runs"),
    RouteRow::get("/p/{p}/runs/{n}/events", Right::Read, |request| Box::pin(events(request)), "The same as events"),
];

/// Newest pages that are shown.
const NEWEST: u32 = 8;

/// A run while it runs.
#[derive(Serialize, JsonSchema)]
struct LiveRun {
    /// The state of the project.
    status: ProjectStatus,
    /// Who asked for the run.
    asked_by: Option<String>,
    /// How fast it is, and why; `None` if it has not written anything down yet.
    speed: Option<SpeedAccount>,
    /// The pages that were recorded last.
    newest: Vec<NewestRow>,
    /// The hosts that are visited, and which leads to which.
    web: HostWeb,
    /// The machines that work on it, where it is on a shared store.
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<SharedStatus>,
}

#[derive(Template)]
#[template(path = "live.html")]
struct LivePage {
    frame: Frame,
    may_run: bool,
    may_edit: bool,
    body: LiveBody,
}

#[derive(Template)]
#[template(path = "live_body.html")]
struct LivePiece {
    body: LiveBody,
}

/// What changes while a run goes on.
struct LiveBody {
    name: String,
    run: u32,
    kind: String,
    state: String,
    running: bool,
    /// Whether it ended before it had done everything.
    is_unfinished: bool,
    since: String,
    by: Option<String>,
    pages: String,
    rate: String,
    queued: String,
    line: String,
    hosts: String,
    errors: String,
    left: String,
    /// Whether more is found than visited, so that nobody knows when it ends.
    is_growing: bool,
    say: Vec<String>,
    pace: Option<PaceChart>,
    web: Option<WebChart>,
    newest: Vec<ShownVisit>,
    waiting: Vec<ShownHost>,
    /// The machines that work on it, where it is on a shared store.
    team: Option<TeamCard>,
}

/// A page that was recorded.
struct ShownVisit {
    chip: &'static str,
    status: String,
    title: String,
    url: String,
    link: Option<String>,
}

/// A host that waits.
struct ShownHost {
    host: String,
    /// Where it is listed.
    hosts: String,
    queued: String,
    /// Where its pages are that wait.
    queue: String,
    why: String,
    until: String,
}

/// What is known about the run of this number, which must be the last.
fn look(state: &AppState, project: &ProjectDir, run: u32) -> Result<LiveRun, ProblemDetails> {
    let gone = || ProblemDetails::not_found(format!("run {run} of project {} is not the last one", project.name));
    let status = state.board.status(project)?;
    let shared = state.shared.as_ref().filter(|_| is_shared_copy(project));
    let machines = shared.and_then(|shared| {
        shared.want(&project.name);
        shared.machines(&project.name)
    });
    if status.run != Some(run) {
        let is_newer = machines.is_some_and(|machines| machines.run == Some(run));
        return Err(if is_newer { ProblemDetails::copying(&project.name, false) } else { gone() });
    }
    let (newest, web) = state.desk.shelf().ask(project.clone(), |collection| {
        Ok::<_, AnswerError>((newest(collection, NEWEST)?, host_web(collection, RunId(run))?))
    })?;
    let speed = why(project).ok().filter(|speed| speed.run == run);
    Ok(LiveRun { asked_by: asked_by(project, run), status, speed, newest, web, machines })
}

fn body(live: &LiveRun) -> LiveBody {
    let (status, counters) = (&live.status, &live.status.counters);
    let speed = live.speed.as_ref();
    let running = status.state.is_some_and(RunStanding::is_running);
    let now = speed.filter(|_| running).map(|speed| &speed.now);
    let team = live.machines.as_ref().filter(|_| running);
    let pace = team.map(|team| team.workers.iter().map(|worker| f64::from(worker.pages_per_second)).sum::<f64>());
    let pace = now.map(|now| now.pages_per_second).or(pace);
    let waiting_there = team.map(|team| team.workers.iter().map(|worker| worker.queued).sum::<u64>());
    let visit = |row: &NewestRow| shown(&status.project, row);
    LiveBody {
        name: status.project.clone(),
        run: status.run.unwrap_or_default(),
        kind: status.kind.clone().unwrap_or_default(),
        running,
        is_unfinished: status.state.is_some_and(is_unfinished),
        since: status.started_at.as_deref().map(minute).unwrap_or_default(),
        by: live.asked_by.clone(),
        pages: grouped(counters.pages),
        rate: pace.map_or_else(String::new, |pace| format!(", {pace:.1} /s")),
        queued: grouped(speed.map(|speed| speed.queued).or(waiting_there).unwrap_or(counters.frontier)),
        line: now.map_or_else(|| bytes(counters.bytes), |now| format!("{}/s", bytes(whole(now.bytes_per_second)))),
        hosts: grouped(counters.hosts),
        errors: grouped(counters.errors),
        left: left(speed),
        is_growing: speed.is_some_and(|speed| speed.eta_seconds.is_none() && speed.queued > 0),
        say: nothing_fetched(live).unwrap_or_else(|| speed.map(say).unwrap_or_default()),
        pace: speed.and_then(|speed| chart(&speed.pace)),
        web: web_chart(&live.web, &status.project),
        newest: live.newest.iter().map(visit).collect(),
        waiting: speed.filter(|_| running).map(|speed| waiting(&status.project, speed)).unwrap_or_default(),
        team: team.map(TeamCard::of),
        state: status.state.map_or_else(String::new, |state| state.to_string()),
    }
}

/// How long it will take, at least if the queue still grows.
pub(super) fn left(speed: Option<&SpeedAccount>) -> String {
    let unknown = || "–".to_owned();
    let Some(speed) = speed else { return unknown() };
    match (speed.eta_seconds, speed.now.pages_per_second) {
        (Some(seconds), _) => format!("≈ {}", time_left(seconds)),
        (None, rate) if rate > 0.0 => format!("≥ {}", time_left(speed.queued as f64 / rate)),
        _ => unknown(),
    }
}

/// What takes the time, most important first. Here settings are no flags.
fn say(speed: &SpeedAccount) -> Vec<String> {
    let pause = speed.pause.iter().chain(&speed.schedule).cloned();
    let plain = |text: &str| text.replace("; --delay ", "; a delay of ").replace(" --", " ");
    pause.chain(speed.advice.iter().take(2).map(|advice| plain(&advice.text))).collect()
}

/// What there is to say of a run that is over and has fetched nothing.
fn nothing_fetched(live: &LiveRun) -> Option<Vec<String>> {
    let LiveRun { status, newest, .. } = live;
    if status.running || status.counters.pages > 0 || status.counters.errors == 0 {
        return None;
    }
    let failed = newest.iter().find_map(|row| row.problem.as_ref().map(|why| format!(": {}: {why}", row.url)));
    Some(vec![format!("nothing could be fetched{}", failed.unwrap_or_default())])
}

fn waiting(project: &str, speed: &SpeedAccount) -> Vec<ShownHost> {
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let row = |host: &orb_crawl::WaitingHost| ShownHost {
        host: host.host.clone(),
        hosts: format!("/p/{project}/hosts?name={}", encoded(without_port(&host.host))),
        queued: grouped(host.queued),
        queue: format!("/p/{project}/queue?url={}", encoded(&format!("://{}/", host.host))),
        why: host.why.clone(),
        until: host.until.as_deref().map(from_now).unwrap_or_default(),
    };
    speed.hosts.iter().map(row).collect()
}

fn shown(project: &str, row: &NewestRow) -> ShownVisit {
    let is_good = row.status.is_some_and(|status| status < 400);
    ShownVisit {
        chip: if is_good { "NEW" } else { "MIS" },
        status: row.status.map_or_else(|| "–".to_owned(), |status| status.to_string()),
        title: row.title.clone().or(row.problem.clone()).unwrap_or_default(),
        url: row.url.clone(),
        link: has_page("/p/{p}/pages/{id}").then(|| format!("/p/{project}/pages/{}", row.page_id)),
    }
}

/// How long it is until a moment.
fn from_now(at: &str) -> String {
    let seconds = |at: Moment| at.0.saturating_sub(Moment::now().0).max(0) as f64 / 1e3;
    Moment::parse(at).map_or_else(|| at.to_owned(), |at| time_left(seconds(at)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a figure that is shown")]
fn whole(figure: f64) -> u64 {
    figure as u64
}

/// Seconds in words, rounded to what matters.
pub(super) fn time_left(seconds: f64) -> String {
    match whole(seconds) {
        0 => "less than 1 s".to_owned(),
        seconds @ 1..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h {:02}", seconds / 3_600, seconds % 3_600 / 60),
        seconds => format!("{} days", seconds / 86_400),
    }
}

async fn show(request: AdmittedRequest) -> Handled {
    let (project, run) = (request.project()?.clone(), request.number("n")?);
    let [may_run, may_edit] = [Right::Run, Right::Edit].map(|right| request.may(right));
    let state = Arc::clone(&request.state);
    let found = request.work(move |_| look(&state, &project, run)).await;
    // Of a run before the last there is nothing to watch, and a report to read.
    let live = match found {
        Err(problem) if problem.status == StatusCode::NOT_FOUND && !request.wants_json() => {
            request.ask(move |collection| orb_answers::run(collection, run)).await?;
            return AdmittedRequest::redirect(&format!("/p/{}/runs/{run}", request.project()?.name));
        }
        found => found?,
    };
    request.page(&LivePage { frame: request.frame(), may_run, may_edit, body: body(&live) }, &live)
}

async fn events(request: AdmittedRequest) -> Handled {
    let (project, run): (ProjectDir, u32) = (request.project()?.clone(), request.number("n")?);
    let (first, state) = (project.clone(), Arc::clone(&request.state));
    // Before anything is promised: is there such a run?
    request.work(move |_| look(&state, &first, run)).await?;
    let (state, what) = (Arc::clone(&request.state), format!("{}/{run}", project.dir.display()));
    let piece = move || {
        let (state, project) = (Arc::clone(&state), project.clone());
        let looking = async move {
            let looked_at = Arc::clone(&state);
            let live = state.desk.work(move |_| look(&looked_at, &project, run)).await??;
            let body = body(&live);
            let is_last = !body.running;
            Ok(StreamPiece::new(&LivePiece { body }.render()?, is_last))
        };
        Box::pin(looking) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>
    };
    fragments::respond(&request.state, what, Box::new(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_as_people_say_it() {
        assert_eq!([5.9, 61.0, 7_800.0, 200_000.0].map(time_left), ["5 s", "1 min", "2 h 10", "2 days"]);
    }
}
