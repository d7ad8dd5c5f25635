//! Which tokens does one have?

use crate::list::ListPage;
use crate::openapi::RouteShape;
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::whole::whole;
use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use orb_page::Moment;
use orb_project::{NewToken, StoreError, TokenRow, TokenScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/api/v1/tokens", Right::Account, |request| Box::pin(all(request)), "One's own tokens")
        .shaped(RouteShape::gives::<ListPage<TokenRow>>()),
    RouteRow::post("/api/v1/tokens", Right::Account, |request| Box::pin(make(request)), "Make a token")
        .shaped(RouteShape::gives::<IssuedToken>().takes::<TokenWish>().status(201)),
    RouteRow::delete("/api/v1/tokens/{id}", Right::Account, |request| Box::pin(revoke(request)), "Revoke a token")
        .shaped(RouteShape::NOTHING),
];

/// A token to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TokenWish {
    /// What people call it.
    name: String,
    /// What it is for.
    #[schemars(length(min = 1))]
    scopes: Vec<TokenScope>,
    /// For which projects alone; all without a wish.
    #[serde(default)]
    projects: Vec<String>,
    /// After how many days it ends; never without a wish.
    #[serde(default, deserialize_with = "whole")]
    days: Option<u16>,
}

/// A token that was made, with its secret, which is shown this once.
#[derive(Debug, Serialize, JsonSchema)]
struct IssuedToken {
    /// The token.
    #[serde(flatten)]
    row: TokenRow,
    /// What to send as `Authorization: Bearer`.
    token: String,
}

async fn all(request: AdmittedRequest) -> Handled {
    let id = request.user()?.id;
    let tokens = request.work::<_, StoreError, _>(move |home| home.accounts().tokens(id)).await?;
    ListPage { items: tokens, next: None }.respond(&request)
}

async fn make(request: AdmittedRequest) -> Handled {
    let TokenWish { name, scopes, projects, days } = request.json()?;
    let wanted = NewToken {
        name: name.chars().take(100).collect(),
        scopes,
        projects,
        until: days.map(|days| Moment::now().plus(Duration::from_secs(u64::from(days) * 86_400))),
    };
    let (id, by) = (request.user()?.id, request.user()?.name.clone());
    let make = move |home: &ServedHome| {
        let (row, token) = home.accounts().make_token(id, &wanted)?;
        home.accounts().note(Some(&by), &format!("made token {} ({})", row.id, row.name))?;
        Ok::<_, StoreError>(IssuedToken { row, token })
    };
    let mut response = json(&request.work(make).await?)?;
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

async fn revoke(request: AdmittedRequest) -> Handled {
    let (user, token) = (request.user()?.clone(), request.number("id")?);
    let revoke = move |home: &ServedHome| {
        let is_gone = home.accounts().revoke_token(user.id, token)?;
        if is_gone {
            home.accounts().note(Some(&user.name), &format!("revoked token {token}"))?;
        }
        Ok::<_, StoreError>(is_gone)
    };
    if !request.work(revoke).await? {
        return Err(ProblemDetails::not_found(format!("you have no token {token}")));
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
