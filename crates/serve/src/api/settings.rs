//! How does a program read and change the settings of a project?
//!
//! As JSON, what `orb project show --json` prints, or as the file itself. Whoever changes them says
//! which version was read, so that nobody overwrites what somebody else has written.

use crate::accepted::prefers;
use crate::openapi::{AskedHeaders, RouteShape};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json as sent, text_of, typed};
use crate::routes::{Right, RouteRow};
use crate::settings_file::{kept, read, save, stale, version};
use axum::response::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, ETAG, HeaderValue, IF_MATCH};
use orb_project::Settings;
use serde_json::{Map, Value, json};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get(
        "/api/v1/projects/{p}/settings",
        Right::Edit,
        |request| Box::pin(show(request)),
        "The settings of a project",
    )
    .shaped(RouteShape::gives::<Map<String, Value>>().or(&[TOML]))
    .with_secret(),
    RouteRow::put(
        "/api/v1/projects/{p}/settings",
        Right::Edit,
        |request| Box::pin(replace(request)),
        "Replace the settings of a project (If-Match: the ETag that was read)",
    )
    .shaped(RouteShape::gives::<Map<String, Value>>().takes::<Map<String, Value>>().or(&[TOML]).hears(READ, &[])),
];

const READ: AskedHeaders =
    &[("If-Match", "The entity tag of the settings that were read, or * for any; it must be there")];

/// The media type of the file.
const TOML: &str = "application/toml";

async fn show(request: AdmittedRequest) -> Handled {
    let text = kept(&request).await?;
    respond(&request, text)
}

/// The settings in the form that is wanted, with their version.
fn respond(request: &AdmittedRequest, text: String) -> Handled {
    let tag = format!("\"{}\"", version(&text));
    let wants_file = prefers(&request.parts.headers, TOML, "application/json");
    let mut response: Response = if wants_file { typed(TOML, text) } else { sent(&read(&text)?)? };
    let tag = HeaderValue::from_str(&tag).map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().insert(ETAG, tag);
    Ok(response)
}

async fn replace(request: AdmittedRequest) -> Handled {
    let expected = expected(text_of(&request.parts.headers, &IF_MATCH))?;
    // What makes no sense is refused as such, whichever version it is for (RFC 9110, 13.2.1).
    let sent = SentSettings::of(&request)?;
    let before = kept(&request).await?;
    if expected.as_deref().is_some_and(|expected| expected != version(&before)) {
        return Err(stale());
    }
    let saved = match sent {
        SentSettings::File(text) => save(&request, expected.as_deref(), text).await?,
        SentSettings::Values(settings) => {
            let saved = save(&request, expected.as_deref(), settings.amended(&before)).await;
            // Positions in a text that the client has not seen would mislead it.
            saved.map_err(ProblemDetails::without_positions)?
        }
    };
    respond(&request, saved)
}

/// Settings as they were sent.
enum SentSettings {
    /// The file.
    File(String),
    /// What is in it: the file is edited where it says something else.
    Values(Box<Settings>),
}

impl SentSettings {
    fn of(request: &AdmittedRequest) -> Result<Self, ProblemDetails> {
        let kind = text_of(&request.parts.headers, &CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
        if kind == TOML {
            let text = std::str::from_utf8(&request.body);
            let text = text.map_err(|_| ProblemDetails::malformed("the text is not UTF-8"))?;
            return Ok(Self::File(text.to_owned()));
        }
        // Not what is sent but how: whoever sends no JSON is told so, too.
        request.json::<Value>()?;
        let settings = serde_json::from_slice(&request.body).map_err(|e| {
            let fault = json!({"line": e.line(), "column": e.column(), "key": null, "message": e.to_string()});
            ProblemDetails::unprocessable(e).with("errors", json!([fault]))
        })?;
        Ok(Self::Values(Box::new(settings)))
    }
}

/// The version that is to be replaced; `None` if any is.
fn expected(field: &str) -> Result<Option<String>, ProblemDetails> {
    let tag = field.trim();
    if tag.is_empty() {
        let detail = "say which version is to be replaced: If-Match with the ETag of the settings";
        let status = StatusCode::PRECONDITION_REQUIRED;
        return Err(ProblemDetails::new(status, "version-wanted", "Which version?", detail));
    }
    // A weak or a foreign tag is no version of ours, and matches none.
    Ok((tag != "*").then(|| tag.trim_matches('"').to_owned()))
}
