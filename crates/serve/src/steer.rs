//! How does a list lead to its other parts and filters?

use crate::request::AdmittedRequest;

impl AdmittedRequest {
    /// This address with some fields of its query set, or removed where they have no value.
    pub(crate) fn here_with(&self, fields: &[(&str, Option<&str>)]) -> String {
        let path = self.parts.uri.path();
        let pairs = url::form_urlencoded::parse(self.parts.uri.query().unwrap_or_default().as_bytes());
        let kept = pairs.filter(|(name, value)| !value.is_empty() && fields.iter().all(|(field, _)| field != name));
        let set = fields.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(kept).extend_pairs(set).finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// How many rows of a list to leave out at the beginning.
    pub(crate) fn offset(&self) -> Result<u64, crate::problem::ProblemDetails> {
        Ok(self.query().parsed("offset")?.unwrap_or(0))
    }

    /// The addresses of the parts before and after one of a list that is read by offset.
    pub(crate) fn around(&self, offset: u64, limit: u64, has_more: bool) -> ListSteps {
        let at = |offset: u64| {
            let text = offset.to_string();
            self.here_with(&[("offset", (offset > 0).then_some(text.as_str()))])
        };
        ListSteps {
            before: (offset > 0).then(|| at(offset.saturating_sub(limit))),
            after: has_more.then(|| at(offset.saturating_add(limit))),
        }
    }
}

/// Where a list goes on.
pub(crate) struct ListSteps {
    /// The part before this one, or the first.
    pub(crate) before: Option<String>,
    /// The part after this one.
    pub(crate) after: Option<String>,
}

/// A way to filter a list, with a link that does it.
pub(crate) struct FilterChoice {
    pub(crate) label: String,
    pub(crate) path: String,
    pub(crate) is_chosen: bool,
}
