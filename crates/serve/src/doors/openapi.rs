//! What can programs ask, in their own terms?

use crate::openapi::document;
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/openapi.json",
    Right::SignedIn,
    |request| Box::pin(tell(request)),
    "The description of the API (OpenAPI 3.1)",
)];

async fn tell(_: AdmittedRequest) -> Handled {
    json(&document())
}
