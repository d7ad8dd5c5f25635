//! Which pages did somebody ask us to visit next, and who may be believed?
//!
//! What people, programs, IndexNow and hubs have called for, and a form to call for more.

use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::view::{Frame, minute};
use crate::websub::SubscriptionState;
use askama::Template;
use http::StatusCode;
use orb_answers::{CallSource, IntakeState, grouped, intake, waiting_calls};
use orb_project::{CallAccount, call_for};
use serde::Serialize;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get(
        "/p/{p}/intake",
        Right::Read,
        |request| Box::pin(show(request)),
        "What somebody asked to be visited next",
    ),
    RouteRow::post("/p/{p}/intake", Right::Run, |request| Box::pin(call(request)), "Have pages visited next"),
];

/// Calls on one screen.
const ROWS: usize = 100;

/// The most pages of one form.
const MOST: usize = 10_000;

/// What waits, who called, and which feeds are delivered.
#[derive(Serialize)]
struct IntakeAnswer {
    #[serde(flatten)]
    state: IntakeState,
    /// The calls that were made last.
    calls: Vec<orb_answers::IntakeCall>,
    /// The feeds that hubs deliver.
    feeds: Vec<DeliveredFeed>,
}

/// A feed that a hub delivers, or is asked to.
#[derive(Serialize)]
struct DeliveredFeed {
    topic: String,
    hub: String,
    state: SubscriptionState,
    until: Option<String>,
}

#[derive(Template)]
#[template(path = "intake.html")]
struct IntakePage<'a> {
    frame: Frame,
    p: &'a str,
    may_run: bool,
    waiting: String,
    is_cut: bool,
    calls: Vec<CallLine<'a>>,
    sources: Vec<SourceLine<'a>>,
    feeds: Vec<FeedLine<'a>>,
    said: Option<String>,
    refused: Vec<(String, String)>,
    typed: String,
}

struct CallLine<'a> {
    url: &'a str,
    source: &'a str,
    when: String,
}

struct SourceLine<'a> {
    source: &'a CallSource,
    belief: String,
}

struct FeedLine<'a> {
    topic: &'a str,
    hub: &'a str,
    state: &'static str,
    until: String,
}

async fn show(request: AdmittedRequest) -> Handled {
    page(&request, None).await
}

/// Calls for pages, and says what became of it.
async fn call(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let typed = form.typed("urls").to_owned();
    let urls: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
    if urls.is_empty() || urls.len() > MOST {
        return Err(ProblemDetails::unprocessable(format!("name one to {MOST} pages, one a line")));
    }
    let (project, source) = (request.project()?.clone(), format!("web: {}", request.user()?.name));
    let account = request.work(move |_| call_for(&project, &urls, &source)).await?;
    page(&request, Some((account, typed))).await
}

async fn page(request: &AdmittedRequest, called: Option<(CallAccount, String)>) -> Handled {
    let (project, state) = (request.project()?.clone(), Arc::clone(&request.state));
    let looked = request.work(move |_| {
        let subscriptions = state.websub.of(&project).map_err(|e| ProblemDetails::failed(&e))?.subscriptions;
        // Their ids and secrets are the hubs' and nobody else's.
        let feeds = subscriptions.into_iter().map(|one| DeliveredFeed {
            topic: one.topic,
            hub: one.hub,
            state: one.state,
            until: one.until,
        });
        let (state, calls) = (intake(&project)?, waiting_calls(&project, ROWS)?);
        Ok::<_, ProblemDetails>(IntakeAnswer { state, calls, feeds: feeds.collect() })
    });
    let answer = looked.await?;
    let (said, refused, typed) = called.map(told).unwrap_or_default();
    let status = if refused.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = IntakePage {
        frame: request.frame(),
        p: &request.project()?.name,
        may_run: request.may(Right::Run),
        waiting: grouped(answer.state.waiting),
        is_cut: answer.state.waiting > answer.calls.len() as u64,
        calls: answer.calls.iter().map(|c| CallLine { url: &c.url, source: &c.source, when: minute(&c.at) }).collect(),
        sources: answer.state.sources.iter().map(source_line).collect(),
        feeds: answer.feeds.iter().map(feed_line).collect(),
        said,
        refused,
        typed,
    };
    let mut response = request.page(&page, &answer)?;
    *response.status_mut() = status;
    Ok(response)
}

/// What became of a call: in words, what was refused and why, and what is to be corrected.
fn told((account, typed): (CallAccount, String)) -> (Option<String>, Vec<(String, String)>, String) {
    let waiting = match account.waiting {
        0 => String::new(),
        n => format!("; {} waited already", grouped(n)),
    };
    let said = format!("{} taken{waiting}. The next run visits them first.", grouped(account.taken));
    let refused: Vec<(String, String)> = account.refused.into_iter().map(|one| (one.url, one.why)).collect();
    let typed = if refused.is_empty() { String::new() } else { typed };
    (Some(said), refused, typed)
}

fn source_line(source: &CallSource) -> SourceLine<'_> {
    SourceLine { belief: format!("{:.0} %", source.belief * 100.0), source }
}

fn feed_line(feed: &DeliveredFeed) -> FeedLine<'_> {
    let state = match feed.state {
        SubscriptionState::Pending => "asked for",
        SubscriptionState::Active => "delivered",
        SubscriptionState::Denied => "refused",
    };
    FeedLine { topic: &feed.topic, hub: &feed.hub, state, until: feed.until.as_deref().map(minute).unwrap_or_default() }
}
