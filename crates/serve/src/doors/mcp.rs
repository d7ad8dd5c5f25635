//! How do language models ask over HTTP?
//!
//! The streamable HTTP transport of the Model Context Protocol, without sessions: every message is
//! one POST and its answer one JSON object. There is nothing that the server would say by itself,
//! so there is no stream to open.

use crate::mcp::{self, Assistant, VERSIONS};
use crate::problem::Handled;
use crate::request::{AdmittedRequest, json, text_of};
use crate::routes::{Right, RouteRow};
use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http::header::HeaderName;
use serde_json::Value;
use std::sync::Arc;

pub(crate) const ROUTES: &[RouteRow] =
    &[RouteRow::post("/mcp", Right::SignedIn, |request| Box::pin(hear(request)), "Tools for language models (MCP)")];

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

async fn hear(request: AdmittedRequest) -> Handled {
    let message: Value = request.json()?;
    let version = text_of(&request.parts.headers, &VERSION);
    if !version.is_empty() && !VERSIONS.contains(&version) {
        let mut response = json(&mcp::other_version(&message, version))?;
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(response);
    }
    let is_query = message["params"]["name"] == "sql";
    let turn = is_query.then(|| request.state.query_turn()).transpose()?;
    let (identity, shelf) = (request.identity()?.clone(), request.state.desk.shelf());
    let state = Arc::clone(&request.state);
    let reply = request.state.desk.work(move |home| {
        let _turn = turn;
        let (launcher, counting, identity) = (&state.launcher, Some(&state.counting), Some(&identity));
        let assistant = Assistant { home, shelf: &shelf, launcher, counting, identity, may_act: false };
        mcp::reply(&assistant, &message)
    });
    if let Some(reply) = reply.await? {
        return json(&reply);
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}
