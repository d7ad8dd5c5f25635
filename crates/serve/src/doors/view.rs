//! What does an archived page look like, on a host of its own?

use crate::pages::shown_inert;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use http::header::HOST;
use std::time::Instant;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/view/{ticket}",
    Right::Open,
    |request| Box::pin(show(request)),
    "A view of an archived page, for whoever has a ticket to it",
)];

async fn show(request: AdmittedRequest) -> Handled {
    let ended = || ProblemDetails::not_found("this view has ended; load the page around it again");
    let here = request.parts.uri.authority().map_or_else(
        || crate::request::text_of(&request.parts.headers, &HOST).to_owned(),
        |authority| authority.as_str().to_owned(),
    );
    // Nowhere but on the host that is there for it.
    if !request.state.views.is(&here) {
        return Err(ended());
    }
    let ticket = request.state.views.shown(request.param("ticket")?, Instant::now()).ok_or_else(ended)?;
    let name = ticket.project.clone();
    let project = request.work(move |home| home.find(&name).map_err(|_| ended())).await?;
    let request = AdmittedRequest { project: Some(project), ..request };
    shown_inert(&request, ticket.page, ticket.run, Some(&ticket.home)).await
}
