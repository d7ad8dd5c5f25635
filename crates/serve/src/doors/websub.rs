//! What does a hub say to us?
//!
//! That it is about to deliver a feed, and did we ask for it; or the feed. Both at an address that
//! only the hub of one subscription knows. What is not signed with the secret of the subscription
//! is confirmed and forgotten, as the recommendation has it, so that nobody learns whether a guess
//! was right.

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, text_of, typed};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::websub::{SubscriptionState, is_signed};
use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderName};
use orb_answers::inspect_document;
use orb_page::{LinkKind, Moment};
use orb_project::{AskedProject, Home, call_for, within_scope};
use orb_urls::{Address, Canonicaliser};
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/websub/{id}", Right::Open, |request| Box::pin(confirm(request)), "A hub asks whether we meant it"),
    RouteRow::post("/websub/{id}", Right::Open, |request| Box::pin(deliver(request)), "A hub delivers a feed"),
];

const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature");

/// The longest challenge that is repeated.
const LONGEST_CHALLENGE: usize = 1_000;

/// The longest lease that is believed.
const LONGEST_LEASE: Duration = Duration::from_secs(60 * 86_400);

fn unknown() -> ProblemDetails {
    ProblemDetails::not_found("nobody has subscribed to this")
}

async fn confirm(request: AdmittedRequest) -> Handled {
    let (name, one) = request.state.websub.find(request.param("id")?).ok_or_else(unknown)?;
    let query = request.query();
    if query.one("hub.topic") != Some(&one.topic) || one.asked_at.is_none() {
        return Err(unknown());
    }
    let project = request.work::<_, ProblemDetails, _>(move |home| Ok(home.find(&name)?)).await?;
    let (state, until, challenge) = match query.one("hub.mode") {
        Some("subscribe") => {
            let lease: u64 = query.parsed("hub.lease_seconds")?.unwrap_or(86_400);
            let lease = Duration::from_secs(lease).min(LONGEST_LEASE);
            let challenge = query.needed("hub.challenge")?;
            if challenge.len() > LONGEST_CHALLENGE {
                return Err(ProblemDetails::malformed("the challenge is too long"));
            }
            (SubscriptionState::Active, Some(Moment::now().plus(lease).to_string()), challenge.to_owned())
        }
        Some("denied") => (SubscriptionState::Denied, None, String::new()),
        _ => return Err(unknown()),
    };
    let changed = request.state.websub.change(&project, |file| {
        if let Some(known) = file.subscriptions.iter_mut().find(|known| known.id == one.id) {
            (known.state, known.until) = (state, until);
        }
    });
    changed.map_err(|e| ProblemDetails::failed(&e))?;
    Ok(typed("text/plain; charset=utf-8", challenge))
}

async fn deliver(request: AdmittedRequest) -> Handled {
    let (name, one) = request.state.websub.find(request.param("id")?).ok_or_else(unknown)?;
    let is_theirs = is_signed(&one.secret, text_of(&request.parts.headers, &SIGNATURE), &request.body);
    if is_theirs && one.state == SubscriptionState::Active {
        let (body, topic) = (request.body.clone(), one.topic);
        let mime = text_of(&request.parts.headers, &CONTENT_TYPE).split(';').next().unwrap_or_default().to_owned();
        // A hub wants to be answered quickly; what a feed says is read later.
        let state = std::sync::Arc::clone(&request.state);
        tokio::spawn(async move {
            let taken = state.desk.work(move |home: &ServedHome| take(home, &name, (&body, &mime), &topic)).await;
            if let Ok(Err(problem)) | Err(problem) = taken {
                tracing::warn!("a delivery was lost: {}", problem.detail);
            }
        });
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}

/// Puts the pages that a feed names into the project's intake; a page that is no feed itself.
fn take(home: &Home, project: &str, (body, mime): (&[u8], &str), topic: &str) -> Result<(), ProblemDetails> {
    let AskedProject { settings, seeds, .. } = AskedProject::kept(home, project)?;
    let canonical = Canonicaliser::new(settings.urls);
    let feed = inspect_document(body, topic, (!mime.is_empty()).then_some(mime))?;
    let entries =
        feed.links.iter().filter(|link| link.kind == LinkKind::Feed && matches!(&*link.rel, "" | "alternate"));
    let mut named: Vec<Address> = entries.filter_map(|link| canonical.parse(link.url.as_deref()?).ok()).collect();
    if mime.ends_with("html") {
        named = canonical.parse(topic).into_iter().collect();
    }
    let project = home.find(project)?;
    let pages = within_scope(&project, (&settings, &seeds), &named)?;
    let host = canonical.parse(topic).map(|topic| topic.host().to_owned()).unwrap_or_default();
    let urls: Vec<String> = pages.into_iter().map(Address::into_string).collect();
    call_for(&project, &urls, &format!("websub: {host}"))?;
    Ok(())
}
