//! Which webs are crawled, and how is one asked what it saw?

use super::built;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A web of plain pages: hosts, and pages a host.
pub(super) type Shape = (u32, u32);

/// One large host, and many small ones.
pub(super) const WEBS: &[Shape] = &[(1, 20_000), (200, 100)];

const BYTES: u32 = 20_000;
const LINKS: u32 = 40;

/// A web in a process of its own, until it is dropped.
pub(super) struct BenchWeb {
    process: Child,
    /// Where it listens: it is a forward proxy for its hosts there.
    pub(super) address: String,
    hosts: u32,
    pages_per_host: u32,
}

/// What a crawl asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Distinct pages that were answered.
    pub(super) pages: usize,
    /// Requests of any kind.
    pub(super) requests: usize,
    /// From the first request to the last.
    pub(super) span: Duration,
}

impl BenchWeb {
    /// Starts a web of this shape, with no more pages than these.
    pub(super) fn start((hosts, pages_per_host): Shape, pages: u32) -> Result<Self> {
        let pages_per_host = pages_per_host.min((pages / hosts).max(LINKS + 1));
        let numbers = [("--hosts", hosts), ("--pages", pages_per_host), ("--bytes", BYTES), ("--links", LINKS)];
        let mut process = Command::new(built("testweb"))
            .args(numbers.iter().flat_map(|(flag, number)| [(*flag).to_owned(), number.to_string()]))
            .arg("--log")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start testweb")?;
        let mut line = String::new();
        if let Some(out) = process.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let field =
            |name: &str| text_field(&line, name).with_context(|| format!("testweb did not say its {name}: {line}"));
        let address = field("addr")?.to_owned();
        Ok(Self { process, address, hosts, pages_per_host })
    }

    /// What it is, in words.
    pub(super) fn title(&self) -> String {
        let hosts = if self.hosts == 1 { "one host".to_owned() } else { format!("{} hosts", self.hosts) };
        format!("{hosts} × {} pages × {} kB × {LINKS} links", self.pages_per_host, BYTES / 1000)
    }

    /// How many pages there are to find.
    pub(super) fn pages(&self) -> usize {
        self.hosts as usize * self.pages_per_host as usize
    }

    /// Whether its hosts are only to be reached by name.
    pub(super) fn is_named(&self) -> bool {
        self.hosts > 1
    }

    /// Where a crawl begins.
    pub(super) fn seed(&self) -> String {
        if self.is_named() { "http://h0000.test/".to_owned() } else { format!("http://{}/", self.address) }
    }

    /// Forgets what was asked.
    pub(super) fn reset(&self) -> Result<()> {
        self.ask("reset").map(drop)
    }

    /// What was asked since then.
    pub(super) fn seen(&self) -> Result<Seen> {
        let log = self.ask("log")?;
        let lines = log.lines().filter(|line| !line.contains("/robots.txt\""));
        let answered = lines.filter(|line| line.contains("\"status\":200"));
        let pages: BTreeSet<&str> = answered.filter_map(|line| text_field(line, "url")).collect();
        let micros = log.lines().filter_map(|line| number_field(line, "micros")).max().unwrap_or(0);
        Ok(Seen { pages: pages.len(), requests: log.lines().count(), span: Duration::from_micros(micros) })
    }

    /// How many requests there were so far.
    pub(super) fn requests(&self) -> Result<u64> {
        number_field(&self.ask("counters")?, "requests").context("testweb does not count")
    }

    /// Asks the server about itself.
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

/// The value of a field that is a number.
pub(super) fn number_field(object: &str, name: &str) -> Option<u64> {
    let (_, rest) = object.split_once(&format!("\"{name}\":"))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The value of a field in one flat JSON object whose texts need no escapes.
fn text_field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = object.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}
