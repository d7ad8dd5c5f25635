//! What is wrong with the pages of a project?

use crate::choice;
use crate::list::{Continued, ListStretch};
use crate::openapi::{AskedField, RouteShape};
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use orb_answers::{Collection, CountStanding, Health, HealthPart, HealthRows, HealthWish, health_rows};
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get(
        "/api/v1/projects/{p}/health",
        Right::Read,
        |request| Box::pin(counts(request)),
        "How many problems of each kind there are",
    )
    .shaped(RouteShape::gives::<Health>().query(&[AskedField::number("run", "What is there since this run is new")])),
    RouteRow::get(
        "/api/v1/projects/{p}/health/{kind}",
        Right::Read,
        |request| Box::pin(rows(request)),
        "The problems of a kind",
    )
    .shaped(RouteShape::gives::<Continued<HealthRows>>().query(ROWS).paged()),
];

const ROWS: &[AskedField] = &[
    AskedField::number("run", "What is there since this run is new; the last without a wish"),
    AskedField::flag("new", "Only what is new"),
];

/// Time for one kind: all sixteen must be counted before a request takes too long.
pub(crate) const TIME: Duration = Duration::from_secs(2);

async fn counts(request: AdmittedRequest) -> Handled {
    json(&request.health(request.query().parsed("run")?).await?)
}

async fn rows(request: AdmittedRequest) -> Handled {
    let (query, part) = (request.query(), ListStretch::of(&request)?);
    let kind = choice::health_kind(request.param("kind")?)?;
    let is_new = choice::is_set(&query, "new")?;
    // The first rows are kept with the counts.
    let is_counted = request.health(query.parsed("run")?).await?.standing == CountStanding::Current;
    let time = if is_counted { Duration::from_secs(20) } else { Duration::from_secs(1) };
    let wish = HealthWish { run: query.parsed("run")?, time };
    let wanted = if is_new { HealthPart::New } else { HealthPart::All };
    let turn = request.health_turn(part.window())?;
    let found = move |collection: &Collection| {
        let _turn = turn;
        health_rows(collection, kind, wanted, wish, part.window())
    };
    let mut answer = request.ask(found).await?;
    let next = part.cut(&mut answer.rows);
    Continued { answer, next }.respond(&request)
}
