//! What is requested, and what is the response before it becomes bytes on a wire?
//!
//! An `Ask` says which page of which host is requested, a `Reply` what it is. Each thread reuses
//! one `Reply`, so a response allocates nothing.

use crate::naming::HostNaming;
use crate::web::Web;
use std::net::{IpAddr, Ipv4Addr};

/// The web from a client's view: its host names and epoch.
#[derive(Clone, Copy)]
pub(crate) struct WebView<'a> {
    pub(crate) web: &'a Web,
    pub(crate) naming: HostNaming,
    pub(crate) epoch: u64,
}

impl WebView<'_> {
    /// The URL of a path on a host.
    pub(crate) fn url(&self, host: u32, path: &str) -> String {
        self.naming.url(host, path)
    }

    /// The number of the `n`th additional host.
    pub(crate) fn beyond(&self, n: u32) -> u32 {
        self.web.spec().hosts + n
    }
}

/// One request.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) scene: WebView<'a>,
    pub(crate) host: u32,
    /// The `Host` as sent.
    pub(crate) authority: &'a str,
    /// The path, without its query.
    pub(crate) path: &'a str,
    /// The query; empty if there is none.
    pub(crate) query: &'a str,
    /// The method.
    pub(crate) method: &'a str,
    /// The request body; may be empty.
    pub(crate) body: &'a [u8],
    /// `If-None-Match`; may be empty.
    pub(crate) none_match: &'a str,
    /// The cookies; may be empty.
    pub(crate) cookie: &'a str,
    pub(crate) client: IpAddr,
    /// Whether the request came over TLS; plain pages then link to `https` pages.
    pub(crate) secure: bool,
}

impl<'a> Ask<'a> {
    /// Whether the client has this version, so that no body is needed.
    pub(crate) fn has(&self, tag: u64) -> bool {
        self.none_match.trim_matches('"') == format!("{tag:016x}")
    }

    /// A request for a target such as `/a/b?c=d`, from no client in particular.
    pub(crate) fn new(scene: WebView<'a>, host: u32, authority: &'a str, target: &'a str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let (method, body, secure) = ("GET", &[][..], false);
        Self { scene, host, authority, path, query, method, body, none_match: "", cookie: "", client, secure }
    }
}

/// How a response is framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wire {
    /// With `Content-Length`.
    #[default]
    Sized,
    /// With chunked coding.
    Chunked,
    /// Until the connection closes, without a length.
    UntilClose,
    /// The body is the whole response, status line included, byte for byte; then the connection
    /// closes.
    Verbatim,
    /// The connection closes without a response.
    Silence,
    /// A stream that is generated while it is sent.
    Flow(Flow),
}

/// A response too long, in bytes or in time, to be generated beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Nothing, ever.
    Hang,
    /// An ordinary page, a few bytes at a time.
    Drip,
    /// An endless body.
    Endless,
    /// A gibibyte of zeros in a mebibyte of gzip.
    Bomb,
    /// Endless header lines.
    Headers,
    /// One header line of 8 MiB, then an ordinary end.
    LongHeader,
    /// A file of 11 MiB with its true length.
    Large,
    /// A beginning, then one block again and again.
    Forever(&'static Torrent),
    /// These bytes, then the connection is reset.
    Reset(&'static [u8]),
    /// These bytes, then nothing until the client disconnects.
    Linger(&'static [u8]),
    /// A sitemap of ten million pages of this host, in chunks.
    Sitemap,
}

/// An endless stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Torrent {
    /// What is sent first.
    pub(crate) head: &'static [u8],
    /// What is sent repeatedly.
    pub(crate) block: &'static [u8],
    /// Whether it comes one block at a time, a fifth of a second apart.
    pub(crate) slowly: bool,
}

/// Which pieces of the stock are in a body, and where: they need not be compressed again.
#[derive(Debug, Default)]
pub(crate) struct Filler {
    /// Their numbers, in order.
    pub(crate) pieces: Vec<u16>,
    /// Offset of the first.
    pub(crate) start: usize,
    /// End of the last.
    pub(crate) end: usize,
}

/// One response.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) mime: &'static str,
    /// Additional header lines, each ended by CR LF.
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
    pub(crate) filler: Filler,
    /// Changes whenever the bytes do, with the epoch since which they have been so.
    pub(crate) version: Option<(u64, u64)>,
    /// Whether the body must not be compressed.
    pub(crate) identity: bool,
    pub(crate) wire: Wire,
    /// Scratch buffer.
    pub(crate) scratch: Vec<u8>,
}

impl Reply {
    /// Clears the last response, keeping the buffers.
    pub(crate) fn clear(&mut self) {
        self.status = 200;
        self.mime = "text/html; charset=utf-8";
        self.headers.clear();
        self.body.clear();
        self.filler.pieces.clear();
        (self.filler.start, self.filler.end) = (0, 0);
        self.version = None;
        self.identity = false;
        self.wire = Wire::Sized;
        self.scratch.clear();
    }

    /// Append to the body.
    pub(crate) fn text(&mut self, text: &str) {
        self.body.extend_from_slice(text.as_bytes());
    }

    /// Add a header line.
    pub(crate) fn header(&mut self, name: &str, value: &str) {
        for part in [name, ": ", value, "\r\n"] {
            self.headers.push_str(part);
        }
    }

    /// Makes it a small page with this title and this inside its body.
    pub(crate) fn page(&mut self, status: u16, title: &str, inside: &str) {
        self.status = status;
        self.body.clear();
        for part in [
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>",
            title,
            "</title>\n</head>\n<body>\n<h1>",
            title,
            "</h1>\n",
            inside,
            "\n</body>\n</html>\n",
        ] {
            self.text(part);
        }
    }

    /// Makes it something other than a page.
    pub(crate) fn thing(&mut self, mime: &'static str, body: &[u8]) {
        self.mime = mime;
        self.identity = true;
        self.body.clear();
        self.body.extend_from_slice(body);
    }

    /// Makes it a redirect.
    pub(crate) fn redirect(&mut self, status: u16, to: &str) {
        self.page(status, "Moved", "<p>What you look for is elsewhere.</p>");
        self.header("Location", to);
    }

    /// Makes it exactly these bytes, status line included.
    pub(crate) fn verbatim(&mut self, bytes: &[u8]) {
        self.body.clear();
        self.body.extend_from_slice(bytes);
        self.wire = Wire::Verbatim;
    }

    /// Makes it a 404.
    pub(crate) fn missing(&mut self) {
        self.page(404, "Not found", "<p>There is no such page on this host.</p>");
    }
}
