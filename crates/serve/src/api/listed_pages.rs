//! Which pages and hosts are there?
//!
//! Lists by key: a part continues after the last row of the one before, however long the list has
//! become meanwhile. A rare filter may give parts with few rows, or none, and a `next`.

use crate::list::{self, ListPage};
use crate::openapi::{AskedField, RouteShape};
use crate::pages::page_list::{kind_names, page_filter};
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use orb_answers::{HostRow, ListedHost, PageRow, host, hosts, pages};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get(
        "/api/v1/projects/{p}/pages",
        Right::Read,
        |request| Box::pin(all_pages(request)),
        "The pages, in the order of their discovery",
    )
    .shaped(RouteShape::gives::<ListPage<PageRow>>().or(list::TABLES).query(PAGES).paged()),
    RouteRow::get(
        "/api/v1/projects/{p}/hosts",
        Right::Read,
        |request| Box::pin(all_hosts(request)),
        "The hosts, those with the most pages first",
    )
    .shaped(
        RouteShape::gives::<ListPage<ListedHost>>()
            .or(list::TABLES)
            .query(HOSTS)
            .paged_by("^[0-9]{1,15}\\.[0-9]{1,9}$"),
    ),
    RouteRow::get(
        "/api/v1/projects/{p}/hosts/{id}",
        Right::Read,
        |request| Box::pin(one_host(request)),
        "A host, with its robots.txt",
    )
    .shaped(RouteShape::gives::<HostRow>()),
];

const PAGES: &[AskedField] = &[
    AskedField::text("url", "What their URL contains"),
    AskedField::number("host", "The number of their host"),
    AskedField::one_of("kind", kind_names, "Their kind, or FAILED for all that could not be fetched"),
    AskedField::like("status", "^[1-9]([0-9]{2}|xx)$", "Their status code, such as 404, or 4xx for all that begin so"),
    AskedField::text("mime", "Their media type; image/ for all that begin so; or a type of document, such as pdf"),
];

const HOSTS: &[AskedField] = &[AskedField::text("name", "What their name contains")];

async fn all_pages(request: AdmittedRequest) -> Handled {
    let (fields, limit) = (request.query(), list::limit(&request)?);
    let filter = page_filter(&fields)?;
    let after = fields.parsed("after")?.unwrap_or(0);
    let found = request.ask(move |collection| pages(collection, &filter, after, limit as u64)).await?;
    let next = found.next.map(|next| next.to_string());
    ListPage { items: found.pages, next }.respond_as_asked(&request)
}

async fn all_hosts(request: AdmittedRequest) -> Handled {
    let (fields, limit) = (request.query(), list::limit(&request)? as u64);
    let (name, after) = (fields.one("name").map(str::to_owned), fields.one("after").map(str::to_owned));
    let found = request.ask(move |collection| hosts(collection, name.as_deref(), after.as_deref(), limit)).await?;
    ListPage { items: found.hosts, next: found.next }.respond_as_asked(&request)
}

async fn one_host(request: AdmittedRequest) -> Handled {
    let id = request.number("id")?;
    crate::request::json(&request.ask(move |collection| host(collection, id)).await?)
}
