//! What does the web graph say?

use crate::choice::{self, BY};
use crate::fields::FormFields;
use crate::openapi::{AskedField, RouteShape};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use orb_answers::{GraphMap, GraphStats, MapPart, graph_map, graph_stats};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/api/v1/projects/{p}/graph",
    Right::Read,
    |request| Box::pin(show(request)),
    "The size and shape of the web graph, or a part of it: pages and the links between them",
)
.shaped(RouteShape::gives::<GraphReply>().query(FIELDS))];

const FIELDS: &[AskedField] = &[
    AskedField::number("top", "Give the best pages, this many"),
    AskedField::one_of("by", || choice::names(BY), "The measure they are the best by; pagerank without a wish"),
    AskedField::text("around", "Give what is around this page: its number or its URL"),
    AskedField::number("hops", "How many links around it: 1 without a wish, 5 at most"),
    AskedField::number("limit", "How many pages around it: 500 without a wish, 5,000 at most"),
    AskedField::one_of("of", || vec!["pages", "hosts"], "Pages (the default) or hosts"),
];

/// The graph in figures, or a part of it.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum GraphReply {
    /// The whole, in figures.
    Stats(Box<GraphStats>),
    /// A part, to be drawn.
    Map(Box<GraphMap>),
}

/// How many pages are around one without a wish.
const AROUND: usize = 500;

/// The part of the graph that a query asks for, if it asks for one.
pub(crate) fn asked_part(query: &FormFields) -> Result<Option<MapPart>, ProblemDetails> {
    let by = choice::choose("by", query.one("by"), BY)?;
    if let Some(page) = query.one("around") {
        let (hops, count) = (query.parsed("hops")?.unwrap_or(1), query.parsed("limit")?.unwrap_or(AROUND));
        return Ok(Some(MapPart::Around { page: page.to_owned(), hops, count }));
    }
    Ok(query.parsed("top")?.map(|count| MapPart::Top { by, count }))
}

async fn show(request: AdmittedRequest) -> Handled {
    let query = request.query();
    let hosts = query.one("of") == Some("hosts");
    let Some(part) = asked_part(&query)? else {
        return json(&GraphReply::Stats(Box::new(request.ask(graph_stats).await?)));
    };
    let map = request.ask(move |collection| graph_map(collection, &part, hosts)).await?;
    json(&GraphReply::Map(Box::new(map)))
}
