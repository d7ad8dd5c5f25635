//! What is sent when a form is submitted?

use bytes::Bytes;

/// A form submission as a browser would send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The form's action as written, not yet resolved; empty means the page itself.
    pub action: String,
    /// The query that replaces the URL's own, if the method is `get`.
    pub query: Option<String>,
    /// The request body, if the method is `post`.
    pub payload: Option<RequestBody>,
}

/// A request body.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestBody {
    /// Its `Content-Type`.
    pub mime: String,
    /// The bytes.
    pub bytes: Bytes,
    /// The same with secrets redacted, for the archive.
    pub kept: Bytes,
}

impl std::fmt::Debug for RequestBody {
    /// Omits secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payload").field("mime", &self.mime).field("kept", &self.kept).finish_non_exhaustive()
    }
}
