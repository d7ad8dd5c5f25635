//! How does whoever starts a new server get an account?

use super::log_in::{begin, set_cookie};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, html};
use crate::routes::{Right, RouteRow};
use crate::view::Frame;
use askama::Template;
use http::StatusCode;
use orb_project::{NewUser, StoreError};
use std::time::Instant;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/first/{secret}", Right::Open, |request| Box::pin(form(request)), "The form for the first account"),
    RouteRow::post("/first/{secret}", Right::Open, |request| Box::pin(make(request)), "Make the first account"),
];

#[derive(Template)]
#[template(path = "first.html")]
struct FirstPage<'a> {
    frame: Frame,
    name: &'a str,
    wrong: Option<String>,
}

/// Refuses a link that is wrong, used or too old.
fn check(request: &AdmittedRequest) -> Result<(), ProblemDetails> {
    if request.state.first.opens(request.param("secret")?, Instant::now()) {
        return Ok(());
    }
    Err(ProblemDetails::not_found(
        "this link was used or is too old; orb serve prints another while there is no account",
    ))
}

async fn form(request: AdmittedRequest) -> Handled {
    check(&request)?;
    html(&FirstPage { frame: Frame::nobody(), name: "admin", wrong: None })
}

async fn make(request: AdmittedRequest) -> Handled {
    check(&request)?;
    let form = request.form()?;
    let (name, password) = (form.one("name").unwrap_or_default(), form.typed("password").to_owned());
    let user = NewUser { name: name.to_owned(), admin: true, ..NewUser::default() };
    let _turn = request.state.hashing.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    let made = request.work(move |home| Ok::<_, ProblemDetails>(home.accounts().add_first(&user, &password))).await?;
    match made {
        Ok(Some(user)) => {
            request.state.first.close();
            let id = begin(&request, &user, "made the first account").await?;
            let mut response = AdmittedRequest::redirect("/")?;
            set_cookie(&mut response, &request.state, &id)?;
            Ok(response)
        }
        Ok(None) => {
            request.state.first.close();
            check(&request)?;
            AdmittedRequest::redirect("/login")
        }
        Err(StoreError::BadAccount(why)) => {
            let mut response = html(&FirstPage { frame: Frame::nobody(), name, wrong: Some(why) })?;
            *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(response)
        }
        Err(error) => Err(error.into()),
    }
}
