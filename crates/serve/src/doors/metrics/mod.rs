//! How is the server, in Prometheus' terms?
//!
//! Only the projects that whoever asks may read: a monitoring system gets a token.

mod run;

use crate::exposition::Exposition;
use crate::problem::Handled;
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::state::{REQUESTS_AT_ONCE, STREAMS_AT_ONCE};
use orb_answers::{AnswerError, ProjectStatus, RunStanding};
use orb_crawl::{SpeedFacts, machine};
use orb_page::RunId;
use orb_project::free_space;
use run::{WatchedRun, runs};

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/metrics", Right::SignedIn, |request| Box::pin(tell(request)), "The server's metrics")];

async fn tell(request: AdmittedRequest) -> Handled {
    let identity = request.identity()?.clone();
    let board = std::sync::Arc::clone(&request.state.board);
    let known = move |home: &ServedHome| {
        let mut projects = home.list()?;
        projects.retain(|project| identity.may(Right::Read, &project.name));
        // One that cannot be read is missing; the others are told of.
        let all: Vec<_> = projects.iter().filter_map(|project| board.status(project).ok()).collect();
        let under_way = all.iter().filter(|project| project.running).filter_map(|project| {
            let facts = SpeedFacts::read(&home.find(&project.project).ok()?, RunId(project.run?))?;
            Some(WatchedRun { project: project.project.clone(), counters: project.counters.clone(), facts })
        });
        let under_way: Vec<WatchedRun> = under_way.collect();
        Ok::<_, AnswerError>((all, under_way, free_space(home.path()).ok()))
    };
    let (all, watched, free) = request.work(known).await?;
    let mut page = Exposition::default();
    let state = &request.state;
    page.family("orb_build_info", "gauge", "The program that serves.");
    page.sample("orb_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let under_way = REQUESTS_AT_ONCE - state.requests.available_permits();
    page.alone("orb_server_requests", "gauge", "Requests under way.", under_way);
    page.alone("orb_server_uptime_seconds", "gauge", "Time since the start.", state.started.elapsed().as_secs());
    let streams = STREAMS_AT_ONCE - state.streams.available_permits();
    page.alone("orb_server_event_streams", "gauge", "Streams of events that are open.", streams);
    if let Some(free) = free {
        page.alone("orb_home_free_bytes", "gauge", "Free space where the home is.", free);
    }
    projects(&mut page, &all);
    runs(&mut page, &watched);
    page.alone("process_cpu_seconds_total", "counter", "Processor time used.", machine::cpu_seconds());
    if let Some(bytes) = machine::resident() {
        page.alone("process_resident_memory_bytes", "gauge", "Memory in use.", bytes);
    }
    Ok(typed("text/plain; version=0.0.4; charset=utf-8", page.text()))
}

/// What is known of each project's last run.
fn projects(page: &mut Exposition, all: &[ProjectStatus]) {
    type Value = fn(&ProjectStatus) -> u64;
    let families: [(&str, &str, Value); 12] = [
        ("orb_project_running", "Whether a process is using the project.", |p| u64::from(p.running)),
        ("orb_project_run", "The number of the last run.", |p| u64::from(p.run.unwrap_or(0))),
        ("orb_project_run_pages", "Pages recorded by the last run.", |p| p.counters.pages),
        ("orb_project_run_errors", "Pages of the last run that failed.", |p| p.counters.errors),
        ("orb_project_run_bytes", "Bytes transferred by the last run.", |p| p.counters.bytes),
        ("orb_project_run_hosts", "Hosts of which the last run fetched a page.", |p| p.counters.hosts),
        ("orb_project_run_discovered", "Pages that the last run discovered.", |p| p.counters.discovered),
        ("orb_project_run_new", "Documents that the last run found new.", |p| p.counters.flags.new),
        ("orb_project_run_updated", "Documents that the last run found updated.", |p| p.counters.flags.updated),
        ("orb_project_run_missing", "Documents that the last run found missing.", |p| p.counters.flags.missing),
        ("orb_project_run_interrupted", "Whether the last run was cut off.", |p| {
            u64::from(p.state == Some(RunStanding::Interrupted))
        }),
        ("orb_project_queued_pages", "Pages still queued.", |p| p.counters.frontier),
    ];
    for (name, help, value) in families {
        page.family(name, "gauge", help);
        all.iter().for_each(|project| page.sample(name, &[("project", &project.project)], value(project)));
    }
}
