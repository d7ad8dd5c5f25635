//! What does an archived page say?

use crate::choice;
use crate::openapi::{AskedField, PART, RouteShape, UNCHANGED, VERSIONS};
use crate::problem::Handled;
use crate::publish::{SENT_AS, publish};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use orb_answers::content;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/api/v1/projects/{p}/pages/{id}/content",
    Right::Content,
    |request| Box::pin(show(request)),
    "What a page said: its bytes, its text or Markdown",
)
.shaped(RouteShape::streams(SENT_AS).query(FIELDS).hears(VERSIONS, &[PART, UNCHANGED]))];

const FIELDS: &[AskedField] = &[
    AskedField::number("run", "The run that saw it; the latest without a wish"),
    AskedField::one_of("as", || choice::names(choice::FORMS), "raw (the default), text or markdown"),
    AskedField::one_of(
        "extent",
        || choice::names(choice::EXTENTS),
        "main (the default) or whole, of text and Markdown",
    ),
];

async fn show(request: AdmittedRequest) -> Handled {
    let (id, query) = (request.number("id")?, request.query());
    let run = query.parsed("run")?;
    let form = choice::choose("as", query.one("as"), choice::FORMS)?;
    let extent = choice::choose("extent", query.one("extent"), choice::EXTENTS)?;
    let version = request.ask(move |collection| content(collection, &collection.numbered(id)?.url, run)).await?;
    publish(&request, version, (form, extent)).await
}
