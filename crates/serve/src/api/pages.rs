//! What is known of one page: its record, versions, links, neighbours, differences?

use crate::accepted::prefers;
use crate::choice;
use crate::list::{Continued, ListPage, ListStretch};
use crate::openapi::{AskedField, RouteShape};
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json, typed};
use crate::routes::{Right, RouteRow};
use orb_answers::{
    AnswerError, Collection, DiffWish, LinkRow, PageDiff, PageNeighbours, ShownPage, VisitRow, diff, links_in,
    links_out, neighbours, show,
};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/api/v1/projects/{p}/pages/{id}", Right::Read, |request| Box::pin(one(request)), "A page")
        .shaped(RouteShape::gives::<ShownPage>()),
    RouteRow::get("/api/v1/projects/{p}/page", Right::Read, |request| Box::pin(at_url(request)), "The page with a URL")
        .shaped(
            RouteShape::gives::<ShownPage>().query(&[AskedField::text("url", "Its URL, as people paste it").needed()]),
        ),
    RouteRow::get(
        "/api/v1/projects/{p}/pages/{id}/versions",
        Right::Read,
        |request| Box::pin(versions(request)),
        "What each run saw of a page, latest first",
    )
    .shaped(RouteShape::gives::<ListPage<VisitRow>>()),
    RouteRow::get(
        "/api/v1/projects/{p}/pages/{id}/links",
        Right::Read,
        |request| Box::pin(links(request)),
        "The links of a page, or those to it",
    )
    .shaped(RouteShape::gives::<Continued<LinkPage>>().query(LINKS).paged()),
    RouteRow::get(
        "/api/v1/projects/{p}/pages/{id}/neighbours",
        Right::Read,
        |request| Box::pin(near(request)),
        "The pages around a page, nearest first",
    )
    .shaped(RouteShape::gives::<Continued<PageNeighbours>>().query(NEAR).paged()),
    RouteRow::get(
        "/api/v1/projects/{p}/pages/{id}/diff",
        Right::Content,
        |request| Box::pin(difference(request)),
        "What differs between two versions of a page",
    )
    .shaped(RouteShape::gives::<PageDiff<'static>>().or(&["text/x-diff"]).query(DIFF)),
];

const LINKS: &[AskedField] = &[AskedField::one_of("direction", || choice::names(SIDES), "out (the default) or in")];

const NEAR: &[AskedField] = &[
    AskedField::one_of("direction", || choice::names(choice::DIRECTIONS), "both (the default), in or out"),
    AskedField::number("hops", "How many links away at most: 1 without a wish, never more than 6"),
];

const DIFF: &[AskedField] = &[
    AskedField::number("from", "The run of the old version; the last that differs without a wish"),
    AskedField::number("to", "The run of the new version; the latest without a wish"),
    AskedField::one_of("by", || choice::names(choice::DIFFS), "text (the default), main or source"),
    AskedField::number("context", "Lines around a difference: 3 without a wish"),
];

/// Which links of a page, and whether they are those to it.
const SIDES: &[(&str, bool)] = &[("out", false), ("in", true)];

/// Links that are shown with a page.
const SHOWN_LINKS: u64 = 100;

/// Links of a page, or to it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct LinkPage {
    /// The links.
    links: Vec<LinkRow>,
    /// What the reader should know about them, if anything.
    note: Option<String>,
}

async fn one(request: AdmittedRequest) -> Handled {
    let id = request.number("id")?;
    let page = request.ask(move |collection| show(collection, &collection.numbered(id)?.url, SHOWN_LINKS)).await?;
    json(&page)
}

async fn at_url(request: AdmittedRequest) -> Handled {
    let url = request.query().needed("url")?.to_owned();
    json(&request.ask(move |collection| show(collection, &url, SHOWN_LINKS)).await?)
}

async fn versions(request: AdmittedRequest) -> Handled {
    let id = request.number("id")?;
    let page = request.ask(move |collection| show(collection, &collection.numbered(id)?.url, 0)).await?;
    ListPage { items: page.visits, next: None }.respond(&request)
}

async fn links(request: AdmittedRequest) -> Handled {
    let (id, part) = (request.number("id")?, ListStretch::of(&request)?);
    let is_in = choice::choose("direction", request.query().one("direction"), SIDES)?;
    let found = move |collection: &Collection| {
        let url = collection.numbered(id)?.url;
        if is_in {
            let found = links_in(collection, &url, part.window())?;
            return Ok(LinkPage { links: found.links, note: found.note });
        }
        Ok::<_, AnswerError>(LinkPage { links: links_out(collection, &url, part.window())?, note: None })
    };
    let mut page = request.ask(found).await?;
    let next = part.cut(&mut page.links);
    Continued { answer: page, next }.respond(&request)
}

async fn near(request: AdmittedRequest) -> Handled {
    let (id, part, query) = (request.number("id")?, ListStretch::of(&request)?, request.query());
    let direction = choice::choose("direction", query.one("direction"), choice::DIRECTIONS)?;
    let hops = query.parsed("hops")?.unwrap_or(1u32).clamp(1, 6);
    let found = move |collection: &Collection| {
        neighbours(collection, &collection.numbered(id)?.url, (hops, direction), part.window())
    };
    let mut page = request.ask(found).await?;
    let next = part.cut(&mut page.rows);
    Continued { answer: page, next }.respond(&request)
}

async fn difference(request: AdmittedRequest) -> Handled {
    let (id, query) = (request.number("id")?, request.query());
    let (from, to) = (query.parsed("from")?, query.parsed("to")?);
    let by = choice::choose("by", query.one("by"), choice::DIFFS)?;
    let context = query.parsed("context")?.unwrap_or(3usize).min(1_000);
    let is_text = prefers(&request.parts.headers, "text/x-diff", "application/json");
    let compared = move |collection: &Collection| {
        let url = collection.numbered(id)?.url;
        diff(collection, DiffWish { url: &url, from, to, by, context }, |diff| {
            if is_text { Ok(diff.unified(context)) } else { serde_json::to_string(diff) }
        })
    };
    let text = request.ask(compared).await?.map_err(|e| crate::problem::ProblemDetails::failed(&e))?;
    Ok(typed(if is_text { "text/x-diff; charset=utf-8" } else { "application/json" }, text))
}
