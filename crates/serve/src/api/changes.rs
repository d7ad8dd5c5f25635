//! What changed, after a cursor?

use crate::choice;
use crate::list::{self, linked};
use crate::openapi::{AskedField, RouteShape};
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use orb_answers::{ChangePage, changes, cursor_since};

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/api/v1/projects/{p}/changes",
    Right::Read,
    |request| Box::pin(after(request)),
    "The changes after a cursor, oldest first",
)
.shaped(RouteShape::gives::<ChangePage>().query(FIELDS))];

/// A cursor, a run, or a moment.
const AFTER: &str = "^([0-9]{1,15}|run:[0-9]{1,9}|20[0-9]{2}-\
    ((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-9]))\
    T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)$";

const FIELDS: &[AskedField] = &[
    AskedField::like(
        "after",
        AFTER,
        "A cursor: `next` of the part before; or run:N, or a moment like 2026-11-15T06:30:00Z",
    ),
    AskedField::like("flag", choice::FLAG_LIST, "NEW, UPD, MIS or ERR; several with commas. All without a wish"),
    AskedField::number("limit", "Changes at most: 100 without a wish, never more than 1,000"),
];

async fn after(request: AdmittedRequest) -> Handled {
    let (query, limit) = (request.query(), list::limit(&request)?);
    let (since, flags) = (query.one("after").unwrap_or("0").to_owned(), choice::flags(query.all("flag"))?);
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let page = request.ask(move |collection| {
        let after = cursor_since(collection, &since)?;
        changes(collection, after, &flags, limit)
    });
    let page = page.await?;
    let is_full = u32::try_from(page.changes.len()).is_ok_and(|given| given >= limit);
    let next = is_full.then(|| page.next.to_string());
    linked(&request, json(&page)?, next.as_deref())
}
