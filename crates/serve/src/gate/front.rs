//! What is checked before anything else, and added to every answer?

use super::{origin, pack};
use crate::problem::ProblemDetails;
use crate::request::{PeerAddress, text_of};
use crate::routes;
use crate::state::AppState;
use crate::view::Frame;
use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tower_service::Service as _;

/// How long a request may take until its response begins.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Scripts, styles and pictures are ours; nothing is embedded anywhere, and nothing is sent
/// elsewhere.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// On every response that does not say otherwise. The referrer goes to ourselves only: without it
/// browsers would hide the origin of our own forms from us. What is shown is somebody's, so no
/// cache may keep it for others.
static HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "private, no-cache"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Tells nginx to pass every event on at once.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The whole service: checks, limits, routes and headers.
#[derive(Clone)]
pub(crate) struct Front {
    state: Arc<AppState>,
    router: Router,
}

/// The service over a state.
pub(crate) fn front(state: Arc<AppState>) -> Front {
    let router = routes::router(&state);
    Front { state, router }
}

impl Front {
    /// Answers any request.
    pub(crate) async fn answer(&self, mut request: Request) -> Response {
        self.find_visitor(&mut request);
        let may_pack = pack::may_pack(&request);
        let response = match self.check(&request) {
            Err(problem) => refuse(problem, &request),
            Ok(()) => self.route(request).await,
        };
        let mut response = pack::packed(response, may_pack).await;
        if response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
            response.headers_mut().insert(BUFFERING, HeaderValue::from_static("no"));
        }
        for (name, value) in &HEADERS {
            response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
        }
        response
    }

    /// Replaces the address of a proxy by that of the visitor it speaks for.
    fn find_visitor(&self, request: &mut Request) {
        let Some(&PeerAddress(peer)) = request.extensions().get() else { return };
        let visitor = self.state.proxies.visitor(peer, request.headers());
        request.extensions_mut().insert(PeerAddress(visitor));
    }

    /// Whether the request may come near a route.
    fn check(&self, request: &Request) -> Result<(), ProblemDetails> {
        if request.headers().get_all(header::HOST).iter().nth(1).is_some() {
            return Err(ProblemDetails::malformed("a request names one host"));
        }
        let named = request.uri().authority().map_or(text_of(request.headers(), &header::HOST), |a| a.as_str());
        // The host for views has views, and no log-in, page or API.
        if self.state.views.is(named) {
            let is_view = request.uri().path().starts_with("/view/") && request.method() == Method::GET;
            return if is_view { Ok(()) } else { Err(ProblemDetails::not_found("there is nothing at this address")) };
        }
        if !self.state.hosts.allow(named) {
            let detail = "this server does not answer to that name; orb serve --host NAME allows it";
            return Err(ProblemDetails::new(StatusCode::MISDIRECTED_REQUEST, "host", "Not our name", detail));
        }
        let is_safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if !is_safe && !origin::is_ours(request.headers(), named) {
            return Err(ProblemDetails::forbidden("this was sent by the page of another site"));
        }
        Ok(())
    }

    /// Answers within the time limit.
    async fn route(&self, request: Request) -> Response {
        let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
        let late = |problem: ProblemDetails| problem.respond(&path, &headers, Frame::nobody());
        let mut router = self.router.clone();
        let answer = async { router.call(request).await.unwrap_or_else(|never: Infallible| match never {}) };
        match tokio::time::timeout(TIME_LIMIT, answer).await {
            Ok(response) => response,
            Err(_) => late(ProblemDetails::busy("this took too long")),
        }
    }
}

/// The response to a request that nobody was asked about.
pub(crate) fn refuse(problem: ProblemDetails, request: &Request) -> Response {
    problem.respond(request.uri().path(), request.headers(), Frame::nobody())
}
