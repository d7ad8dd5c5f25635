//! How does a reply become bytes?

use super::request::WireRequest;
use crate::clock;
use crate::plain::decimal;
use crate::press::Press;
use crate::reply::{Reply, Wire};
use crate::spec::GzipMode;
use bytes::Bytes;
use http::Response;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Buffers that one thread reuses to compose responses.
#[derive(Default)]
pub(super) struct Workshop {
    pub(super) reply: Reply,
    pub(super) output: Vec<u8>,
    press: Press,
    zipped: Vec<u8>,
    date: String,
    date_of: u64,
}

/// The reason phrase of a status.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}

impl Workshop {
    /// Appends the response to `output` and returns whether the connection stays open.
    pub(super) fn compose(&mut self, request: &WireRequest<'_>, mode: GzipMode) -> bool {
        match self.reply.wire {
            Wire::Silence | Wire::Flow(_) => return false,
            Wire::Verbatim => {
                self.output.extend_from_slice(&self.reply.body);
                return false;
            }
            Wire::Sized | Wire::Chunked | Wire::UntilClose => {}
        }
        let zips = self.prepare(request, mode);
        let keeps = request.keeps_alive && self.reply.wire != Wire::UntilClose;
        self.head(zips, keeps);
        if request.method != "HEAD" && self.reply.status != 304 {
            let body = if zips { &self.zipped } else { &self.reply.body };
            match self.reply.wire {
                Wire::Chunked => chunks(body, &mut self.output),
                _ => self.output.extend_from_slice(body),
            }
        }
        keeps
    }

    /// The response to a request over HTTP/2; `None` if it only exists as raw HTTP/1.1 bytes.
    pub(super) fn respond(&mut self, request: &WireRequest<'_>, mode: GzipMode) -> Option<(Response<()>, Bytes)> {
        if matches!(self.reply.wire, Wire::Silence | Wire::Flow(_) | Wire::Verbatim) {
            return None;
        }
        let zips = self.prepare(request, mode);
        self.tell_time();
        let reply = &self.reply;
        let body = if zips { &self.zipped } else { &reply.body };
        let mut response = Response::builder().status(reply.status).header("date", &self.date);
        response = response.header("server", "testweb");
        for (name, value) in reply.headers.lines().filter_map(|line| line.split_once(": ")) {
            response = response.header(name, value);
        }
        if reply.status != 304 {
            response = response.header("content-type", reply.mime).header("content-length", body.len());
        }
        if zips {
            response = response.header("content-encoding", "gzip").header("vary", "accept-encoding");
        }
        let sent = request.method != "HEAD" && reply.status != 304;
        Some((response.body(()).ok()?, if sent { Bytes::copy_from_slice(body) } else { Bytes::new() }))
    }

    /// Validates and compresses; returns whether the body is compressed.
    fn prepare(&mut self, request: &WireRequest<'_>, mode: GzipMode) -> bool {
        self.validate(request);
        let zips = mode == GzipMode::WhenAccepted && request.accepts_gzip && !self.reply.identity;
        let zips = zips && self.reply.wire == Wire::Sized && self.reply.body.len() > 200 && self.reply.status != 304;
        if zips {
            self.zipped.clear();
            if self.reply.filler.end == 0 {
                (self.reply.filler.start, self.reply.filler.end) = (self.reply.body.len(), self.reply.body.len());
            }
            self.press.gzip(&self.reply.body, &self.reply.filler, &mut self.zipped);
        }
        zips
    }

    /// Adds validators, and turns the response into a 304 if the client is up to date.
    fn validate(&mut self, request: &WireRequest<'_>) {
        let Some((tag, since)) = self.reply.version.filter(|_| self.reply.status == 200) else {
            return;
        };
        let modified = clock::http_date(clock::beginning(since));
        let mut etag = String::with_capacity(18);
        // Writing to a string cannot fail.
        let _ = write!(etag, "\"{tag:016x}\"");
        let matches = if request.none_match.is_empty() {
            // Clients send back the date they were given, so comparing strings is enough.
            request.modified_since == modified
        } else {
            request.none_match == "*" || request.none_match.contains(&etag)
        };
        self.reply.header("ETag", &etag);
        self.reply.header("Last-Modified", &modified);
        if matches {
            self.reply.status = 304;
        }
    }

    fn head(&mut self, zips: bool, keeps: bool) {
        self.tell_time();
        let (out, reply) = (&mut self.output, &self.reply);
        out.extend_from_slice(b"HTTP/1.1 ");
        decimal(reply.status.into(), out);
        for part in [" ", reason(reply.status), "\r\nDate: ", &self.date, "\r\nServer: testweb\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
        if !reply.mime.is_empty() && reply.status != 304 {
            for part in ["Content-Type: ", reply.mime, "\r\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
        out.extend_from_slice(reply.headers.as_bytes());
        if zips && reply.status != 304 {
            out.extend_from_slice(b"Content-Encoding: gzip\r\n");
        }
        if zips {
            out.extend_from_slice(b"Vary: Accept-Encoding\r\n");
        }
        match reply.wire {
            Wire::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            Wire::Sized if reply.status != 304 => {
                out.extend_from_slice(b"Content-Length: ");
                decimal(if zips { self.zipped.len() } else { reply.body.len() } as u64, out);
                out.extend_from_slice(b"\r\n");
            }
            _ => {}
        }
        // Explicit although HTTP/1.1 implies it, as in common servers: some clients close
        // otherwise.
        out.extend_from_slice(if keeps { b"Connection: keep-alive\r\n\r\n" } else { b"Connection: close\r\n\r\n" });
    }

    /// Updates the `Date`, once a second.
    fn tell_time(&mut self) {
        let now = SystemTime::now();
        let second = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if second != self.date_of {
            self.date = clock::http_date(now);
            self.date_of = second;
        }
    }
}

/// A body in chunks of several sizes, with an extension and a trailer.
fn chunks(body: &[u8], out: &mut Vec<u8>) {
    let mut rest = body;
    for size in [1, 7, 64, 1_000].into_iter().cycle() {
        let (chunk, tail) = rest.split_at(size.min(rest.len()));
        if chunk.is_empty() {
            break;
        }
        let extension = if size == 7 { ";note=\"seven\"" } else { "" };
        out.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
        rest = tail;
    }
    out.extend_from_slice(b"0\r\nX-Trailer: done\r\n\r\n");
}
