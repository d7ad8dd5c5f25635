//! What is sent when a form is filled in?

use bytes::Bytes;

/// A form, filled in as a browser would send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Where it goes, as the form wrote it, not yet resolved; empty means the page itself.
    pub action: String,
    /// The query that takes the place of the address's own, where the form asks by `get`.
    pub query: Option<String>,
    /// What is sent along, where it asks by `post`.
    pub payload: Option<Payload>,
}

/// What is sent along with a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Payload {
    /// Its media type, as it stands in the header field.
    pub mime: String,
    /// The bytes.
    pub bytes: Bytes,
    /// The same as it may be kept: what only the server is to know is blotted out.
    pub kept: Bytes,
}

impl std::fmt::Debug for Payload {
    /// Without what only the server is to know.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payload").field("mime", &self.mime).field("kept", &self.kept).finish_non_exhaustive()
    }
}
