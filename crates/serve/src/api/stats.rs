//! What has a project collected?

use crate::counting::CountedStats;
use crate::openapi::RouteShape;
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/api/v1/projects/{p}/stats",
    Right::Read,
    |request| Box::pin(show(request)),
    "Sites, pages by kind, documents, images and links",
)
.shaped(RouteShape::gives::<CountedStats>())];

async fn show(request: AdmittedRequest) -> Handled {
    json(&request.stats().await?)
}
