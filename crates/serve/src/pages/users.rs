//! Who has an account, and what was done last?

use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::view::{Frame, minute};
use askama::Template;
use http::StatusCode;
use orb_project::{AuditRow, Home, NewUser, StoreError, User};
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/users", Right::Admin, |request| Box::pin(show(request)), "The users, and what was done last"),
    RouteRow::post("/users", Right::Admin, |request| Box::pin(add(request)), "Add a user"),
    RouteRow::post("/public", Right::Admin, |request| Box::pin(publish(request)), "Say what anyone may read"),
];

/// How much of what was done is shown.
const NOTED: u64 = 50;

/// The users, and what was done last.
#[derive(Serialize)]
struct UsersAnswer {
    users: Vec<User>,
    /// The projects that anyone may read, also without an account.
    public: Vec<String>,
    last: Vec<AuditRow>,
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    frame: Frame,
    rows: Vec<UserLine>,
    public: Vec<String>,
    /// The other projects.
    private: Vec<String>,
    last: Vec<NotedLine>,
    said: Option<String>,
    wrong: Option<String>,
    name: String,
}

/// A user in the list.
struct UserLine {
    name: String,
    about: String,
    rights: String,
    is_admin: bool,
    since: String,
}

/// Something that was done.
struct NotedLine {
    when: String,
    who: String,
    what: String,
}

impl UserLine {
    fn of(user: &User) -> Self {
        let about = [&user.full_name, &user.email, &user.comment].into_iter().flatten();
        Self {
            name: user.name.clone(),
            about: about.cloned().collect::<Vec<_>>().join(", "),
            rights: rights(user),
            is_admin: user.admin,
            since: minute(&user.created_at),
        }
    }
}

/// What somebody may do, in words.
fn rights(user: &User) -> String {
    let grants = user.grants.iter().map(|(project, level)| format!("{project}: {}", level.name()));
    match (user.admin, user.grants.is_empty()) {
        (true, _) => "everything".to_owned(),
        (_, true) => "nothing yet".to_owned(),
        _ => grants.collect::<Vec<_>>().join(", "),
    }
}

async fn show(request: AdmittedRequest) -> Handled {
    let query = request.query();
    let removed = query.one("removed").map(|name| format!("User {name} is removed."));
    let said = removed.or_else(|| query.one("public").map(|_| "Saved.".to_owned()));
    page(&request, said, None).await
}

/// The list, with what is to be said above it; `wrong` is what was typed and why it was refused.
async fn page(request: &AdmittedRequest, said: Option<String>, wrong: Option<(String, String)>) -> Handled {
    let known = |home: &Home| {
        let (accounts, projects) = (home.accounts(), home.list()?);
        let (users, public, last) = (accounts.users()?, accounts.public()?, accounts.noted(NOTED)?);
        let private = projects.into_iter().map(|project| project.name).filter(|name| !public.contains(name));
        let private: Vec<String> = private.collect();
        Ok::<_, StoreError>((UsersAnswer { users, public, last }, private))
    };
    let (answer, private) = request.work(known).await?;
    let noted = |row: &AuditRow| NotedLine {
        when: minute(&row.at),
        who: row.user.clone().unwrap_or_else(|| "command line".to_owned()),
        what: row.what.clone(),
    };
    let (name, wrong) = wrong.map_or((String::new(), None), |(name, why)| (name, Some(why)));
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = UsersPage {
        frame: request.frame(),
        rows: answer.users.iter().map(UserLine::of).collect(),
        public: answer.public.clone(),
        private,
        last: answer.last.iter().map(noted).collect(),
        said,
        wrong,
        name,
    };
    let mut response = request.page(&page, &answer)?;
    *response.status_mut() = status;
    Ok(response)
}

/// Lets anyone read a project, or no longer.
async fn publish(request: AdmittedRequest) -> Handled {
    let (form, by) = (request.form()?, request.user()?.name.clone());
    let (project, is_public) = (form.needed("project")?.to_owned(), form.one("public") == Some("yes"));
    let publish = move |home: &Home| {
        let project = home.find(&project)?.name;
        home.accounts().set_public(&project, is_public)?;
        let may = if is_public { "may read" } else { "may not read" };
        home.accounts().note(Some(&by), &format!("anyone {may} project {project}"))
    };
    request.work::<_, StoreError, _>(publish).await?;
    AdmittedRequest::redirect("/users?public=1")
}

async fn add(request: AdmittedRequest) -> Handled {
    let (form, by) = (request.form()?, request.user()?.name.clone());
    let text = |name: &str| form.one(name).map(str::to_owned);
    let wish = NewUser {
        name: form.needed("name")?.to_owned(),
        full_name: text("full_name"),
        email: text("email"),
        comment: text("comment"),
        admin: form.one("admin").is_some(),
    };
    let (name, password) = (wish.name.clone(), form.typed("password").to_owned());
    let add = move |home: &Home| {
        let user = home.accounts().add(&wish, &password)?;
        let what = if user.admin { "administrator" } else { "user" };
        home.accounts().note(Some(&by), &format!("added {what} {}", user.name))
    };
    let turn = request.state.hashing.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    let added = request.state.desk.work(add).await?;
    drop(turn);
    match added {
        Ok(()) => AdmittedRequest::redirect(&format!("/users/{name}?said=added")),
        Err(StoreError::BadAccount(why)) => page(&request, None, Some((name, why))).await,
        Err(error) => Err(error.into()),
    }
}
