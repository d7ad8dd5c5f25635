//! What changed, for feed readers?

use crate::problem::Handled;
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use orb_answers::latest_changes;
use orb_crawl::outputs::atom_feed;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/changes.atom",
    Right::Read,
    |request| Box::pin(feed(request)),
    "The last changes as an Atom feed",
)];

/// Entries of the feed.
const ENTRIES: u32 = 100;

async fn feed(request: AdmittedRequest) -> Handled {
    let project = request.project()?.clone();
    let xml = request.ask(move |collection| latest_changes(collection, ENTRIES).map(|rows| atom_feed(&project, &rows)));
    Ok(typed("application/atom+xml; charset=utf-8", xml.await?))
}
