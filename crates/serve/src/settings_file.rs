//! How are a project's settings read and replaced, whoever asks?
//!
//! The settings page, the screens for parts of the file and the API all come here: a text replaces
//! the file only if the file is still the version that was shown, the text is valid, and it leaves
//! alone what is the operator's. Passwords that somebody types go to a file of their own.

use crate::problem::ProblemDetails;
use crate::request::AdmittedRequest;
use http::StatusCode;
use orb_project::{
    ProjectError, Settings, TypedSecret, keep_secret, replace_settings, settings_text, without_typed_secrets,
};
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// The longest text that is saved.
const LONGEST: usize = 256 << 10;

/// The text of a project's file; empty if there is none.
pub(crate) async fn kept(request: &AdmittedRequest) -> Result<String, ProblemDetails> {
    let project = request.project()?.clone();
    request.work(move |_| settings_text(&project)).await
}

/// What a text says, if it can be read.
pub(crate) fn read(text: &str) -> Result<Settings, ProblemDetails> {
    Ok(Settings::parse(text, Path::new("project.toml")).map_err(ProjectError::from)?)
}

/// What a text says; the defaults if it cannot be read.
pub(crate) fn read_loosely(text: &str) -> Settings {
    Settings::parse(text, Path::new("project.toml")).unwrap_or_default()
}

/// What tells one text from another.
pub(crate) fn version(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Somebody else was faster: what was to be changed is not what there is any more.
pub(crate) fn stale() -> ProblemDetails {
    let detail = "somebody else has changed the settings meanwhile: load them again and make your change there";
    ProblemDetails::new(StatusCode::PRECONDITION_FAILED, "stale", "Changed meanwhile", detail)
}

/// Replaces the file by a text if its version is still this one; returns what it says now.
/// Passwords that were typed into it are kept elsewhere.
pub(crate) async fn save(
    request: &AdmittedRequest,
    expected: Option<&str>,
    text: String,
) -> Result<String, ProblemDetails> {
    save_with(request, expected, text, Vec::new()).await
}

/// The same with secrets that the text refers to.
pub(crate) async fn save_with(
    request: &AdmittedRequest,
    expected: Option<&str>,
    text: String,
    mut secrets: Vec<TypedSecret>,
) -> Result<String, ProblemDetails> {
    if text.len() > LONGEST {
        return Err(ProblemDetails::unprocessable(format!("settings have at most {LONGEST} bytes")));
    }
    let before = kept(request).await?;
    if expected.is_some_and(|expected| expected != version(&before)) {
        return Err(stale());
    }
    let (project, is_operator) = (request.project()?.clone(), request.is_operator()?);
    let by = request.user()?.name.clone();
    let saved = request.work(move |home| {
        let (text, typed) = without_typed_secrets(&before, &text)?;
        secrets.extend(typed);
        replace_settings(&project, (&before, &text), is_operator)?;
        secrets.iter().try_for_each(|secret| keep_secret(&project, secret))?;
        home.accounts().note(Some(&by), &format!("changed the settings of project {}", project.name))?;
        settings_text(&project)
    });
    saved.await
}
