//! What does the name of a file say?
//!
//! Protocols that transfer files transfer no media type. The ending of the name is what a web
//! server would go by; the extractor looks at the bytes where it says nothing.

use crate::lines::malformed;
use crate::listed::EntryStamp;
use orb_page::{Body, Failure, FailureKind, Listing, Moment, Outcome, Response, Timings};
use percent_encoding::percent_decode_str;

/// What a file is taken for whose name says nothing.
const UNKNOWN: &str = "application/unknown";

/// Endings of names, and what web servers take them for.
const ENDINGS: &[(&str, &str)] = &[
    ("html htm shtml", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("txt text log md readme diff patch c h rs py sh conf ini csv", "text/plain"),
    ("css", "text/css"),
    ("js mjs", "text/javascript"),
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("rss", "application/rss+xml"),
    ("atom", "application/atom+xml"),
    ("pdf", "application/pdf"),
    ("ps", "application/postscript"),
    ("rtf", "application/rtf"),
    ("doc", "application/msword"),
    ("xls", "application/vnd.ms-excel"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("epub", "application/epub+zip"),
    ("swf", "application/x-shockwave-flash"),
    ("eml", "message/rfc822"),
    ("mbox", "application/mbox"),
    ("png", "image/png"),
    ("jpg jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("tif tiff", "image/tiff"),
    ("ico", "image/x-icon"),
    ("mp3", "audio/mpeg"),
    ("ogg", "application/ogg"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("zip", "application/zip"),
    ("gz tgz", "application/gzip"),
    ("tar", "application/x-tar"),
    ("bin iso exe deb rpm", "application/octet-stream"),
];

/// The media type that the last name of a path suggests.
pub(crate) fn mime_of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, ending)) = name.rsplit_once('.') else { return UNKNOWN };
    let is_it = |endings: &str| endings.split(' ').any(|known| known.eq_ignore_ascii_case(ending));
    ENDINGS.iter().find(|(endings, _)| is_it(endings)).map_or(UNKNOWN, |(_, mime)| mime)
}

/// The bytes of a path in a URL, without its first slash. A path that leads upwards, or that cannot
/// be said in one line, is none.
pub(crate) fn decoded(path: &str) -> Result<Vec<u8>, Failure> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let upwards = bytes.split(|b| *b == b'/').any(|part| part == b"..");
    if upwards || bytes.iter().any(|b| matches!(b, 0 | b'\r' | b'\n')) {
        return Err(malformed("the path leads upwards or holds the end of a line"));
    }
    Ok(bytes)
}

/// An answer without a document, in the terms of HTTP.
pub(crate) fn bare(status: u16, protocol: &'static str) -> Result<Response, Failure> {
    answer(status, UNKNOWN, Body::empty(), protocol)
}

/// An answer with a document.
pub(crate) fn answer(status: u16, mime: &str, body: Body, protocol: &'static str) -> Result<Response, Failure> {
    Response::resource(status, mime, body, protocol).map_err(|error| crate::lines::local(&error))
}

/// The listing of a directory as an answer.
pub(crate) fn listing(listing: &Listing, protocol: &'static str) -> Result<Response, Failure> {
    answer(200, Listing::MIME, Body::Memory(listing.render().into()), protocol)
}

/// Says of an answer which version it is.
pub(crate) fn stamped(mut response: Response, stamp: Option<&EntryStamp>) -> Response {
    if let Some(stamp) = stamp {
        response.headers.push(b"ETag", stamp.tag().as_bytes());
        response.headers.push(b"Last-Modified", http_date(stamp.modified).as_bytes());
    }
    response
}

/// A moment as HTTP writes it.
pub(crate) fn http_date(at: Moment) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let civil = at.civil();
    let day = DAYS[usize::try_from(at.0.div_euclid(86_400_000).rem_euclid(7)).unwrap_or(0)];
    let month = MONTHS[(civil.month as usize).clamp(1, 12) - 1];
    let (date, year) = (civil.day, civil.year);
    format!("{day}, {date:02} {month} {year} {:02}:{:02}:{:02} GMT", civil.hour, civil.minute, civil.second)
}

/// The outcome of an exchange that took this long.
pub(crate) fn outcome(at: Moment, timings: Timings, result: Result<Response, Failure>) -> Outcome {
    Outcome { at, timings, result }
}

/// A failure of a page alone: it says nothing of its server, and another try would not help.
pub(crate) fn hopeless(detail: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Malformed, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_type() {
        assert_eq!(mime_of("/a.b/INDEX.HTML"), "text/html");
        assert_eq!(mime_of("/a/x.tar.gz"), "application/gzip");
        assert_eq!(mime_of("/a.html/readme"), UNKNOWN);
    }

    #[test]
    fn a_path_is_bytes_and_never_leads_upwards() {
        assert_eq!(decoded("/a%20b/%FF").unwrap(), b"a b/\xff");
        assert_eq!(decoded("/%2Fetc/x").unwrap(), b"/etc/x");
        assert_eq!(decoded("/...").unwrap(), b"...");
        for wrong in ["/a/..", "/%2E%2E/x", "/a%2F..%2Fb", "/a%0D%0ADELE%20x", "/a%00"] {
            assert!(decoded(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_date_is_written_as_in_http() {
        assert_eq!(http_date(Moment(784_111_777_000)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(http_date(Moment(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
    }
}
