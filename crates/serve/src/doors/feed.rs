//! What changed, for feed readers?
//!
//! A reader of feeds mostly cannot send a token in a header field. For it there is an address that
//! contains one, which must be good for nothing else: for reading, of one project. It is revoked
//! like any other.

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use orb_answers::latest_changes;
use orb_crawl::outputs::atom_feed;
use orb_page::Moment;
use orb_project::{ProjectDir, TokenScope};

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
    let xml = request.ask(move |collection| latest_changes(collection, ENTRIES).map(|rows| atom_feed(&project, &rows)));
    Ok(typed("application/atom+xml; charset=utf-8", xml.await?))
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
