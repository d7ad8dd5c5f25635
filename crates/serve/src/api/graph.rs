//! What does the web graph say?

use crate::openapi::RouteShape;
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use orb_answers::{GraphStats, graph_stats};

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/api/v1/projects/{p}/graph",
    Right::Read,
    |request| Box::pin(show(request)),
    "The size and shape of the web graph",
)
.shaped(RouteShape::gives::<GraphStats>())];

async fn show(request: AdmittedRequest) -> Handled {
    json(&request.ask(graph_stats).await?)
}
