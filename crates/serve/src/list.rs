//! How does the API return a part of a list?

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json};
use http::header::{HeaderValue, LINK};
use schemars::JsonSchema;
use serde::Serialize;

/// Rows of a list without a wish.
const USUAL: usize = 100;

/// The most rows of a list.
const MOST: usize = 1_000;

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
        let mut response = json(self)?;
        if let Some(next) = &self.next {
            let pairs = url::form_urlencoded::parse(request.parts.uri.query().unwrap_or_default().as_bytes());
            let kept = pairs.filter(|(name, _)| name != "after");
            let query = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(kept)
                .append_pair("after", next)
                .finish();
            let link = format!("<{}?{query}>; rel=\"next\"", request.parts.uri.path());
            let link = HeaderValue::from_str(&link).map_err(|e| ProblemDetails::failed(&e))?;
            response.headers_mut().insert(LINK, link);
        }
        Ok(response)
    }
}

/// How many rows a request wants.
pub(crate) fn limit(request: &AdmittedRequest) -> Result<usize, ProblemDetails> {
    Ok(request.query().parsed("limit")?.unwrap_or(USUAL).clamp(1, MOST))
}
