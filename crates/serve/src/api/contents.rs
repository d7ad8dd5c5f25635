//! What can be asked?

use crate::list::ListPage;
use crate::openapi::RouteShape;
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow, table};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/api/v1", Right::SignedIn, |request| Box::pin(all(request)), "What can be asked")
        .shaped(RouteShape::gives::<ListPage<ListedRoute>>())];

/// A row of the route table, for people and programs that look around.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ListedRoute {
    /// The method.
    method: &'static str,
    /// The path, with parameters in braces.
    path: &'static str,
    /// The right it takes.
    right: &'static str,
    /// What it does.
    summary: &'static str,
}

async fn all(request: AdmittedRequest) -> Handled {
    let rows = table().filter(|row| row.path.starts_with("/api/"));
    let rows = rows.map(|row| ListedRoute {
        method: row.verb.name(),
        path: row.path,
        right: row.right.name(),
        summary: row.summary,
    });
    ListPage { items: rows.collect(), next: None }.respond(&request)
}
