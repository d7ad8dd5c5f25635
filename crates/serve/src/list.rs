//! How does the API return a part of a list?

use crate::accepted::preferred;
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json, typed};
use crate::sheet::csv_sheet;
use axum::response::Response;
use http::header::{HeaderValue, LINK};
use orb_answers::Window;
use schemars::JsonSchema;
use serde::Serialize;

/// Rows of a list without a wish.
const USUAL: usize = 100;

/// The most rows of a list.
const MOST: usize = 1_000;

/// What a list of flat rows can be had as, besides JSON.
pub(crate) const TABLES: &[&str] = &["application/x-ndjson", "text/csv"];

/// All of these.
pub(crate) const FORMS: &[&str] = &["application/json", "application/x-ndjson", "text/csv"];

/// A part of a list, and where the next part begins.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ListPage<T> {
    /// The rows.
    pub(crate) items: Vec<T>,
    /// What to send as `after` for the rows that follow; `None` at the end.
    pub(crate) next: Option<String>,
}

impl<T: Serialize> ListPage<T> {
    /// The first `limit` of these rows, each of which has this key. Give one row more than the
    /// limit: it tells that there is a next part.
    pub(crate) fn of(mut rows: Vec<T>, limit: usize, key: impl Fn(&T) -> String) -> Self {
        let is_cut = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| is_cut).map(key);
        Self { items: rows, next }
    }

    /// The response, with a link to the next part.
    pub(crate) fn respond(&self, request: &AdmittedRequest) -> Handled {
        linked(request, json(self)?, self.next.as_deref())
    }

    /// The response as JSON, as a JSON object a line, or as CSV: what the request accepts. Rows
    /// must be flat.
    pub(crate) fn respond_as_asked(&self, request: &AdmittedRequest) -> Handled {
        let failed = |e: &dyn std::fmt::Display| ProblemDetails::failed(e);
        let response = match preferred(&request.parts.headers, FORMS) {
            "application/x-ndjson" => {
                let lines = self.items.iter().map(|row| serde_json::to_string(row).map(|line| line + "\n"));
                typed("application/x-ndjson", lines.collect::<Result<String, _>>().map_err(|e| failed(&e))?)
            }
            "text/csv" => typed("text/csv; charset=utf-8", csv_sheet(&self.items).map_err(|e| failed(&e))?),
            _ => json(self)?,
        };
        linked(request, response, self.next.as_deref())
    }
}

/// An answer that holds a part of a list, and where the next part begins.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Continued<T> {
    /// The answer.
    #[serde(flatten)]
    pub(crate) answer: T,
    /// What to send as `after` for the rows that follow; `None` at the end.
    pub(crate) next: Option<String>,
}

impl<T: Serialize> Continued<T> {
    /// The response, with a link to the next part.
    pub(crate) fn respond(&self, request: &AdmittedRequest) -> Handled {
        linked(request, json(self)?, self.next.as_deref())
    }
}

/// A response with a link to the next part, if there is one.
pub(crate) fn linked(request: &AdmittedRequest, mut response: Response, next: Option<&str>) -> Handled {
    let Some(next) = next else { return Ok(response) };
    let pairs = url::form_urlencoded::parse(request.parts.uri.query().unwrap_or_default().as_bytes());
    let kept = pairs.filter(|(name, _)| name != "after");
    let query =
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).append_pair("after", next).finish();
    let link = format!("<{}?{query}>; rel=\"next\"", request.parts.uri.path());
    let link = HeaderValue::from_str(&link).map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().insert(LINK, link);
    Ok(response)
}

/// How many rows a request wants.
pub(crate) fn limit(request: &AdmittedRequest) -> Result<usize, ProblemDetails> {
    Ok(request.query().parsed("limit")?.unwrap_or(USUAL).clamp(1, MOST))
}

/// Which part of a list without keys a request wants: so many rows after those it has had. One row
/// more is asked for, which tells whether there is a next part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListStretch {
    limit: usize,
    passed: u64,
}

impl ListStretch {
    /// What a request wants.
    pub(crate) fn of(request: &AdmittedRequest) -> Result<Self, ProblemDetails> {
        Ok(Self { limit: limit(request)?, passed: request.query().parsed("after")?.unwrap_or(0) })
    }

    /// The rows to ask for.
    pub(crate) fn window(self) -> Window {
        Window { limit: self.limit as u64 + 1, offset: self.passed }
    }

    /// Takes the surplus row away and says where the next part begins.
    pub(crate) fn cut<T>(self, rows: &mut Vec<T>) -> Option<String> {
        let is_cut = rows.len() > self.limit;
        rows.truncate(self.limit);
        is_cut.then(|| (self.passed + self.limit as u64).to_string())
    }
}
