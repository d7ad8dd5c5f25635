//! How does somebody log in and out?

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, html};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::state::AppState;
use crate::view::Frame;
use askama::Template;
use axum::response::Response;
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, SET_COOKIE};
use orb_page::Moment;
use orb_project::{SESSION_LIFE, StoreError, User};
use std::time::{Duration, Instant};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/login", Right::Open, |request| Box::pin(form(request)), "The form to log in"),
    RouteRow::post("/login", Right::Open, |request| Box::pin(log_in(request)), "Begin a session"),
    RouteRow::post("/logout", Right::Account, |request| Box::pin(log_out(request)), "End the session"),
];

#[derive(Template)]
#[template(path = "login.html")]
struct LogInPage<'a> {
    frame: Frame,
    name: &'a str,
    next: &'a str,
    wrong: Option<String>,
    /// What can be read without.
    public: Vec<String>,
}

async fn form(request: AdmittedRequest) -> Handled {
    let query = request.query();
    let public = request.work(|home| home.accounts().public()).await?;
    html(&LogInPage { frame: Frame::nobody(), name: "", next: local(query.typed("next")), wrong: None, public })
}

async fn log_in(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let (name, next) = (form.one("name").unwrap_or_default(), local(form.typed("next")));
    match check(&request, name, form.typed("password").to_owned()).await? {
        Ok(user) => {
            let id = begin(&request, &user, "logged in").await?;
            let mut response = AdmittedRequest::redirect(next)?;
            set_cookie(&mut response, &request.state, &id)?;
            Ok(response)
        }
        Err(wrong) => {
            let (status, wait) = (wrong.status, wrong.wait);
            let page = LogInPage { frame: Frame::nobody(), name, next, wrong: Some(wrong.told), public: Vec::new() };
            let mut response = html(&page)?;
            *response.status_mut() = status;
            if wait > 0 {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
            }
            Ok(response)
        }
    }
}

/// Why somebody was not logged in.
pub(super) struct WrongPassword {
    pub(super) status: StatusCode,
    pub(super) wait: u64,
    pub(super) told: String,
}

impl WrongPassword {
    fn too_many(wait: Duration) -> Self {
        let wait = wait.as_secs() + 1;
        let told = format!("There were too many wrong passwords. Try again in {wait} s.");
        Self { status: StatusCode::TOO_MANY_REQUESTS, wait, told }
    }
}

/// The user of this name and password. Failures are counted, and after a few of them one must wait.
pub(super) async fn check(
    request: &AdmittedRequest,
    name: &str,
    password: String,
) -> Result<Result<User, WrongPassword>, ProblemDetails> {
    let (state, peer) = (&request.state, request.peer());
    let wait = state.brake.wait(name, peer, Instant::now());
    if !wait.is_zero() {
        return Ok(Err(WrongPassword::too_many(wait)));
    }
    let _turn = state.hashing.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    // Others may have failed while this one waited for its turn.
    if let Err(wait) = state.brake.attempt(name, peer, Instant::now()) {
        return Ok(Err(WrongPassword::too_many(wait)));
    }
    let typed = name.to_owned();
    let found = request.work(move |home| home.accounts().log_in(&typed, &password)).await?;
    match found {
        Some(user) => {
            state.brake.succeeded(name, peer);
            Ok(Ok(user))
        }
        None => {
            let told = "Name or password is wrong.".to_owned();
            Ok(Err(WrongPassword { status: StatusCode::FORBIDDEN, wait: 0, told }))
        }
    }
}

/// Begins a session and returns its id.
pub(super) async fn begin(
    request: &AdmittedRequest,
    user: &User,
    what: &'static str,
) -> Result<String, ProblemDetails> {
    let (id, name, peer) = (user.id, user.name.clone(), request.peer());
    let begin = move |home: &ServedHome| {
        home.accounts().note(Some(&name), &format!("{what} from {peer}"))?;
        home.accounts().begin_session(id, Moment::now())
    };
    request.work::<_, StoreError, _>(begin).await
}

/// Gives the browser a session.
pub(super) fn set_cookie(response: &mut Response, state: &AppState, id: &str) -> Result<(), ProblemDetails> {
    let life = if id.is_empty() { 0 } else { SESSION_LIFE.as_secs() };
    let secure = if state.secure { "; Secure" } else { "" };
    let name = state.cookie_name();
    let cookie = format!("{name}={id}; Path=/; Max-Age={life}; HttpOnly; SameSite=Lax{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(())
}

async fn log_out(request: AdmittedRequest) -> Handled {
    let id = request.session().unwrap_or_default().to_owned();
    request.work::<_, StoreError, _>(move |home| home.accounts().end_session(&id)).await?;
    let mut response = AdmittedRequest::redirect("/login")?;
    set_cookie(&mut response, &request.state, "")?;
    Ok(response)
}

/// A path of ours to go to; anything that could lead elsewhere becomes the first page.
fn local(next: &str) -> &str {
    let stays = next.starts_with('/') && !next.starts_with("//") && !next.contains(['\\', '\r', '\n', '\t']);
    if stays && next.is_ascii() { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_led_back_to_our_own_pages_only() {
        assert_eq!(["/p/x?y=1#z", "/"].map(local), ["/p/x?y=1#z", "/"]);
        for elsewhere in ["", "p", "//evil.test/", "/\\evil.test", "https://evil.test/", "/\t/evil.test", "/ä"] {
            assert_eq!(local(elsewhere), "/", "{elsewhere}");
        }
    }
}
