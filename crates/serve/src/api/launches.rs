//! How does a program start, stop and acknowledge runs?

use crate::launch::{LaunchState, RunWish, acknowledge_run, start_run, stop_run};
use crate::openapi::{AskedHeaders, RouteShape};
use crate::problem::{Handled, ProblemDetails};
use crate::repeats::RepeatedRequest;
use crate::request::{AdmittedRequest, json, text_of};
use crate::routes::{Right, RouteRow};
use axum::response::Response;
use http::StatusCode;
use http::header::{HeaderName, HeaderValue, LOCATION};
use orb_answers::AckRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::post("/api/v1/projects/{p}/runs", Right::Run, |request| Box::pin(start(request)), "Start a run")
        .shaped(RouteShape::gives::<StartedRun>().takes::<RunWish>().status(202).hears(KEYED, &[])),
    RouteRow::post(
        "/api/v1/projects/{p}/runs/{n}/stop",
        Right::Run,
        |request| Box::pin(stop(request)),
        "Ask a run to end with everything saved",
    )
    .shaped(RouteShape::NOTHING.status(202)),
    RouteRow::post(
        "/api/v1/projects/{p}/runs/{n}/ack",
        Right::Run,
        |request| Box::pin(acknowledge(request)),
        "Acknowledge the changes of a run and of all before it",
    )
    .shaped(RouteShape::gives::<AckRow>().takes::<AckWish>()),
];

/// By which a client that repeats a request says so.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

const KEYED: AskedHeaders =
    &[("Idempotency-Key", "Up to 200 characters: the same request with the same key starts nothing again")];

/// The longest key.
const LONGEST_KEY: usize = 200;

/// A run that was started.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct StartedRun {
    /// The project.
    project: String,
    /// What it does.
    kind: &'static str,
    /// Its number; `None` if it has none yet, or there was nothing to do.
    run: Option<u32>,
    /// `starting`, `running` or `ended`.
    state: &'static str,
}

/// What is said about an acknowledgement.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AckWish {
    /// A note.
    note: Option<String>,
}

async fn start(request: AdmittedRequest) -> Handled {
    let wish: RunWish = request.json()?;
    let project = request.project()?.name.clone();
    let key = text_of(&request.parts.headers, &KEY);
    if key.len() > LONGEST_KEY {
        return Err(ProblemDetails::malformed(format!("an Idempotency-Key has at most {LONGEST_KEY} characters")));
    }
    let user = request.user()?.id;
    let key = (!key.is_empty()).then(|| format!("{user} {project} {key}"));
    let first = match key.map(|key| request.state.repeats.begin(key, &wish)).transpose()? {
        Some(RepeatedRequest::Answered(before)) => return respond(&before),
        Some(RepeatedRequest::First(first)) => Some(first),
        None => None,
    };
    let kind = wish.kind.name();
    let (state, run) = match start_run(&request, wish).await? {
        LaunchState::Starting => ("starting", None),
        LaunchState::Running(run) => ("running", Some(run)),
        LaunchState::Ended(record) => ("ended", record.run),
    };
    let started = StartedRun { project, kind, run, state };
    if let Some(first) = first {
        first.answered(&started);
    }
    respond(&started)
}

fn respond(started: &StartedRun) -> Handled {
    let mut response = json(started)?;
    *response.status_mut() = StatusCode::ACCEPTED;
    let run = started.run.map(|run| format!("/{run}")).unwrap_or_default();
    let place = format!("/api/v1/projects/{}/runs{run}", started.project);
    response.headers_mut().extend(HeaderValue::from_str(&place).ok().map(|place| (LOCATION, place)));
    Ok(response)
}

async fn stop(request: AdmittedRequest) -> Handled {
    stop_run(&request).await?;
    let mut response = Response::new(axum::body::Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}

async fn acknowledge(request: AdmittedRequest) -> Handled {
    let AckWish { note } = if request.body.is_empty() { AckWish::default() } else { request.json()? };
    json(&acknowledge_run(&request, note).await?)
}
