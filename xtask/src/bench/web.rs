//! Which webs are crawled, and how is one asked what it saw?

use super::authority::Authority;
use super::built;
use anyhow::{Context, Result, bail};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A web of plain pages: hosts, and pages per host.
pub(super) type WebShape = (u32, u32);

/// A web that all crawlers are run on.
pub(crate) struct Ground {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    shape: WebShape,
    /// Whether it compresses on request, as most of the web does.
    pub(super) gzip: bool,
    /// Whether it sends validators.
    pub(super) validators: bool,
    /// Whether its words are as many as in real texts.
    pub(super) vocabulary: bool,
    /// The protocol over TLS; `None` without TLS.
    pub(super) tls: Option<Tls>,
    /// Every how many pages one is a document; 0 means that there are none.
    documents: u32,
    /// How many milliseconds a response takes.
    latency: u32,
}

/// The protocol over TLS 1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tls {
    /// HTTP/1.1 only.
    Http1,
    /// HTTP/2 if the client asks for it.
    Http2,
}

const fn ground(name: &'static str, shape: WebShape, gzip: bool) -> Ground {
    Ground { name, shape, gzip, validators: false, vocabulary: false, tls: None, documents: 0, latency: 0 }
}

/// Many hosts over TLS, compressed.
const fn secure(name: &'static str, tls: Tls) -> Ground {
    Ground { tls: Some(tls), ..ground(name, (200, 100), true) }
}

/// One large host, and many small ones, in plain bytes and compressed; one large host with the
/// words of real texts; and many small ones over TLS.
pub(crate) const WEBS: &[Ground] = &[
    ground("one-plain", (1, 20_000), false),
    ground("one-gzip", (1, 20_000), true),
    Ground { vocabulary: true, ..ground("words-plain", (1, 20_000), false) },
    ground("many-plain", (200, 100), false),
    ground("many-gzip", (200, 100), true),
    secure("tls-http1", Tls::Http1),
    secure("tls-http2", Tls::Http2),
];

const BYTES: u32 = 20_000;
const LINKS: u32 = 40;

/// A web in a separate process, until it is dropped.
pub(crate) struct BenchWeb {
    process: Child,
    /// Where it listens, at every loopback address: host 7 is 127.0.0.8 at this port.
    address: String,
    hosts: u32,
    pages_per_host: u32,
    gzip: bool,
    vocabulary: bool,
    tls: Option<(Tls, Authority)>,
}

/// What a crawl requested.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestsSeen {
    /// Distinct pages that were served.
    pub(super) pages: usize,
    /// Requests of any kind.
    pub(super) requests: usize,
    /// From the first request to the last.
    pub(super) span: Duration,
    /// The shortest time between two requests to one address.
    pub(super) least_gap: Duration,
    /// TLS handshakes: full ones, and resumed ones.
    pub(super) handshakes: [u64; 2],
}

impl BenchWeb {
    /// Starts a web of this shape with compression and at most this many pages.
    pub(super) fn start(shape: WebShape, pages: u32) -> Result<Self> {
        Self::on(&ground("", shape, true), pages)
    }

    /// Starts a web of this shape with compression and validators.
    pub(super) fn with_validators(shape: WebShape, pages: u32) -> Result<Self> {
        Self::on(&Ground { validators: true, ..ground("", shape, true) }, pages)
    }

    /// Starts a web of this shape with compression in which every so many pages one is a document.
    pub(super) fn with_documents(shape: WebShape, pages: u32, documents: u32) -> Result<Self> {
        Self::on(&Ground { documents, ..ground("", shape, true) }, pages)
    }

    /// Starts a web of this shape with compression, each of whose answers takes so many
    /// milliseconds.
    pub(super) fn slowly(shape: WebShape, latency: u32) -> Result<Self> {
        Self::on(&Ground { latency, ..ground("", shape, true) }, shape.0 * shape.1)
    }

    /// Starts one of the webs with at most this many pages.
    pub(crate) fn on(ground: &Ground, pages: u32) -> Result<Self> {
        let ((hosts, pages_per_host), gzip) = (ground.shape, ground.gzip);
        let pages_per_host = pages_per_host.min((pages / hosts).max(LINKS + 1));
        let numbers = [("--hosts", hosts), ("--pages", pages_per_host), ("--bytes", BYTES), ("--links", LINKS)];
        let tls = ground.tls.map(|tls| Ok::<_, anyhow::Error>((tls, Authority::of(hosts)?))).transpose()?;
        let mut process = Command::new(built("testweb"))
            .args(numbers.iter().flat_map(|(flag, number)| [(*flag).to_owned(), number.to_string()]))
            .args(["--documents", &ground.documents.to_string(), "--latency", &ground.latency.to_string(), "--log"])
            .args(ground.validators.then_some(["--features", "validators"]).into_iter().flatten())
            .args((!gzip).then_some("--no-gzip"))
            .args(ground.vocabulary.then_some("--vocabulary"))
            .args(tls.iter().flat_map(|(_, authority)| authority.arguments()))
            .args(ground.tls.filter(|tls| *tls == Tls::Http2).map(|_| "--http2"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start testweb")?;
        let mut line = String::new();
        if let Some(out) = process.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let address = text_field(&line, "addr").with_context(|| format!("testweb did not say where it is: {line}"))?;
        Ok(Self {
            process,
            address: address.to_owned(),
            hosts,
            pages_per_host,
            gzip,
            vocabulary: ground.vocabulary,
            tls,
        })
    }

    /// Its description.
    pub(crate) fn title(&self) -> String {
        let hosts = if self.hosts == 1 { "one host".to_owned() } else { format!("{} hosts", self.hosts) };
        let coding = if self.gzip { "gzip" } else { "plain bytes" };
        let over = match self.tls {
            None => "",
            Some((Tls::Http1, _)) => ", HTTP/1.1 over TLS 1.3",
            Some((Tls::Http2, _)) => ", HTTP/2 over TLS 1.3",
        };
        let words = if self.vocabulary { ", words as in real texts" } else { "" };
        format!("{hosts} × {} pages × {} kB × {LINKS} links{words}, {coding}{over}", self.pages_per_host, BYTES / 1000)
    }

    /// Number of pages to find.
    pub(crate) fn pages(&self) -> usize {
        self.hosts as usize * self.pages_per_host as usize
    }

    /// Whether it has more than one host.
    pub(super) fn has_many(&self) -> bool {
        self.hosts > 1
    }

    /// The seed.
    pub(super) fn seed(&self) -> String {
        format!("{}://{}/", self.scheme(), self.address)
    }

    fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// The certificate (PEM) to trust, if there is TLS.
    pub(super) fn ca_file(&self) -> Option<PathBuf> {
        self.tls.as_ref().map(|(_, authority)| authority.ca_file())
    }

    /// The home page of every host.
    pub(super) fn homes(&self) -> Vec<String> {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        let first = u32::from(Ipv4Addr::LOCALHOST);
        let scheme = self.scheme();
        (0..self.hosts).map(|host| format!("{scheme}://{}:{port}/", Ipv4Addr::from(first + host))).collect()
    }

    /// Every page, one URL per line.
    pub(super) fn urls(&self) -> Result<String> {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        let urls = self.ask(&format!("expected/linked/{port}"))?;
        Ok(if self.tls.is_some() { urls.replace("http://", "https://") } else { urls })
    }

    /// Resets the log.
    pub(super) fn reset(&self) -> Result<()> {
        self.ask("reset").map(drop)
    }

    /// What was requested since then.
    pub(super) fn seen(&self) -> Result<RequestsSeen> {
        let log = self.ask("log")?;
        let (mut pages, mut last, mut least) = (HashSet::new(), HashMap::new(), u64::MAX);
        let (mut requests, mut span) = (0, 0);
        for line in log.lines() {
            let micros = number_field(line, "micros").unwrap_or(0);
            let (address, url) = (text_field(line, "local"), text_field(line, "url").unwrap_or_default());
            (requests, span) = (requests + 1, span.max(micros));
            if let Some(before) = last.insert(address, micros) {
                least = least.min(micros.saturating_sub(before));
            }
            if line.contains("\"status\":200") && !url.ends_with("/robots.txt") {
                pages.insert(url);
            }
        }
        let (span, least_gap) = (Duration::from_micros(span), Duration::from_micros(least));
        let counters = self.ask("counters")?;
        let handshakes =
            ["full_handshakes", "resumed_handshakes"].map(|name| number_field(&counters, name).unwrap_or(0));
        Ok(RequestsSeen { pages: pages.len(), requests, span, least_gap, handshakes })
    }

    /// Number of requests so far.
    pub(super) fn requests(&self) -> Result<u64> {
        number_field(&self.ask("counters")?, "requests").context("testweb does not count")
    }

    /// Queries the server about itself, in plain text even if pages use TLS.
    fn ask(&self, what: &str) -> Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(stream, "GET /.testweb/{what} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        match answer.split_once("\r\n\r\n") {
            Some((head, body)) if head.contains(" 200 ") => Ok(body.to_owned()),
            _ => bail!("testweb does not answer {what}: {answer}"),
        }
    }
}

impl Drop for BenchWeb {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The value of a numeric field.
pub(super) fn number_field(object: &str, name: &str) -> Option<u64> {
    let (_, rest) = object.split_once(&format!("\"{name}\":"))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The value of a field in one flat JSON object whose strings need no escapes.
fn text_field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = object.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}
