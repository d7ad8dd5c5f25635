//! May this request be answered at all, and for whom?
//!
//! Two steps, and nothing passes by default. [`front`] stands before everything: the request names
//! a host that is ours, does not come from another site's page, and there is room for it; whatever
//! is answered carries the security headers. [`pass`] stands before every handler, one for each row
//! of the table: who is asking, does the project exist, is the row's right there?
//!
//! Whoever may not know of a project gets the same answer as for one that does not exist.

mod front;
mod host;
mod identity;
mod known;
mod origin;
mod pack;
mod proxy;

pub(crate) use front::{Front, front, refuse};
pub use host::host_name;
pub(crate) use host::{AllowedHosts, without_port};
pub(crate) use identity::{IdentifiedBy, Identity, LINKS_AT_ONCE, links_shown};
pub(crate) use known::KnownVisitors;
pub(crate) use pack::{gzip, takes_gzip};
pub use proxy::ProxyRange;
pub(crate) use proxy::TrustedProxies;

use crate::accepted::prefers;
use crate::shared::ServedHome;
use identity::Shown;
use known::FoundVisitor;
use pack::HoldsSecret;

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, text_of};
use crate::routes::{Right, RouteRow, Verb};
use crate::state::AppState;
use crate::view::Frame;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use orb_answers::is_shared_copy;
use orb_project::{ProjectDir, StoreError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

/// How many bodies of requests are received at once; the others wait.
pub(crate) const BODIES_AT_ONCE: usize = 256;

/// The longest body of a request.
const LONGEST_BODY: usize = 1 << 20;

/// Marks a response whose request was let in, for the tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LetIn;

/// Lets a request through to a row's handler, or says why not.
pub(crate) async fn pass(state: Arc<AppState>, row: &'static RouteRow, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let (path, headers) = (parts.uri.path().to_owned(), parts.headers.clone());
    let mut identity = None;
    let admitted = admit(&state, row, &mut parts, &mut identity).await;
    let is_let_in = admitted.is_ok();
    let project = admitted.as_ref().ok().and_then(|(project, _)| project.clone());
    let shared = state.shared.clone();
    let answered = match admitted {
        Ok((project, params)) => match body_of(&state, row, &parts, body).await {
            Ok(body) => {
                let identity = identity.clone();
                let request = AdmittedRequest { state, identity, parts, body, project, params };
                answer(row, request).await
            }
            Err(problem) => Err(problem),
        },
        Err(problem) if asks_to_log_in(row, &headers, &problem) => AdmittedRequest::redirect(&log_in_at(&parts)),
        Err(problem) => Err(problem),
    };
    let told = |problem: ProblemDetails| {
        let frame = Frame::around(identity.as_ref(), &path, project.as_ref(), shared.as_ref());
        problem.respond(&path, &headers, frame)
    };
    let mut response = answered.unwrap_or_else(told);
    if is_let_in {
        response.extensions_mut().insert(LetIn);
    }
    if row.holds_secret {
        response.extensions_mut().insert(HoldsSecret);
    }
    response
}

/// Waits for its turn, and has a whole request that was let in answered.
async fn answer(row: &'static RouteRow, request: AdmittedRequest) -> Handled {
    let state = Arc::clone(&request.state);
    let _turn = state.requests.acquire().await.map_err(|_| ProblemDetails::busy("the server stops"))?;
    row.shape.map_or(Ok(()), |shape| shape.examine(&request.query()))?;
    handle(row, request).await
}

/// Somebody with a browser who is nobody yet is asked to log in.
fn asks_to_log_in(row: &RouteRow, headers: &http::HeaderMap, problem: &ProblemDetails) -> bool {
    let is_page = prefers(headers, "text/html", "application/json") && !row.path.starts_with("/api/");
    problem.status == StatusCode::UNAUTHORIZED && row.verb == Verb::Get && is_page
}

/// The log-in page that leads back here.
fn log_in_at(parts: &Parts) -> String {
    let here = parts.uri.path_and_query().map_or("/", |here| here.as_str());
    let next: String = url::form_urlencoded::byte_serialize(here.as_bytes()).collect();
    if here == "/" { "/login".to_owned() } else { format!("/login?next={next}") }
}

/// What is known of a request that may pass: its project and the parameters of its path.
type Passable = (Option<ProjectDir>, Vec<(String, String)>);

/// Checks the right of a row. Whoever asks is noted even if it is refused.
async fn admit(
    state: &Arc<AppState>,
    row: &'static RouteRow,
    parts: &mut Parts,
    identity: &mut Option<Identity>,
) -> Result<Passable, ProblemDetails> {
    let params = RawPathParams::from_request_parts(parts, &()).await.map_err(ProblemDetails::malformed)?;
    let params: Vec<(String, String)> = params.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    if row.right == Right::Open {
        return Ok((None, params));
    }
    let shown = identity::shown(&parts.headers, state.cookie_name());
    let name = params.iter().find(|(param, _)| param == "p").map(|(_, name)| name.clone());
    let as_guest = || recognise(state, identity::shown_by_guest(&parts.headers, state.cookie_name()), name.clone());
    let may_know = |(who, project): &FoundVisitor| project.as_ref().is_some_and(|project| who.may_know(&project.name));
    let (found, project) = match recognise(state, shown, name.clone()).await {
        // A session that has ended makes nobody see less than a guest does, and neither does one of
        // somebody who has a link.
        Err(problem) if row.for_guests && problem.status == StatusCode::UNAUTHORIZED => as_guest().await?,
        Ok(found) if row.for_guests && found.1.is_some() && !may_know(&found) => {
            as_guest().await.ok().filter(may_know).unwrap_or(found)
        }
        found => found?,
    };
    let who = identity.insert(found);
    let is_open = project.as_ref().is_some_and(|project| row.for_guests && who.may_know(&project.name));
    if who.is_guest() && !is_open {
        *identity = None;
        return Err(ProblemDetails::unauthenticated());
    }
    if row.has_project() {
        let name = params.iter().find(|(param, _)| param == "p").map_or("", |(_, name)| name);
        let unknown = || ProblemDetails::not_found(format!("there is no project {name}"));
        let project = project.filter(|project| who.may_know(&project.name)).ok_or_else(unknown)?;
        who.check(row.right, Some(&project.name))?;
        if is_shared_copy(&project) {
            shared_too(state, row, &project)?;
        }
        return Ok((Some(project), params));
    }
    who.check(row.right, None)?;
    Ok((None, params))
}

/// Whether a row can be answered for a project on the shared store, now.
fn shared_too(state: &AppState, row: &RouteRow, copy: &ProjectDir) -> Result<(), ProblemDetails> {
    if row.is_at_home() {
        let detail = format!(
            "project {} is on a shared store: its settings are what orb crawl FILE --store last said, and what is \
             kept beside a project of the home is not there",
            copy.name
        );
        return Err(ProblemDetails::conflict("shared", detail));
    }
    match state.shared.as_ref().filter(|_| copy.is_empty()) {
        Some(shared) => Err(ProblemDetails::copying(&copy.name, shared.mark(copy).problem.is_some())),
        None => Ok(()),
    }
}

/// Who shows this, and the project of this name.
async fn recognise(state: &Arc<AppState>, shown: Shown, name: Option<String>) -> Result<FoundVisitor, ProblemDetails> {
    let (known, version) = state.known.recall(&shown, name.as_deref());
    if let Some(visitor) = known {
        return Ok(visitor);
    }
    let looked_up = Arc::clone(state);
    let look_up = move |home: &ServedHome| {
        let Some((identity, until)) = Identity::find(home, &shown)? else { return Ok(None) };
        // A name that is none is as unknown as any other.
        let visitor = (identity, name.and_then(|name| home.locate(&name).ok()));
        // Projects of a shared store come and go without a word to the database.
        let here = visitor.1.clone().filter(|project| !is_shared_copy(project));
        looked_up.known.keep(version, shown, (visitor.0.clone(), here), until);
        Ok::<_, StoreError>(Some(visitor))
    };
    state.desk.work(look_up).await??.ok_or_else(ProblemDetails::unauthenticated)
}

/// The body of a request, if it is not too long and comes in time. Whoever sends slowly must not
/// take the turn of others, so it is received before the request waits for its own.
async fn body_of(state: &AppState, row: &RouteRow, parts: &Parts, body: Body) -> Result<Bytes, ProblemDetails> {
    if row.verb == Verb::Get {
        return Ok(Bytes::new());
    }
    let too_long = || {
        let detail = format!("a request has at most {LONGEST_BODY} bytes");
        ProblemDetails::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Too large", detail)
    };
    let announced = text_of(&parts.headers, &http::header::CONTENT_LENGTH).parse::<u64>().unwrap_or(0);
    if announced > LONGEST_BODY as u64 {
        return Err(too_long());
    }
    let _place = state.bodies.acquire().await.map_err(|_| ProblemDetails::busy("the server stops"))?;
    match tokio::time::timeout(state.patience, Limited::new(body, LONGEST_BODY).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(e)) if e.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(e)) => Err(ProblemDetails::malformed(format!("the body did not come: {e}"))),
        Err(_) => {
            let (status, detail) = (StatusCode::REQUEST_TIMEOUT, "the body did not come in time");
            Err(ProblemDetails::new(status, "slow", "Too slow", detail))
        }
    }
}

/// Calls the handler. A panic in it is its own failure and nobody else's.
async fn handle(row: &RouteRow, request: AdmittedRequest) -> Handled {
    let panicked = || Err(ProblemDetails::failed(&format!("{} panicked", row.path)));
    let Ok(mut handling) = catch_unwind(AssertUnwindSafe(|| (row.handler)(request))) else { return panicked() };
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| handling.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(panicked()))
    })
    .await
}
