//! Who has an account, and what was done last?

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, text_of};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::{Frame, minute};
use askama::Template;
use http::StatusCode;
use http::header::{CACHE_CONTROL, HOST, HeaderValue, ORIGIN};
use orb_page::Moment;
use orb_project::{AuditRow, NewUser, ReadingLink, StoreError, User};
use serde::Serialize;
use std::time::Duration;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/users", Right::Admin, |request| Box::pin(show(request)), "The users, and what was done last"),
    RouteRow::post("/users", Right::Accounts, |request| Box::pin(add(request)), "Add a user"),
    RouteRow::post("/public", Right::Accounts, |request| Box::pin(publish(request)), "Say what anyone may read"),
    RouteRow::post(
        "/links",
        Right::Accounts,
        |request| Box::pin(link(request)),
        "Make a link by which to read a project",
    ),
];

/// How much of what was done is shown.
const NOTED: u64 = 50;

/// The users, and what was done last.
#[derive(Serialize)]
struct UsersAnswer {
    users: Vec<User>,
    /// The projects that anyone may read, also without an account.
    public: Vec<String>,
    /// The links by which others are read.
    links: Vec<ReadingLink>,
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
    links: Vec<ReadingLink>,
    /// The address of a link that was just made, shown this once.
    made: Option<String>,
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
    page(&request, UsersRemarks { said, ..UsersRemarks::default() }).await
}

/// What the page says besides what is there.
#[derive(Default)]
struct UsersRemarks {
    said: Option<String>,
    /// What was typed, and why it was refused.
    wrong: Option<(String, String)>,
    /// The address of a link that was made.
    made: Option<String>,
}

/// The list, with what is to be said above it.
async fn page(request: &AdmittedRequest, remarks: UsersRemarks) -> Handled {
    let known = |home: &ServedHome| {
        let (accounts, projects) = (home.accounts(), home.names()?);
        let (users, public, last) = (accounts.users()?, accounts.public()?, accounts.noted(NOTED)?);
        let links = accounts.links()?;
        let private = projects.into_iter().filter(|name| !public.contains(name)).collect::<Vec<_>>();
        Ok::<_, StoreError>((UsersAnswer { users, public, links, last }, private))
    };
    let (answer, private) = request.work(known).await?;
    let noted = |row: &AuditRow| NotedLine {
        when: minute(&row.at),
        who: row.user.clone().unwrap_or_else(|| "command line".to_owned()),
        what: row.what.clone(),
    };
    let UsersRemarks { said, wrong, made } = remarks;
    let (name, wrong) = wrong.map_or((String::new(), None), |(name, why)| (name, Some(why)));
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = UsersPage {
        frame: request.frame(),
        rows: answer.users.iter().map(UserLine::of).collect(),
        public: answer.public.clone(),
        private,
        links: answer.links.iter().map(shown).collect(),
        made,
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
    let publish = move |home: &ServedHome| {
        let project = home.locate(&project)?.name;
        home.accounts().set_public(&project, is_public)?;
        let may = if is_public { "may read" } else { "may not read" };
        home.accounts().note(Some(&by), &format!("anyone {may} project {project}"))
    };
    request.work::<_, StoreError, _>(publish).await?;
    AdmittedRequest::redirect("/users?public=1")
}

/// A link as people read it.
fn shown(link: &ReadingLink) -> ReadingLink {
    ReadingLink { until: link.until.as_deref().map(minute), ..link.clone() }
}

/// Makes a link by which somebody without an account reads a project.
async fn link(request: AdmittedRequest) -> Handled {
    let (form, by) = (request.form()?, request.user()?.clone());
    let (project, days) = (form.needed("project")?.to_owned(), form.parsed::<u16>("days")?);
    let until = days.map(|days| Moment::now().plus(Duration::from_secs(u64::from(days) * 86_400)));
    let make = move |home: &ServedHome| {
        let project = home.locate(&project)?.name;
        let secret = home.accounts().make_link(by.id, &project, until)?;
        home.accounts().note(Some(&by.name), &format!("made a link to project {project}"))?;
        Ok::<_, StoreError>(secret)
    };
    let secret = request.work(make).await?;
    let made = Some(format!("{}/link/{secret}", own_address(&request)));
    let mut response = page(&request, UsersRemarks { made, ..UsersRemarks::default() }).await?;
    // Not even this browser may keep it.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Under which address a browser sees us: what it says itself, as there may be a proxy between.
fn own_address(request: &AdmittedRequest) -> String {
    let (origin, host) = (text_of(&request.parts.headers, &ORIGIN), text_of(&request.parts.headers, &HOST));
    let scheme = if request.state.secure { "https" } else { "http" };
    if origin.starts_with("http") { origin.to_owned() } else { format!("{scheme}://{host}") }
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
    let add = move |home: &ServedHome| {
        let user = home.accounts().add(&wish, &password)?;
        let what = if user.admin { "administrator" } else { "user" };
        home.accounts().note(Some(&by), &format!("added {what} {}", user.name))
    };
    let turn = request.state.hashing.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    let added = request.state.desk.work(add).await?;
    drop(turn);
    match added {
        Ok(()) => AdmittedRequest::redirect(&format!("/users/{name}?said=added")),
        Err(StoreError::BadAccount(why)) => {
            page(&request, UsersRemarks { wrong: Some((name, why)), ..UsersRemarks::default() }).await
        }
        Err(error) => Err(error.into()),
    }
}
