//! What may one user do, and how is that changed?
//!
//! An administrator grants rights per project, makes and unmakes administrators, sets a forgotten
//! password, revokes tokens and removes accounts. The store refuses to take the last administrator
//! away; one's own password is changed at `/me`, which asks for the old one.

use super::me::ShownToken;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::view::{Frame, minute};
use askama::Template;
use orb_project::{Level, StoreError, TokenRow, User};
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/users/{name}", Right::Admin, |request| Box::pin(show(request)), "A user, with rights and tokens"),
    RouteRow::post(
        "/users/{name}/grants",
        Right::Accounts,
        |request| Box::pin(grant(request)),
        "Say what a user may do with each project",
    ),
    RouteRow::post(
        "/users/{name}/admin",
        Right::Accounts,
        |request| Box::pin(set_admin(request)),
        "Make somebody an administrator, or no longer one",
    ),
    RouteRow::post(
        "/users/{name}/password",
        Right::Accounts,
        |request| Box::pin(set_password(request)),
        "Give a user another password",
    ),
    RouteRow::post(
        "/users/{name}/tokens/{id}/revoke",
        Right::Accounts,
        |request| Box::pin(revoke(request)),
        "Revoke a token of a user",
    ),
    RouteRow::post("/users/{name}/remove", Right::Accounts, |request| Box::pin(remove(request)), "Remove a user"),
];

/// What may be granted, least first.
const LEVELS: [&str; 4] = ["none", "read", "run", "edit"];

/// What is said after something was done.
const DONE: &[(&str, &str)] = &[
    ("added", "The account is made."),
    ("grants", "The rights are changed."),
    ("admin", "This user may do everything now."),
    ("no-admin", "This user is no administrator any more."),
    ("password", "The password is changed, and all sessions of this user ended."),
    ("revoked", "The token is revoked."),
];

/// A user with all tokens.
#[derive(Serialize)]
struct UserAnswer {
    #[serde(flatten)]
    user: User,
    tokens: Vec<TokenRow>,
}

#[derive(Template)]
#[template(path = "user.html")]
struct UserPage<'a> {
    frame: Frame,
    user: &'a User,
    since: String,
    is_me: bool,
    said: Option<&'static str>,
    tokens: Vec<ShownToken>,
    grants: Vec<GrantLine>,
}

/// A project, and which right is chosen.
struct GrantLine {
    project: String,
    levels: Vec<(&'static str, bool)>,
}

impl GrantLine {
    fn of(user: &User, project: String) -> Self {
        let chosen = user.grants.get(&project).map_or("none", |level| level.name());
        Self { levels: LEVELS.iter().map(|level| (*level, *level == chosen)).collect(), project }
    }
}

async fn show(request: AdmittedRequest) -> Handled {
    let name = request.param("name")?.to_owned();
    let known = move |home: &ServedHome| {
        let user = home.accounts().user(&name)?;
        let tokens = home.accounts().tokens(user.id)?;
        let projects = home.names()?;
        Ok::<_, StoreError>((UserAnswer { user, tokens }, projects))
    };
    let (answer, projects) = request.work(known).await?;
    let (user, said) = (&answer.user, request.query().one("said").map(str::to_owned));
    let page = UserPage {
        frame: request.frame(),
        since: minute(&user.created_at),
        is_me: user.id == request.user()?.id,
        said: DONE.iter().find(|(done, _)| said.as_deref() == Some(done)).map(|(_, told)| *told),
        tokens: answer.tokens.iter().map(ShownToken::of).collect(),
        grants: projects.into_iter().map(|project| GrantLine::of(user, project)).collect(),
        user,
    };
    request.page(&page, &answer)
}

/// Does something to the user `{name}`, notes it, and shows the user again.
async fn change<F>(request: &AdmittedRequest, done: &str, change: F) -> Handled
where
    F: FnOnce(&ServedHome, &str) -> Result<Vec<String>, ProblemDetails> + Send + 'static,
{
    let (by, name) = (request.user()?.name.clone(), request.param("name")?.to_owned());
    let place = format!("/users/{name}?said={done}");
    let job = move |home: &ServedHome| {
        let notes = change(home, &name)?;
        notes.iter().try_for_each(|note| home.accounts().note(Some(&by), note)).map_err(ProblemDetails::from)
    };
    request.work(job).await?;
    AdmittedRequest::redirect(&place)
}

async fn grant(request: AdmittedRequest) -> Handled {
    let form = request.form()?;
    let grant = move |home: &ServedHome, name: &str| {
        let (accounts, mut notes) = (home.accounts(), Vec::new());
        let user = accounts.user(name)?;
        for project in home.names()? {
            let Some(wanted) = form.one(&format!("p.{project}")) else { continue };
            if !LEVELS.contains(&wanted) {
                return Err(ProblemDetails::malformed(format!("a right is one of {}", LEVELS.join(", "))));
            }
            let level = Level::named(wanted);
            if user.grants.get(&project).copied() != level {
                accounts.grant(name, &project, level)?;
                let level = level.map_or("nothing", Level::name);
                notes.push(format!("user {name} may {level} on project {project}"));
            }
        }
        Ok(notes)
    };
    change(&request, "grants", grant).await
}

async fn set_admin(request: AdmittedRequest) -> Handled {
    let admin = match request.form()?.needed("admin")? {
        "1" => true,
        "0" => false,
        _ => return Err(ProblemDetails::malformed("admin is 0 or 1")),
    };
    let set = move |home: &ServedHome, name: &str| {
        home.accounts().set_admin(name, admin)?;
        let may = if admin { "is an administrator" } else { "is no administrator any more" };
        Ok(vec![format!("user {name} {may}")])
    };
    let is_me = request.user()?.name == request.param("name")?;
    let response = change(&request, if admin { "admin" } else { "no-admin" }, set).await?;
    // Whoever gave it up may not see that page any more.
    if is_me && !admin { AdmittedRequest::redirect("/") } else { Ok(response) }
}

async fn set_password(request: AdmittedRequest) -> Handled {
    if request.user()?.name == request.param("name")? {
        return Err(ProblemDetails::conflict("own-account", "one's own password is changed at /me"));
    }
    let password = request.form()?.typed("password").to_owned();
    let _turn = request.state.hashing.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    let set = move |home: &ServedHome, name: &str| {
        home.accounts().set_password(name, &password)?;
        Ok(vec![format!("changed the password of {name}")])
    };
    change(&request, "password", set).await
}

async fn revoke(request: AdmittedRequest) -> Handled {
    let token: i64 = request.number("id")?;
    let revoke = move |home: &ServedHome, name: &str| {
        let user = home.accounts().user(name)?;
        if !home.accounts().revoke_token(user.id, token)? {
            return Err(ProblemDetails::not_found(format!("{name} has no token {token}")));
        }
        Ok(vec![format!("revoked token {token} of {name}")])
    };
    change(&request, "revoked", revoke).await
}

async fn remove(request: AdmittedRequest) -> Handled {
    let name = request.param("name")?.to_owned();
    if request.user()?.name == name {
        return Err(ProblemDetails::conflict("own-account", "nobody removes the own account: somebody else must"));
    }
    let remove = |home: &ServedHome, name: &str| {
        home.accounts().remove(name)?;
        Ok(vec![format!("removed user {name}")])
    };
    change(&request, "", remove).await?;
    AdmittedRequest::redirect(&format!("/users?removed={name}"))
}
