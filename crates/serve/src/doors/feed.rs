//! What changed, for feed readers?
//!
//! A reader of feeds mostly cannot send a token in a header field. For it there is an address that
//! contains one, which must be good for nothing else: for reading, of one project. It is revoked
//! like any other.

use crate::problem::{Handled, ProblemDetails};
use crate::publish::names;
use crate::request::{AdmittedRequest, text_of, typed};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::header::{ETAG, HeaderValue, IF_NONE_MATCH};
use orb_answers::{Collection, latest_changes};
use orb_crawl::outputs::atom_feed;
use orb_page::Moment;
use orb_project::{ProjectDir, TokenScope};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get(
        "/p/{p}/changes.atom",
        Right::Read,
        |request| Box::pin(feed(request)),
        "The last changes as an Atom feed",
    ),
    RouteRow::get(
        "/feed/{token}",
        Right::Open,
        |request| Box::pin(feed_by_token(request)),
        "The same for whoever has a token that reads one project and nothing else",
    ),
];

/// Entries of the feed.
const ENTRIES: u32 = 100;

async fn feed(request: AdmittedRequest) -> Handled {
    let project = request.project()?.clone();
    // Whoever subscribes before the first run is told that nothing has changed yet.
    let xml = match project.is_empty() {
        true => atom_feed(&project, &[]),
        false => {
            let rows = move |collection: &Collection| latest_changes(collection, ENTRIES);
            atom_feed(&project, &request.ask(rows).await?)
        }
    };
    // Readers ask every few minutes for what mostly has not changed.
    let tag = format!("\"{:016x}\"", BuildHasherDefault::<DefaultHasher>::default().hash_one(&xml));
    let mut response = if names(text_of(&request.parts.headers, &IF_NONE_MATCH), &tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        typed("application/atom+xml; charset=utf-8", xml)
    };
    response.headers_mut().extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
    Ok(response)
}

async fn feed_by_token(request: AdmittedRequest) -> Handled {
    let token = request.param("token")?.to_owned();
    let project = request.work(move |home| opened(home, &token)).await?;
    feed(AdmittedRequest { project: Some(project), ..request }).await
}

/// The project whose feed a token opens.
fn opened(home: &ServedHome, token: &str) -> Result<ProjectDir, ProblemDetails> {
    let unknown = || ProblemDetails::not_found("there is no feed at this address");
    let (user, token) = home.accounts().token(token, Moment::now())?.ok_or_else(unknown)?;
    match (&token.scopes[..], &token.projects[..]) {
        ([TokenScope::Read], [name]) if user.level(name).is_some() => home.find(name).map_err(|_| unknown()),
        _ => Err(unknown()),
    }
}
