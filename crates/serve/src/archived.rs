//! How do archived bytes leave?
//!
//! They came from anywhere and must not act in our name: they are sent as an attachment, with their
//! own type only if browsers do nothing with it but show it, under a policy that forbids
//! everything. They are streamed, since a body may be larger than memory, by a thread that waits
//! for whoever reads, so none of those that answer questions.

use crate::problem::{Handled, ProblemDetails};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use hyper::body::Frame;
use orb_answers::ArchivedVersion;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{Receiver, Sender, channel};

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

/// Nothing may be loaded, run, sent or embedded.
const NOTHING: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// Bytes sent at a time, and how many parts may wait.
const PART: usize = 1 << 16;
const WAITING: usize = 4;

/// The type that archived content of this type is sent as.
pub(crate) fn sent_as(mime: Option<&str>) -> &'static str {
    let found = INERT.iter().find(|inert| mime.is_some_and(|mime| mime.eq_ignore_ascii_case(inert)));
    found.copied().unwrap_or("application/octet-stream")
}

/// A version as an attachment of this name.
pub(crate) async fn attachment(version: ArchivedVersion, name: &str) -> Handled {
    let kind = sent_as(version.mime.as_deref());
    let (sender, parts) = channel(WAITING);
    tokio::task::spawn_blocking(move || send(&version, &sender));
    let mut response = Response::new(Body::new(StreamedBody { parts }));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(NOTHING));
    let named = format!("attachment; filename=\"{name}\"");
    let named = HeaderValue::from_str(&named).map_err(|e| ProblemDetails::failed(&e))?;
    headers.insert(CONTENT_DISPOSITION, named);
    Ok(response)
}

/// Reads a version part by part, until all is read or nobody listens.
fn send(version: &ArchivedVersion, parts: &Sender<io::Result<Bytes>>) {
    let mut body = match version.raw() {
        Ok(body) => body,
        Err(e) => return drop(parts.blocking_send(Err(io::Error::other(e)))),
    };
    loop {
        let mut part = vec![0; PART];
        let read = body.read(&mut part);
        let part = match read {
            Ok(0) => return,
            Ok(length) => {
                part.truncate(length);
                Ok(part.into())
            }
            Err(e) => Err(e),
        };
        let is_last = part.is_err();
        if parts.blocking_send(part).is_err() || is_last {
            return;
        }
    }
}

/// A body whose parts come from another thread.
struct StreamedBody {
    parts: Receiver<io::Result<Bytes>>,
}

impl hyper::body::Body for StreamedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.parts.poll_recv(context).map(|part| part.map(|part| part.map(Frame::data)))
    }
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
