//! Which requests are answered, by whom, and who may send them?
//!
//! One table. A row names a method, a path, the [`Right`] it takes, its handler and what it does;
//! the router is built from the table and from nothing else, so there is no route without a right.
//!
//! To add a screen: a file in `pages` with its handlers and its `ROUTES`, a template beside the
//! others in `templates`, and its name in the list of `pages/mod.rs`. To add a resource of the API
//! or a door for other programs: the same in `api` or `doors`, without a template. A handler is
//!
//! ```ignore
//! pub(crate) const ROUTES: &[RouteRow] =
//! &[RouteRow::get("/p/{p}/stats", Right::Read, |r| Box::pin(show(r)), "Table 1 of a project")];
//!
//! async fn show(request: AdmittedRequest) -> Handled {
//!     let stats = request.ask(|collection| stats(collection)).await?;
//!     request.page(&StatsPage { frame: request.frame(), stats: &stats }, &stats)
//! }
//! ```
//!
//! By the time it is called the gate has let the request in: `request.project()` is the project
//! `{p}`, which exists, and whoever asks has the row's right on it. In a path, `{p}` is always a
//! project and nothing else is. GET never changes anything; a test walks the table and looks.

use crate::openapi::RouteShape;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::state::AppState;
use crate::{api, assets, doors, gate, pages};
use axum::Router;
use axum::extract::Request;
use axum::routing::{MethodFilter, on};
use http::StatusCode;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// What a route takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// Nothing: everybody may.
    Open,
    /// To be somebody; what is shown depends on who. A token needs the scope `read`.
    SignedIn,
    /// To be logged in: one's own account, which no token may touch.
    Account,
    /// To read the project.
    Read,
    /// To read what the project archived. A token needs the scope `content`.
    Content,
    /// To ask the project in SQL. A token needs the scope `sql`.
    Sql,
    /// To start, stop and acknowledge runs of the project.
    Run,
    /// To change the project.
    Edit,
    /// To manage the server.
    Admin,
    /// To be logged in as an administrator: the accounts of others, which no token may change.
    Accounts,
}

impl Right {
    /// Those that one has on a project.
    pub(crate) const ON_PROJECT: [Self; 5] = [Self::Read, Self::Content, Self::Sql, Self::Run, Self::Edit];

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::SignedIn => "signed-in",
            Self::Account => "account",
            Self::Read => "read",
            Self::Content => "content",
            Self::Sql => "sql",
            Self::Run => "run",
            Self::Edit => "edit",
            Self::Admin => "admin",
            Self::Accounts => "accounts",
        }
    }
}

/// The methods there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Read.
    Get,
    /// Do.
    Post,
    /// Replace.
    Put,
    /// Remove.
    Delete,
}

impl Verb {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }

    const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// What a handler returns.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Handled> + Send>>;

/// Answers a request that was let in.
pub(crate) type Handler = fn(AdmittedRequest) -> Handling;

/// A row of the table.
#[derive(Clone, Copy)]
pub(crate) struct RouteRow {
    /// The method.
    pub(crate) verb: Verb,
    /// The path, with parameters in braces.
    pub(crate) path: &'static str,
    /// What it takes.
    pub(crate) right: Right,
    /// Who answers.
    pub(crate) handler: Handler,
    /// What it does, in a few words.
    pub(crate) summary: &'static str,
    /// What goes in and out, for routes of the API.
    pub(crate) shape: Option<RouteShape>,
    /// Whether somebody without an account may read it of a project that anyone may read.
    pub(crate) for_guests: bool,
    /// Whether what it sends holds a secret, so that it is not compressed.
    pub(crate) holds_secret: bool,
}

impl RouteRow {
    pub(crate) const fn get(path: &'static str, right: Right, handler: Handler, summary: &'static str) -> Self {
        Self { verb: Verb::Get, path, right, handler, summary, shape: None, for_guests: false, holds_secret: false }
    }

    pub(crate) const fn post(path: &'static str, right: Right, handler: Handler, summary: &'static str) -> Self {
        Self { verb: Verb::Post, path, right, handler, summary, shape: None, for_guests: false, holds_secret: false }
    }

    pub(crate) const fn put(path: &'static str, right: Right, handler: Handler, summary: &'static str) -> Self {
        Self { verb: Verb::Put, path, right, handler, summary, shape: None, for_guests: false, holds_secret: false }
    }

    pub(crate) const fn delete(path: &'static str, right: Right, handler: Handler, summary: &'static str) -> Self {
        Self { verb: Verb::Delete, path, right, handler, summary, shape: None, for_guests: false, holds_secret: false }
    }

    /// The same with what goes in and out.
    pub(crate) const fn shaped(mut self, shape: RouteShape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// The same, also for those without an account where the project is anyone's to read.
    pub(crate) const fn for_guests(mut self) -> Self {
        self.for_guests = true;
        self
    }

    /// The same for what holds a secret, such as a password or an address that opens something.
    pub(crate) const fn with_secret(mut self) -> Self {
        self.holds_secret = true;
        self
    }

    /// Whether it changes something that only projects of the home have.
    pub(crate) fn is_at_home(&self) -> bool {
        const BESIDE: [&str; 3] = ["/intake", "/check", "/deliver"];
        let is_beside = || BESIDE.iter().any(|path| self.path.ends_with(path));
        self.verb != Verb::Get && self.has_project() && (self.right == Right::Edit || is_beside())
    }

    /// Whether it is about a project.
    pub(crate) fn has_project(&self) -> bool {
        self.path.split('/').any(|part| part == "{p}")
    }
}

/// The whole table.
pub(crate) fn table() -> impl Iterator<Item = &'static RouteRow> {
    [assets::ROUTES]
        .into_iter()
        .chain(pages::FAMILY.iter().copied())
        .chain(api::FAMILY.iter().copied())
        .chain(doors::FAMILY.iter().copied())
        .flatten()
}

/// Whether there is a page at this path, so that others link to it.
pub(crate) fn has_page(path: &str) -> bool {
    page_at(path).is_some()
}

/// The row of the page at this path, if there is one.
pub(crate) fn page_at(path: &str) -> Option<&'static RouteRow> {
    table().find(|row| row.verb == Verb::Get && row.path == path)
}

/// The router: every row behind the gate, and nothing for everything else.
pub(crate) fn router(state: &Arc<AppState>) -> Router {
    let mut router = Router::new();
    for row in table() {
        let state = Arc::clone(state);
        let pass = move |request: Request| gate::pass(state, row, request);
        router = router.route(row.path, on(row.verb.filter(), pass));
    }
    let nowhere = |request: Request| async move {
        let problem = ProblemDetails::not_found("there is nothing at this address");
        gate::refuse(problem, &request)
    };
    let otherwise = |request: Request| async move {
        let detail = format!("{} is not possible here", request.method());
        let problem = ProblemDetails::new(StatusCode::METHOD_NOT_ALLOWED, "method", "Not with this method", detail);
        gate::refuse(problem, &request)
    };
    router.fallback(nowhere).method_not_allowed_fallback(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_on_a_project_is_asked_for_where_there_is_one_and_nowhere_else() {
        for row in table() {
            let about_project =
                !matches!(row.right, Right::Open | Right::SignedIn | Right::Account | Right::Admin | Right::Accounts);
            assert_eq!(about_project, row.has_project(), "{} {}", row.verb.name(), row.path);
            assert!(!row.summary.is_empty(), "{} does not say what it does", row.path);
        }
    }

    #[test]
    fn guests_read_and_nothing_else() {
        for row in table().filter(|row| row.for_guests) {
            let reads = row.verb == Verb::Get && matches!(row.right, Right::Read | Right::Content);
            assert!(reads && row.path.starts_with("/p/{p}"), "{} {}", row.verb.name(), row.path);
        }
    }

    #[test]
    fn no_row_is_there_twice() {
        let mut rows: Vec<_> = table().map(|row| (row.path, row.verb.name())).collect();
        let all = rows.len();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), all);
    }
}
