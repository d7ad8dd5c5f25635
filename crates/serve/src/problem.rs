//! What does a client read when it does not get what it asked for?
//!
//! One type for every failure, rendered as problem details (RFC 9457) for programs and as a page
//! for people. What we did wrong ourselves goes to the log; a client learns only that it happened,
//! since paths and causes are nobody's business.

use crate::accepted::prefers;
use crate::view::{ErrorPage, Frame};
use askama::Template as _;
use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use orb_answers::AnswerError;
use orb_project::{ProjectError, SettingsError, StoreError};
use serde_json::{Value, json};
use std::fmt::Display;

/// A request that failed, and why.
#[derive(Debug)]
pub(crate) struct ProblemDetails {
    /// The status of the response.
    pub(crate) status: StatusCode,
    /// What kind of problem it is: the last part of its `type`.
    kind: &'static str,
    /// The kind in words.
    title: &'static str,
    /// This one in words.
    pub(crate) detail: String,
    /// More members for programs.
    more: Vec<(&'static str, Value)>,
    /// Header fields that belong to it.
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The result of a handler.
pub(crate) type Handled = Result<Response, ProblemDetails>;

impl ProblemDetails {
    pub(crate) fn new(status: StatusCode, kind: &'static str, title: &'static str, detail: impl Display) -> Self {
        let (detail, more, headers) = (detail.to_string(), Vec::new(), Vec::new());
        Self { status, kind, title, detail, more, headers }
    }

    /// The request makes no sense.
    pub(crate) fn malformed(detail: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", "The request is malformed", detail)
    }

    /// Nobody knows who is asking.
    pub(crate) fn unauthenticated() -> Self {
        let detail = "log in, or send a token as Authorization: Bearer";
        let problem = Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", "Who is asking?", detail);
        problem.with_header(WWW_AUTHENTICATE, "Bearer realm=\"orb\"")
    }

    /// Whoever is asking may not.
    pub(crate) fn forbidden(detail: impl Display) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not allowed", detail)
    }

    /// There is no such thing, or whoever is asking may not know of it.
    pub(crate) fn not_found(detail: impl Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail)
    }

    /// It cannot be done as things are.
    pub(crate) fn conflict(kind: &'static str, detail: impl Display) -> Self {
        Self::new(StatusCode::CONFLICT, kind, "Not as things are", detail)
    }

    /// What would answer is not there yet.
    pub(crate) fn not_built(detail: impl Display) -> Self {
        Self::new(StatusCode::CONFLICT, "not-built", "Nothing here yet", detail)
    }

    /// The request was understood and is refused for what it says.
    pub(crate) fn unprocessable(detail: impl Display) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", "Refused", detail)
    }

    /// The server is busy.
    pub(crate) fn busy(detail: impl Display) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "Busy", detail);
        problem.with_header(RETRY_AFTER, "5")
    }

    /// The shared store does not answer.
    pub(crate) fn store_away() -> Self {
        let detail = "the shared store does not answer";
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "store-away", "The store is away", detail);
        problem.with_header(RETRY_AFTER, "5")
    }

    /// There is no copy yet of a project on the shared store.
    pub(crate) fn copying(project: &str, has_failed: bool) -> Self {
        let (title, detail) = match has_failed {
            false => ("Being copied", "is on a shared store, and its first copy is being made: look again in a moment"),
            true => ("Not copied yet", "is on a shared store that does not answer, or not as it should"),
        };
        let detail = format!("project {project} {detail}");
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "copying", title, detail);
        problem.with_header(RETRY_AFTER, "2")
    }

    /// We failed. The cause goes to the log.
    pub(crate) fn failed(cause: &dyn Display) -> Self {
        tracing::error!("a request failed: {cause}");
        let detail = "the server's log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "The server failed", detail)
    }

    /// The same with a header field.
    pub(crate) fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
        self
    }

    /// The same with one more member.
    pub(crate) fn with(mut self, member: &'static str, value: Value) -> Self {
        self.more.push((member, value));
        self
    }

    /// The same without positions in a text: for clients that sent none.
    pub(crate) fn without_positions(mut self) -> Self {
        let errors = self.more.iter_mut().filter(|(name, _)| *name == "errors").filter_map(|(_, v)| v.as_array_mut());
        for fault in errors.flatten().filter_map(Value::as_object_mut) {
            let key = fault.get("key").and_then(Value::as_str).map(|key| format!("{key}: ")).unwrap_or_default();
            self.detail = format!("{key}{}", fault.get("message").and_then(Value::as_str).unwrap_or_default());
            fault.retain(|name, _| name != "line" && name != "column");
        }
        self
    }

    /// The response for a client that sent this.
    pub(crate) fn respond(self, path: &str, headers: &HeaderMap, frame: Frame) -> Response {
        let (kind, body) = match prefers_page(path, headers) {
            true => ("text/html; charset=utf-8", self.page(frame)),
            false => ("application/problem+json", self.json(path)),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response.headers_mut().extend(self.headers);
        response
    }

    fn json(&self, path: &str) -> String {
        let mut out = json!({
            "type": format!("/problems/{}", self.kind),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": self.detail,
            "instance": path,
        });
        if let Some(members) = out.as_object_mut() {
            members.extend(self.more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        out.to_string()
    }

    fn page(&self, frame: Frame) -> String {
        let (status, again) = (self.status.as_u16(), self.kind == "copying");
        let may_begin = self.kind == "not-built" && frame.may_run;
        let page = ErrorPage { frame, status, title: self.title, detail: &self.detail, again, may_begin };
        // A template over plain strings does not fail; if it does, people read at least this.
        page.render().unwrap_or_else(|_| self.title.to_owned())
    }
}

/// Whether an error is read by a person with a browser.
fn prefers_page(path: &str, headers: &HeaderMap) -> bool {
    !path.starts_with("/api/") && prefers(headers, "text/html", "application/json")
}

impl From<AnswerError> for ProblemDetails {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Malformed(why) => Self::malformed(why),
            AnswerError::Unknown(what) => Self::not_found(what),
            AnswerError::NotBuilt(what) => Self::not_built(what),
            AnswerError::Refused(why) => Self::unprocessable(why),
            AnswerError::Failed(cause) => match cause.downcast::<StoreError>() {
                Ok(error) => (*error).into(),
                Err(cause) => Self::failed(&cause),
            },
            AnswerError::Output(_) => Self::failed(&error),
        }
    }
}

impl From<StoreError> for ProblemDetails {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchProject { name, .. } | StoreError::BadName { name } => {
                Self::not_found(format!("there is no project {name}"))
            }
            StoreError::NoSuchUser { .. } => Self::not_found(error),
            StoreError::BadAccount(why) => Self::unprocessable(why),
            StoreError::InUse { .. } => Self::conflict("running", error),
            StoreError::StoreAway { .. } | StoreError::ArchiveAway { .. } => Self::store_away(),
            other => Self::failed(&other),
        }
    }
}

impl From<ProjectError> for ProblemDetails {
    fn from(error: ProjectError) -> Self {
        match error {
            ProjectError::Malformed(why) => Self::malformed(why),
            ProjectError::Refused(why) => Self::conflict("refused", why),
            ProjectError::Stale => crate::settings_file::stale(),
            ProjectError::Settings(why) => {
                let errors = fault(&why).map(|fault| json!([fault]));
                let problem = Self::unprocessable(why);
                errors.into_iter().fold(problem, |problem, errors| problem.with("errors", errors))
            }
            ProjectError::Wrong(why) => Self::unprocessable(why),
            ProjectError::Store(error) => error.into(),
            other => Self::failed(&other),
        }
    }
}

/// What is wrong with settings, and where.
fn fault(error: &SettingsError) -> Option<Value> {
    match error {
        SettingsError::Malformed { place, key, what, .. } => {
            Some(json!({"line": place.line, "column": place.column, "key": key, "message": what}))
        }
        _ => None,
    }
}

impl From<askama::Error> for ProblemDetails {
    fn from(error: askama::Error) -> Self {
        Self::failed(&error)
    }
}
