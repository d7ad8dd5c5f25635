//! Who has an account, and with which rights?

use crate::list::ListPage;
use crate::openapi::RouteShape;
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use orb_project::{Level, NewUser, StoreError, User};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/api/v1/users", Right::Admin, |request| Box::pin(all(request)), "The users and their rights")
        .shaped(RouteShape::gives::<ListPage<User>>()),
    RouteRow::post("/api/v1/users", Right::Accounts, |request| Box::pin(add(request)), "Add a user")
        .shaped(RouteShape::gives::<User>().takes::<UserWish>().status(201)),
    RouteRow::get("/api/v1/users/{name}", Right::Admin, |request| Box::pin(one(request)), "A user")
        .shaped(RouteShape::gives::<User>()),
    RouteRow::delete("/api/v1/users/{name}", Right::Accounts, |request| Box::pin(remove(request)), "Remove a user")
        .shaped(RouteShape::NOTHING),
    RouteRow::put(
        "/api/v1/users/{name}/grants/{project}",
        Right::Accounts,
        |request| Box::pin(grant(request)),
        "Say what a user may do with a project",
    )
    .shaped(RouteShape::gives::<User>().takes::<GrantWish>()),
];

/// A user to be added.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UserWish {
    /// The name to log in with.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._@-]{0,63}$"))]
    name: String,
    /// The password.
    #[schemars(length(min = 8))]
    password: String,
    /// The name of the person.
    full_name: Option<String>,
    /// How to reach the person.
    email: Option<String>,
    /// Anything else.
    comment: Option<String>,
    /// Whether this user may do everything.
    #[serde(default)]
    admin: bool,
}

/// What a user is to be allowed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrantWish {
    /// What; `null` takes the right away.
    level: Option<Level>,
}

async fn all(request: AdmittedRequest) -> Handled {
    let users = request.work::<_, StoreError, _>(|home| home.accounts().users()).await?;
    ListPage { items: users, next: None }.respond(&request)
}

async fn one(request: AdmittedRequest) -> Handled {
    let name = request.param("name")?.to_owned();
    json(&request.work::<_, StoreError, _>(move |home| home.accounts().user(&name)).await?)
}

async fn add(request: AdmittedRequest) -> Handled {
    let UserWish { name, password, full_name, email, comment, admin } = request.json()?;
    let (by, wish) = (request.user()?.name.clone(), NewUser { name, full_name, email, comment, admin });
    let _turn = request.state.hashing.acquire().await.map_err(|e| ProblemDetails::failed(&e))?;
    let add = move |home: &ServedHome| {
        if home.accounts().user(&wish.name).is_ok() {
            return Err(ProblemDetails::conflict("exists", format!("there is a user {} already", wish.name)));
        }
        let user = home.accounts().add(&wish, &password)?;
        home.accounts().note(Some(&by), &format!("added user {}", user.name))?;
        Ok(user)
    };
    let user = request.work(add).await?;
    let mut response = json(&user)?;
    *response.status_mut() = StatusCode::CREATED;
    let place = format!("/api/v1/users/{}", user.name);
    response.headers_mut().extend(HeaderValue::from_str(&place).ok().map(|place| (LOCATION, place)));
    Ok(response)
}

async fn remove(request: AdmittedRequest) -> Handled {
    let (by, name) = (request.user()?.name.clone(), request.param("name")?.to_owned());
    if by == name {
        return Err(ProblemDetails::conflict("own-account", "nobody removes the own account: somebody else must"));
    }
    let remove = move |home: &ServedHome| {
        home.accounts().remove(&name)?;
        home.accounts().note(Some(&by), &format!("removed user {name}"))
    };
    request.work::<_, StoreError, _>(remove).await?;
    let mut response = axum::response::Response::new(axum::body::Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

async fn grant(request: AdmittedRequest) -> Handled {
    let GrantWish { level } = request.json()?;
    let by = request.user()?.name.clone();
    let (name, project) = (request.param("name")?.to_owned(), request.param("project")?.to_owned());
    let grant = move |home: &ServedHome| {
        let project = home.locate(&project)?;
        let user = home.accounts().grant(&name, &project.name, level)?;
        let level = level.map_or("nothing", Level::name);
        home.accounts().note(Some(&by), &format!("user {name} may {level} on project {}", project.name))?;
        Ok::<_, StoreError>(user)
    };
    json(&request.work(grant).await?)
}
