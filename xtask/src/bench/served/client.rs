//! How is a server asked, over one connection after the other, and what does it use?

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The name and the password of whoever asks.
pub(super) const USER: [&str; 2] = ["bench", "a password"];

/// A running server, stopped on drop.
pub(super) struct BenchServer {
    process: Child,
    address: String,
    /// From the start of the process until it said that it listens.
    pub(super) start: Duration,
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl BenchServer {
    /// Serves a home.
    pub(super) fn start(orb: &Path, home: &Path) -> Result<Self> {
        let begun = Instant::now();
        let mut command = Command::new(orb);
        command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--home"]).arg(home);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot start orb")?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("orb says nothing")?).read_line(&mut line)?;
        let start = begun.elapsed();
        let told: serde_json::Value = serde_json::from_str(&line).with_context(|| format!("orb serve said {line}"))?;
        let url = told["url"].as_str().context("orb serve named no address")?;
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Ok(Self { process, address, start })
    }

    /// A connection of whoever shows this cookie.
    pub(super) fn connect(&self, cookie: &str) -> Result<KeptLine> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let (host, cookie) = (self.address.clone(), cookie.to_owned());
        Ok(KeptLine { reader: BufReader::new(stream), host, cookie })
    }

    /// Logs in and returns the cookie.
    pub(super) fn log_in(&self) -> Result<String> {
        let mut line = self.connect("")?;
        let form = format!("name={}&password={}&next=/me", USER[0], USER[1].replace(' ', "+"));
        let reply = line.post("/login", &form)?;
        let set = reply.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = set.and_then(|set| set.split(';').next()).with_context(|| format!("no log-in: {}", reply.head))?;
        Ok(cookie.to_owned())
    }

    /// Memory in use, in megabytes.
    pub(super) fn resident(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        let kilobytes: f64 = line.split_whitespace().nth(1).context("no VmRSS")?.parse()?;
        Ok(kilobytes * 1_024.0 / 1e6)
    }

    /// Processor time used so far, in seconds.
    pub(super) fn cpu(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // The program's name is in brackets and may contain anything; times are fields 14 and 15.
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
        Ok(fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0)
    }
}

/// What was answered, and when.
pub(super) struct TimedReply {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
    /// From the request to the first byte.
    pub(super) first_byte: Duration,
}

/// A connection that is kept.
pub(super) struct KeptLine {
    reader: BufReader<TcpStream>,
    host: String,
    cookie: String,
}

impl KeptLine {
    /// Gets a path.
    pub(super) fn get(&mut self, path: &str, accept: &str) -> Result<TimedReply> {
        self.send(&format!("GET {path} HTTP/1.1\r\naccept: {accept}\r\n"), "")?;
        self.reply()
    }

    fn post(&mut self, path: &str, form: &str) -> Result<TimedReply> {
        let kind = format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n", form.len());
        self.send(&format!("POST {path} HTTP/1.1\r\n{kind}"), form)?;
        self.reply()
    }

    /// Sends a request whose response has no end.
    pub(super) fn listen(&mut self, path: &str) -> Result<()> {
        self.send(&format!("GET {path} HTTP/1.1\r\naccept: text/event-stream\r\n"), "")
    }

    /// The next line of a response without an end.
    pub(super) fn hear(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.reader.read_line(&mut line)? > 0, "the stream ended");
        Ok(line)
    }

    fn send(&mut self, head: &str, body: &str) -> Result<()> {
        let text = format!("{head}host: {}\r\ncookie: {}\r\n\r\n{body}", self.host, self.cookie);
        Ok(self.reader.get_mut().write_all(text.as_bytes())?)
    }

    fn reply(&mut self) -> Result<TimedReply> {
        let begun = Instant::now();
        self.reader.fill_buf()?;
        let first_byte = begun.elapsed();
        let mut head = String::new();
        while self.reader.read_line(&mut head)? > 2 {}
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no response")?;
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
        let body = match field("content-length: ") {
            Some(length) => {
                let mut body = vec![0; length.trim().parse()?];
                self.reader.read_exact(&mut body)?;
                body
            }
            None if field("transfer-encoding: chunked").is_some() => self.chunks()?,
            None => bail!("a response without a length: {head}"),
        };
        Ok(TimedReply { status, head, body, first_byte })
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16).with_context(|| format!("no chunk: {line}"))?;
            let mut chunk = vec![0; length + 2];
            self.reader.read_exact(&mut chunk)?;
            if length == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..length]);
        }
    }
}
