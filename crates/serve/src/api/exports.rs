//! How does a program get a whole collection?

use crate::exports::{self, ExportWish, KeptExport, make_export, remove_export};
use crate::hooks::without_secrets;
use crate::list::ListPage;
use crate::openapi::{PART, PARTS, RouteShape};
use crate::problem::{Handled, ProblemDetails};
use crate::publish::send_file;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use orb_crawl::outputs::{OutputStanding, output_standings};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/api/v1/projects/{p}/exports", Right::Content, |request| Box::pin(all(request)), "The exports")
        .shaped(RouteShape::gives::<ListPage<KeptExport>>()),
    RouteRow::post("/api/v1/projects/{p}/exports", Right::Run, |request| Box::pin(make(request)), "Begin an export")
        .shaped(RouteShape::gives::<KeptExport>().takes::<ExportWish>().status(202)),
    RouteRow::get(
        "/api/v1/projects/{p}/exports/{export}",
        Right::Content,
        |request| Box::pin(one(request)),
        "How far an export is",
    )
    .shaped(RouteShape::gives::<KeptExport>()),
    RouteRow::get(
        "/api/v1/projects/{p}/exports/{export}/file",
        Right::Content,
        |request| Box::pin(file(request)),
        "The file of an export, whole or in parts",
    )
    .shaped(RouteShape::streams(&["application/octet-stream"]).hears(PARTS, &[PART])),
    RouteRow::delete(
        "/api/v1/projects/{p}/exports/{export}",
        Right::Run,
        |request| Box::pin(remove(request)),
        "Remove an export, or end it",
    )
    .shaped(RouteShape::NOTHING),
    RouteRow::get(
        "/api/v1/projects/{p}/outputs",
        Right::Read,
        |request| Box::pin(outputs(request)),
        "How far each output has received the changes, and whether that failed",
    )
    .shaped(RouteShape::gives::<ListPage<OutputStanding>>())
    .with_secret(),
];

async fn all(request: AdmittedRequest) -> Handled {
    let project = request.project()?.clone();
    let items = request.state.desk.work(move |_| exports::list(&project)).await?;
    ListPage { items, next: None }.respond(&request)
}

async fn make(request: AdmittedRequest) -> Handled {
    let made = make_export(&request, request.json()?).await?;
    let mut response = json(&made)?;
    *response.status_mut() = StatusCode::ACCEPTED;
    let place = format!("/api/v1/projects/{}/exports/{}", request.project()?.name, made.id);
    response.headers_mut().extend(HeaderValue::from_str(&place).ok().map(|place| (LOCATION, place)));
    Ok(response)
}

async fn one(request: AdmittedRequest) -> Handled {
    json(&found(&request).await?)
}

/// The export that the request names.
async fn found(request: &AdmittedRequest) -> Result<KeptExport, ProblemDetails> {
    let (project, id) = (request.project()?.clone(), request.param("export")?.to_owned());
    request.work(move |_| exports::find(&project, &id)).await
}

pub(crate) async fn file(request: AdmittedRequest) -> Handled {
    let export = found(&request).await?;
    let path = exports::file(request.project()?, &export)?;
    send_file(&request, path, (&export.file, &format!("\"{}\"", export.id))).await
}

async fn remove(request: AdmittedRequest) -> Handled {
    remove_export(&request).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

async fn outputs(request: AdmittedRequest) -> Handled {
    let project = request.project()?.clone();
    let items = request.work(move |_| output_standings(&project)).await?;
    let items = if request.may(Right::Edit) { items } else { without_secrets(items) };
    ListPage { items, next: None }.respond(&request)
}
