//! What does a handler know, and what can it do?

use crate::accepted::prefers;
use crate::fields::FormFields;
use crate::gate::{IdentifiedBy, Identity};
use crate::problem::{Handled, ProblemDetails};
use crate::routes::Right;
use crate::shared::{ServedHome, SharedProjects};
use crate::state::AppState;
use crate::view::Frame;
use askama::Template;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use orb_answers::{Collection, ProjectStatus, is_shared_copy};
use orb_project::{ProjectDir, User};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;
use std::sync::Arc;

/// Where a connection came from; the accept loop adds it to every request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// A request that the gate has let in.
pub(crate) struct AdmittedRequest {
    /// What all requests share.
    pub(crate) state: Arc<AppState>,
    /// Who is asking; `None` on routes that are open to everybody.
    pub(crate) identity: Option<Identity>,
    /// Method, URI and header fields.
    pub(crate) parts: Parts,
    /// The body, at most as long as the gate allows.
    pub(crate) body: Bytes,
    pub(crate) project: Option<ProjectDir>,
    pub(crate) params: Vec<(String, String)>,
}

impl AdmittedRequest {
    /// The project `{p}`, on which whoever asks has the right of the route.
    pub(crate) fn project(&self) -> Result<&ProjectDir, ProblemDetails> {
        self.project.as_ref().ok_or_else(|| ProblemDetails::failed(&"a route without {p} asked for its project"))
    }

    /// Who is asking.
    pub(crate) fn identity(&self) -> Result<&Identity, ProblemDetails> {
        self.identity.as_ref().ok_or_else(ProblemDetails::unauthenticated)
    }

    /// The account of whoever is asking.
    pub(crate) fn user(&self) -> Result<&User, ProblemDetails> {
        self.identity().map(|identity| &identity.user)
    }

    /// Whether whoever asks has no account.
    pub(crate) fn is_guest(&self) -> bool {
        self.identity.as_ref().is_some_and(Identity::is_guest)
    }

    /// Whether whoever asks has a right on the project.
    pub(crate) fn may(&self, right: Right) -> bool {
        let (identity, project) = (self.identity.as_ref(), self.project.as_ref());
        identity.zip(project).is_some_and(|(identity, project)| identity.may(right, &project.name))
    }

    /// Whether whoever asks may touch settings that run programs, read files or reach inside.
    pub(crate) fn is_operator(&self) -> Result<bool, ProblemDetails> {
        Ok(self.state.operator_keys && self.user()?.admin)
    }

    /// The id of the session in which this was asked.
    pub(crate) fn session(&self) -> Option<&str> {
        match &self.identity.as_ref()?.by {
            IdentifiedBy::Session(id) => Some(id),
            IdentifiedBy::Token(_) | IdentifiedBy::Nothing => None,
        }
    }

    /// The parameter of this name in the path.
    pub(crate) fn param(&self, name: &str) -> Result<&str, ProblemDetails> {
        let found = self.params.iter().find(|(param, _)| param == name);
        found.map(|(_, value)| value.as_str()).ok_or_else(|| ProblemDetails::failed(&"a route lacks a parameter"))
    }

    /// The parameter of this name as a number; what is none leads nowhere.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<T, ProblemDetails> {
        let text = self.param(name)?;
        text.parse().map_err(|_| ProblemDetails::not_found(format!("'{text}' is not a number")))
    }

    /// The query of the URI.
    pub(crate) fn query(&self) -> FormFields {
        FormFields::read(self.parts.uri.query().unwrap_or_default().as_bytes())
    }

    /// The fields of a form that was sent.
    pub(crate) fn form(&self) -> Result<FormFields, ProblemDetails> {
        self.expect_type("application/x-www-form-urlencoded")?;
        Ok(FormFields::read(&self.body))
    }

    /// The JSON that was sent. Nothing else is read as JSON: forms of other sites can send anything
    /// but this type without asking first.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ProblemDetails> {
        self.expect_type("application/json")?;
        serde_json::from_slice(&self.body).map_err(ProblemDetails::malformed)
    }

    fn expect_type(&self, wanted: &str) -> Result<(), ProblemDetails> {
        let sent = text_of(&self.parts.headers, &CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
        if sent.eq_ignore_ascii_case(wanted) {
            return Ok(());
        }
        let (status, title) = (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not this type");
        Err(ProblemDetails::new(status, "media-type", title, format!("send {wanted}")))
    }

    /// Where the request came from.
    pub(crate) fn peer(&self) -> IpAddr {
        self.parts.extensions.get().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer: &PeerAddress| peer.0)
    }

    /// Asks the project's collection.
    pub(crate) async fn ask<T, E, F>(&self, question: F) -> Result<T, ProblemDetails>
    where
        T: Send + 'static,
        E: Into<ProblemDetails> + Send + 'static,
        F: FnOnce(&Collection) -> Result<T, E> + Send + 'static,
    {
        self.state.desk.ask(self.project()?, question).await
    }

    /// Does something with the home that blocks.
    pub(crate) async fn work<T, E, F>(&self, job: F) -> Result<T, ProblemDetails>
    where
        T: Send + 'static,
        E: Into<ProblemDetails> + Send + 'static,
        F: FnOnce(&ServedHome) -> Result<T, E> + Send + 'static,
    {
        self.state.desk.work(job).await?.map_err(E::into)
    }

    /// The state of the project.
    pub(crate) async fn status(&self) -> Result<ProjectStatus, ProblemDetails> {
        let (board, project) = (Arc::clone(&self.state.board), self.project()?.clone());
        self.work(move |_| board.status(&project)).await
    }

    /// What stands around a page.
    pub(crate) fn frame(&self) -> Frame {
        let shared = self.state.shared.as_ref();
        Frame::around(self.identity.as_ref(), self.parts.uri.path(), self.project.as_ref(), shared)
    }

    /// The project's place on the shared store; `None` if it is one of the home.
    pub(crate) fn shared(&self) -> Option<(&Arc<SharedProjects>, &ProjectDir)> {
        let project = self.project.as_ref().filter(|project| is_shared_copy(project))?;
        self.state.shared.as_ref().map(|shared| (shared, project))
    }

    /// Waits a moment until what was changed on the shared store is seen here.
    pub(crate) async fn catch_up(&self) {
        if let Some((shared, project)) = self.shared() {
            shared.catch_up(&project.name).await;
        }
    }

    /// Whether a program asks, that wants JSON where people get a page.
    pub(crate) fn wants_json(&self) -> bool {
        prefers(&self.parts.headers, "application/json", "text/html")
    }

    /// A page for people, or the answer it shows for programs.
    pub(crate) fn page(&self, page: &impl Template, answer: &impl Serialize) -> Handled {
        if self.wants_json() { json(answer) } else { html(page) }
    }

    /// To another address of ours, to be read there.
    pub(crate) fn redirect(path: &str) -> Handled {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SEE_OTHER;
        let target = HeaderValue::from_str(path).map_err(|e| ProblemDetails::failed(&e))?;
        response.headers_mut().insert(LOCATION, target);
        Ok(response)
    }
}

/// The first header field of this name; empty if there is none or it is not text.
pub(crate) fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A page.
pub(crate) fn html(page: &impl Template) -> Handled {
    Ok(typed("text/html; charset=utf-8", page.render()?))
}

/// An answer for programs.
pub(crate) fn json(answer: &impl Serialize) -> Handled {
    let text = serde_json::to_vec(answer).map_err(|e| ProblemDetails::failed(&e))?;
    Ok(typed("application/json", text))
}

/// A response of this type.
pub(crate) fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
