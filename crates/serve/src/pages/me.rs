//! What may somebody change about the own account?

use super::log_in::{check, set_cookie};
use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, html};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::{Frame, minute};
use askama::Template;
use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use orb_page::Moment;
use orb_project::{NewToken, SessionRow, StoreError, TokenRow, TokenScope, User};
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/me", Right::Account, |request| Box::pin(show(request)), "One's own account and tokens"),
    RouteRow::post("/me/password", Right::Account, |request| Box::pin(change(request)), "Change one's password"),
    RouteRow::post("/me/sessions/{id}/end", Right::Account, |request| Box::pin(end(request)), "End a session"),
    RouteRow::post("/me/tokens", Right::Account, |request| Box::pin(make(request)), "Make a token, shown once"),
    RouteRow::post("/me/tokens/{id}/revoke", Right::Account, |request| Box::pin(revoke(request)), "Revoke a token"),
];

#[derive(Template)]
#[template(path = "me.html")]
struct MePage<'a> {
    frame: Frame,
    user: &'a User,
    tokens: Vec<ShownToken>,
    sessions: Vec<SessionRow>,
    scopes: &'a [&'static str],
    made: Option<String>,
    said: Option<String>,
    wrong: Option<String>,
}

/// A token in the list.
pub(super) struct ShownToken {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) scopes: String,
    pub(super) projects: String,
    pub(super) until: String,
    pub(super) last_used: String,
}

impl ShownToken {
    pub(super) fn of(token: &TokenRow) -> Self {
        let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
        Self {
            id: token.id,
            name: token.name.clone(),
            scopes: if scopes.is_empty() { "a link".to_owned() } else { scopes.join(" ") },
            projects: if token.projects.is_empty() { "all".to_owned() } else { token.projects.join(" ") },
            until: token.until.as_deref().map_or_else(|| "–".to_owned(), minute),
            last_used: token.last_used.as_deref().map_or_else(|| "never".to_owned(), minute),
        }
    }
}

/// What the page says besides what is there.
#[derive(Default)]
struct Remarks {
    made: Option<String>,
    said: Option<String>,
    wrong: Option<String>,
}

async fn page(request: &AdmittedRequest, remarks: Remarks) -> Handled {
    let user = request.user()?;
    let id = user.id;
    let session = request.session().unwrap_or_default().to_owned();
    let known = move |home: &ServedHome| {
        let mut sessions = home.accounts().sessions(id, &session, Moment::now())?;
        for one in &mut sessions {
            (one.created_at, one.last_used) = (minute(&one.created_at), minute(&one.last_used));
        }
        Ok::<_, StoreError>((home.accounts().tokens(id)?, sessions))
    };
    let (tokens, sessions) = request.work(known).await?;
    let Remarks { made, said, wrong } = remarks;
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let scopes = TokenScope::ALL.map(TokenScope::name);
    let tokens = tokens.iter().map(ShownToken::of).collect();
    let frame = request.frame();
    let mut response = html(&MePage { frame, user, tokens, sessions, scopes: &scopes, made, said, wrong })?;
    *response.status_mut() = status;
    Ok(response)
}

async fn show(request: AdmittedRequest) -> Handled {
    page(&request, Remarks::default()).await
}

async fn change(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let name = request.user()?.name.clone();
    if let Err(wrong) = check(&request, &name, form.typed("old").to_owned()).await? {
        let told = if wrong.wait > 0 { wrong.told } else { "The present password is wrong.".to_owned() };
        let mut response = page(&request, Remarks { wrong: Some(told), ..Remarks::default() }).await?;
        *response.status_mut() = wrong.status;
        return Ok(response);
    }
    let new = form.typed("new").to_owned();
    let change = move |home: &ServedHome| {
        let accounts = home.accounts();
        accounts.set_password(&name, &new).and_then(|()| accounts.note(Some(&name), "changed the password"))
    };
    let _turn = request.state.hashing.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    match request.state.desk.work(change).await? {
        Ok(()) => {
            let mut response = AdmittedRequest::redirect("/login")?;
            set_cookie(&mut response, &request.state, "")?;
            Ok(response)
        }
        Err(StoreError::BadAccount(why)) => page(&request, Remarks { wrong: Some(why), ..Remarks::default() }).await,
        Err(error) => Err(error.into()),
    }
}

async fn make(request: AdmittedRequest) -> Handled {
    let wanted = match wanted(&request.form()?) {
        Ok(wanted) => wanted,
        Err(problem) => return page(&request, Remarks { wrong: Some(problem.detail), ..Remarks::default() }).await,
    };
    let (id, name) = (request.user()?.id, request.user()?.name.clone());
    let make = move |home: &ServedHome| {
        let accounts = home.accounts();
        let (row, text) = accounts.make_token(id, &wanted)?;
        accounts.note(Some(&name), &format!("made token {} ({})", row.id, row.name))?;
        Ok::<_, StoreError>(text)
    };
    match request.state.desk.work(make).await? {
        Ok(text) => {
            let mut response = page(&request, Remarks { made: Some(text), ..Remarks::default() }).await?;
            // Not even this browser may keep it.
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            Ok(response)
        }
        Err(StoreError::BadAccount(why)) => page(&request, Remarks { wrong: Some(why), ..Remarks::default() }).await,
        Err(error) => Err(error.into()),
    }
}

/// The token that a form asks for.
fn wanted(form: &FormFields) -> Result<NewToken, ProblemDetails> {
    let named = |name: &str| {
        TokenScope::named(name).ok_or_else(|| ProblemDetails::malformed(format!("there is no scope {name}")))
    };
    let days: Option<u16> = form.parsed("days")?;
    Ok(NewToken {
        name: form.needed("name")?.chars().take(100).collect(),
        scopes: form.all("scope").map(named).collect::<Result<_, _>>()?,
        projects: form.typed("projects").split_whitespace().map(str::to_owned).collect(),
        until: days.map(|days| Moment::now().plus(Duration::from_secs(u64::from(days) * 86_400))),
    })
}

async fn end(request: AdmittedRequest) -> Handled {
    let (user, name) = (request.user()?.clone(), request.param("id")?.to_owned());
    let end = move |home: &ServedHome| {
        let is_gone = home.accounts().end_session_named(user.id, &name)?;
        if is_gone {
            home.accounts().note(Some(&user.name), "ended a session")?;
        }
        Ok::<_, StoreError>(is_gone)
    };
    if !request.work(end).await? {
        return Err(ProblemDetails::not_found("you have no such session"));
    }
    AdmittedRequest::redirect("/me")
}

async fn revoke(request: AdmittedRequest) -> Handled {
    let (user, token) = (request.user()?.clone(), request.number("id")?);
    let revoke = move |home: &ServedHome| {
        let accounts = home.accounts();
        let gone = accounts.revoke_token(user.id, token)?;
        if gone {
            accounts.note(Some(&user.name), &format!("revoked token {token}"))?;
        }
        Ok::<_, StoreError>(gone)
    };
    if !request.work(revoke).await? {
        return Err(ProblemDetails::not_found(format!("you have no token {token}")));
    }
    page(&request, Remarks { said: Some("The token is revoked.".to_owned()), ..Remarks::default() }).await
}
