//! How does somebody without an account come in by a link?
//!
//! `/link/{secret}` gives the browser a cookie with the secret and leads to the project. From then
//! on it is a guest who may also read that project. Nothing is stored here, and what the cookie
//! opens is looked up whenever it is shown, so a link that was revoked opens nothing at once.

use crate::gate::LINKS_AT_ONCE;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use http::header::{HeaderValue, SET_COOKIE};
use orb_page::Moment;
use orb_project::{SESSION_LIFE, StoreError};

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::get("/link/{secret}", Right::Open, |request| Box::pin(enter(request)), "Come in by a link")];

async fn enter(request: AdmittedRequest) -> Handled {
    let secret = request.param("secret")?.to_owned();
    let shown = secret.clone();
    let found = request.work::<_, StoreError, _>(move |home| home.accounts().link(&shown, Moment::now())).await?;
    let (project, _) = found.ok_or_else(|| ProblemDetails::not_found("this link leads nowhere, or not any more"))?;
    let mut response = AdmittedRequest::redirect(&format!("/p/{project}"))?;
    let before = crate::gate::links_shown(&request.parts.headers, request.state.cookie_name());
    let others = before.split('.').filter(|other| !other.is_empty() && *other != secret).take(LINKS_AT_ONCE - 1);
    let all: Vec<&str> = std::iter::once(secret.as_str()).chain(others).collect();
    let secure = if request.state.secure { "; Secure" } else { "" };
    let (name, life) = (request.state.cookie_name(), SESSION_LIFE.as_secs());
    let cookie = format!("{name}-links={}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}", all.join("."));
    let cookie = HeaderValue::from_str(&cookie).map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}
