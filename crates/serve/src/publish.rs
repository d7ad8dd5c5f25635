//! How is an archived page handed out?
//!
//! The bytes are somebody else's and may be hostile: they never become a page of ours. They leave
//! as a download, under their own media type only if it is one that no browser runs, in a sandbox
//! and without sniffing. The entity tag is the digest of the content, so that whoever has a version
//! is not sent it again; raw bytes can be had in parts (RFC 9110, 14).

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, text_of, typed};
use crate::stream::pieces;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use orb_answers::{AnswerError, ArchivedVersion, ContentExtent, ContentForm};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// The media types that content is sent as: of raw bytes, those that a browser shows and never
/// runs, and one for all others.
pub(crate) const SENT_AS: &[&str] = &[
    "application/octet-stream",
    "text/markdown",
    "application/json",
    "application/pdf",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/csv",
    "text/plain",
];

/// Bytes of a piece.
const PIECE: usize = 1 << 16;

/// The response with a version of a page in this form.
pub(crate) async fn publish(
    request: &AdmittedRequest,
    version: ArchivedVersion,
    (form, extent): (ContentForm, ContentExtent),
) -> Handled {
    let tag = version.digest.as_ref().map(|digest| entity_tag(digest, form, extent));
    let headers = &request.parts.headers;
    let mut response = match &tag {
        Some(tag) if names(text_of(headers, &header::IF_NONE_MATCH), tag) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        _ if form == ContentForm::Raw => raw(request, &version, part(headers, version.length, tag.as_deref())?).await?,
        _ => {
            let kind = match form {
                ContentForm::Markdown => "text/markdown; charset=utf-8",
                ContentForm::Text | ContentForm::Raw => "text/plain; charset=utf-8",
            };
            let read = version.clone();
            let content = request.work::<_, AnswerError, _>(move |_| read.content(form, extent)).await?;
            typed(kind, content.content)
        }
    };
    let fields = [
        (header::CONTENT_SECURITY_POLICY, Some("sandbox; default-src 'none'".to_owned())),
        (header::ETAG, tag),
        (HeaderName::from_static("orb-run"), Some(version.run.to_string())),
        (HeaderName::from_static("orb-captured"), Some(version.at.clone())),
    ];
    for (name, value) in fields {
        let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
        response.headers_mut().extend(value.map(|value| (name, value)));
    }
    Ok(response)
}

/// The tag of a version in a form. What we derive from its bytes may change with the program.
fn entity_tag(digest: &str, form: ContentForm, extent: ContentExtent) -> String {
    match form {
        ContentForm::Raw => format!("\"{digest}\""),
        ContentForm::Text | ContentForm::Markdown => {
            format!("\"{digest}-{form:?}-{extent:?}-{}\"", env!("CARGO_PKG_VERSION")).to_lowercase()
        }
    }
}

/// Whether a field of the request names this tag.
pub(crate) fn names(field: &str, tag: &str) -> bool {
    field.split(',').map(str::trim).any(|named| named == "*" || named.trim_start_matches("W/") == tag)
}

/// The first and last byte that a request wants of so many, if it wants a part. What is not
/// understood is ignored, as is a part of another version.
fn part(headers: &HeaderMap, length: u64, tag: Option<&str>) -> Result<Option<(u64, u64)>, ProblemDetails> {
    let condition = text_of(headers, &header::IF_RANGE);
    let Some(wanted) = text_of(headers, &header::RANGE).strip_prefix("bytes=") else { return Ok(None) };
    if !condition.is_empty() && Some(condition) != tag {
        return Ok(None);
    }
    match bounds(wanted, length) {
        Some(Some(part)) => Ok(Some(part)),
        None => Ok(None),
        Some(None) => {
            let (status, title) = (StatusCode::RANGE_NOT_SATISFIABLE, "No such part");
            let problem = ProblemDetails::new(status, "range", title, format!("there are {length} bytes"));
            Err(problem.with_header(header::CONTENT_RANGE, &format!("bytes */{length}")))
        }
    }
}

/// `a-b`, `a-` or `-n` of so many bytes; `None` if it is something else, `Some(None)` if there are
/// no such bytes.
fn bounds(wanted: &str, length: u64) -> Option<Option<(u64, u64)>> {
    let (first, last) = wanted.trim().split_once('-')?;
    let (first, last) = match (first, last) {
        ("", last) => (length.saturating_sub(last.parse().ok().filter(|&n| n > 0)?), u64::MAX),
        (first, "") => (first.parse().ok()?, u64::MAX),
        (first, last) => (first.parse().ok()?, last.parse().ok()?),
    };
    if last < first {
        return None;
    }
    Some((first < length).then(|| (first, last.min(length - 1))))
}

/// The bytes, or a part of them.
async fn raw(request: &AdmittedRequest, version: &ArchivedVersion, part: Option<(u64, u64)>) -> Handled {
    let read = version.clone();
    let bytes = request.work::<_, AnswerError, _>(move |_| read.raw()).await?;
    let (skip, length) = part.map_or((0, version.length), |(first, last)| (first, last - first + 1));
    let mut response = Response::new(sent(request, bytes, (skip, length)));
    // Whoever gets less than was announced knows that something is missing.
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    let kind = version.mime.as_deref().filter(|mime| SENT_AS.contains(mime)).unwrap_or("application/octet-stream");
    response.headers_mut().extend(HeaderValue::from_str(kind).ok().map(|kind| (header::CONTENT_TYPE, kind)));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    mark_part(&mut response, part, version.length);
    Ok(response)
}

/// A body that is read piece by piece on the threads that may block: so many bytes after those to
/// be skipped.
fn sent(request: &AdmittedRequest, mut reader: impl Read + Send + 'static, (skip, left): (u64, u64)) -> Body {
    let (sender, body) = pieces();
    let state = std::sync::Arc::clone(&request.state);
    tokio::spawn(async move {
        let (mut skip, mut left) = (skip, left);
        loop {
            let read = state.desk.work(move |_| {
                let piece = next_piece(&mut reader, (&mut skip, &mut left));
                (reader, skip, left, piece)
            });
            let Ok((back, skipped, rest, piece)) = read.await else { return };
            (reader, skip, left) = (back, skipped, rest);
            let is_failed = piece.is_err();
            if piece.as_ref().is_ok_and(Bytes::is_empty) || sender.send(piece).await.is_err() || is_failed {
                return;
            }
        }
    });
    body
}

/// Says which part of so many bytes a response is, and that there are parts.
fn mark_part(response: &mut Response, part: Option<(u64, u64)>, length: u64) {
    response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let Some((first, last)) = part else { return };
    let range = format!("bytes {first}-{last}/{length}");
    response.headers_mut().extend(HeaderValue::from_str(&range).ok().map(|range| (header::CONTENT_RANGE, range)));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(last - first + 1));
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
}

/// The response with a file of ours that never changes, known by this tag: a download in parts.
pub(crate) async fn send_file(request: &AdmittedRequest, path: PathBuf, (name, tag): (&str, &str)) -> Handled {
    let headers = &request.parts.headers;
    let open = move |_: &crate::shared::ServedHome| {
        let file = File::open(path)?;
        Ok((file.metadata()?.len(), file))
    };
    let opened: io::Result<_> = request.state.desk.work(open).await?;
    let (length, mut file) = opened.map_err(|e| ProblemDetails::failed(&format!("cannot open an export: {e}")))?;
    let part = part(headers, length, Some(tag))?;
    let (first, last) = part.unwrap_or((0, length.saturating_sub(1)));
    io::Seek::seek(&mut file, io::SeekFrom::Start(first)).map_err(|e| ProblemDetails::failed(&e))?;
    let mut response = Response::new(sent(request, file, (0, if length == 0 { 0 } else { last - first + 1 })));
    let fields = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::ETAG, tag.to_owned()),
    ];
    for (name, value) in fields {
        response.headers_mut().extend(HeaderValue::from_str(&value).ok().map(|value| (name, value)));
    }
    mark_part(&mut response, part, length);
    Ok(response)
}

/// The next bytes, after those to be skipped and at most those that are left; empty at the end.
fn next_piece(reader: &mut impl Read, (skip, left): (&mut u64, &mut u64)) -> io::Result<Bytes> {
    if *skip > 0 {
        io::copy(&mut reader.take(*skip), &mut io::sink())?;
        *skip = 0;
    }
    let mut piece = Vec::with_capacity(PIECE);
    reader.take((PIECE as u64).min(*left)).read_to_end(&mut piece)?;
    *left -= piece.len() as u64;
    Ok(piece.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_understood_clamped_or_ignored() {
        assert_eq!(bounds("0-9", 100), Some(Some((0, 9))));
        assert_eq!(bounds("90-", 100), Some(Some((90, 99))));
        assert_eq!(bounds("-10", 100), Some(Some((90, 99))));
        assert_eq!(bounds("-1000", 100), Some(Some((0, 99))));
        assert_eq!(bounds("99-200", 100), Some(Some((99, 99))));
        assert_eq!(bounds("100-", 100), Some(None));
        for other in ["5-2", "0-1,4-5", "x", "-", "-0", "a-b"] {
            assert_eq!(bounds(other, 100), None, "{other}");
        }
    }

    #[test]
    fn a_part_is_read_piece_by_piece() {
        let all: Vec<u8> = (0..200_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let (mut reader, mut skip, mut left) = (io::Cursor::new(all.clone()), 10, 150_000);
        let mut read = Vec::new();
        loop {
            let piece = next_piece(&mut reader, (&mut skip, &mut left)).unwrap();
            if piece.is_empty() {
                break;
            }
            read.extend_from_slice(&piece);
        }
        assert!(read == all[10..150_010]);
    }

    #[test]
    fn a_tag_is_found_in_a_list() {
        assert!(names("\"a\", W/\"b\"", "\"b\"") && names("*", "\"b\"") && !names("\"bc\"", "\"b\""));
    }
}
