//! How do archived bytes leave a page of ours?
//!
//! They came from anywhere and must not act in our name: they are sent as an attachment with a name
//! ([`publish`](crate::publish)), and shown only if browsers do nothing with their type but show
//! it.

use crate::problem::{Handled, ProblemDetails};
use crate::publish::publish;
use crate::request::AdmittedRequest;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use orb_answers::{ArchivedVersion, ContentExtent, ContentForm};

/// Types that browsers only show.
const INERT: &[&str] = &[
    "application/json",
    "application/pdf",
    "audio/mpeg",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/csv",
    "text/plain",
    "video/mp4",
    "video/webm",
];

/// The type that archived content of this type is shown as.
pub(crate) fn sent_as(mime: Option<&str>) -> &'static str {
    let found = INERT.iter().find(|inert| mime.is_some_and(|mime| mime.eq_ignore_ascii_case(inert)));
    found.copied().unwrap_or("application/octet-stream")
}

/// A version as an attachment of this name. A slow client holds no thread.
pub(crate) async fn attachment(request: &AdmittedRequest, version: ArchivedVersion, name: &str) -> Handled {
    let mut response = publish(request, version, (ContentForm::Raw, ContentExtent::Whole)).await?;
    let named = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let named = named.map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().insert(CONTENT_DISPOSITION, named);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_browsers_act_upon_has_no_type() {
        for mime in
            ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript", "text/css", "text/xml", ""]
        {
            assert_eq!(sent_as(Some(mime)), "application/octet-stream", "{mime}");
        }
        assert_eq!((sent_as(Some("image/PNG")), sent_as(None)), ("image/png", "application/octet-stream"));
    }
}
