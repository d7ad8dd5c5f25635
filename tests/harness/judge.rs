//! What do other people's tools say about our output?
//!
//! They are in `target/judges`, where `cargo xtask setup` installs them.

use super::orb::Running;
use super::root;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A record as read by warcio.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Record {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) url: Option<String>,
    pub(crate) id: String,
    pub(crate) status: Option<String>,
    pub(crate) digest: Option<String>,
    pub(crate) truncated: Option<String>,
    pub(crate) length: u64,
}

/// The path of one of these tools.
fn judge(name: &str) -> PathBuf {
    let path = root().join("target/judges/bin").join(name);
    assert!(path.exists(), "{} is missing; `cargo xtask setup` installs it", path.display());
    path
}

fn ask<A: AsRef<std::ffi::OsStr>>(program: &str, args: impl IntoIterator<Item = A>) -> String {
    let mut command = Command::new(judge(program));
    // One of their dependencies warns about another; nothing else may be printed.
    command.args(args).env("PYTHONWARNINGS", "ignore");
    let finished = Running::start(command).finish();
    finished.expect(0);
    assert!(finished.stderr.is_empty(), "{finished}");
    finished.text().to_owned()
}

/// Asserts that `warcio check` passes on every file.
pub(crate) fn warcio_check(warcs: &[PathBuf]) {
    assert!(!warcs.is_empty(), "nothing to check");
    let mut args = vec![PathBuf::from("check"), PathBuf::from("-v")];
    args.extend_from_slice(warcs);
    let said = ask("warcio", args);
    assert!(!said.contains("fail"), "{said}");
}

/// Every record of the files, in order.
pub(crate) fn records(warcs: &[PathBuf]) -> Vec<Record> {
    let script = root().join("tests/judges/records.py");
    let listed = ask("python", [script].iter().chain(warcs));
    listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every arc of a graph in WebGraph's format, read by an independent decoder.
pub(crate) fn bvgraph(base: &Path) -> BTreeSet<(usize, usize)> {
    let script = root().join("tests/judges/bvgraph.py");
    let arc = |line: &str| {
        let (src, dst) = line.split_once(' ').unwrap();
        (src.parse().unwrap(), dst.parse().unwrap())
    };
    ask("python", [script.as_path(), base]).lines().map(arc).collect()
}

/// The rows of Parquet files as pyarrow reads them, times as text.
pub(crate) fn parquet_rows(files: &[PathBuf]) -> Vec<Value> {
    let script = root().join("tests/judges/tables.py");
    let listed = ask("python", [script].iter().chain(files));
    listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Asserts that `wacz validate` accepts the file.
pub(crate) fn wacz_validate(file: &Path) {
    let mut command = Command::new(judge("wacz"));
    command.args(["validate", "-f"]).arg(file).env("PYTHONWARNINGS", "ignore");
    let finished = Running::start(command).finish();
    finished.expect(0);
    let said = finished.text();
    assert!(said.contains("passed") && !said.contains("failed") && !said.contains("invalid"), "{finished}");
}

/// Unzips a file with Python, which verifies checksums.
pub(crate) fn unzip(file: &Path, to: &Path) {
    let said = ask("python", [Path::new("-m"), Path::new("zipfile"), Path::new("-e"), file, to]);
    assert!(said.is_empty(), "{said}");
}

/// The text in a file of gzip members.
pub(crate) fn gunzip(file: &Path) -> String {
    let mut text = String::new();
    let packed = std::fs::File::open(file).unwrap();
    flate2::read::MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text
}

/// A line of a CDXJ file: its key, its time, and its fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CdxjLine {
    pub(crate) key: String,
    pub(crate) time: String,
    pub(crate) fields: BTreeMap<String, String>,
}

/// The index that `cdxj-indexer` builds from the files.
pub(crate) fn cdxj_indexer(warcs: &[PathBuf]) -> Vec<CdxjLine> {
    read_cdxj(&ask("cdxj-indexer", warcs))
}

/// The lines of a CDXJ text.
pub(crate) fn read_cdxj(text: &str) -> Vec<CdxjLine> {
    text.lines().map(read_cdxj_line).collect()
}

fn read_cdxj_line(line: &str) -> CdxjLine {
    let mut parts = line.splitn(3, ' ');
    let mut part = || parts.next().unwrap_or_else(|| panic!("no CDXJ line: {line}")).to_owned();
    let (key, time, json) = (part(), part(), part());
    let fields: BTreeMap<String, Value> = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {line}"));
    // Some write numbers as strings, others as numbers.
    let plain = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    CdxjLine { key, time, fields: fields.into_iter().map(|(name, value)| (name, plain(value))).collect() }
}

/// Scores of a graph according to networkx: `arcs` has two numbers per line, `wanted` names the
/// measures.
pub(crate) fn networkx_ranks(arcs: &Path, nodes: usize, wanted: &[&str]) -> BTreeMap<String, Vec<Value>> {
    let script = root().join("tests/judges/ranks.py");
    let mut args = vec![script.into_os_string(), arcs.into(), nodes.to_string().into()];
    args.extend(wanted.iter().map(|what| (*what).into()));
    serde_json::from_str(&ask("python", args)).unwrap()
}

/// A graph as read by networkx from a file: its nodes with their attributes, and its arcs, both
/// sorted.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(crate) struct ReadGraph {
    pub(crate) nodes: Vec<(String, BTreeMap<String, Value>)>,
    pub(crate) arcs: Vec<(String, String)>,
}

/// The graph in a file of this format (`graphml`, `gexf`, `edges`, `dot` or `parquet`).
pub(crate) fn networkx_reads(format: &str, path: &Path) -> ReadGraph {
    let script = root().join("tests/judges/graph.py");
    serde_json::from_str(&ask("python", [script.as_os_str(), format.as_ref(), path.as_os_str()])).unwrap()
}

/// pywb on one archive, until it is dropped.
pub(crate) struct Replay {
    server: Child,
    port: u16,
    /// Kept open: it goes on logging, and fails if nobody reads.
    _out: Lines<BufReader<ChildStdout>>,
}

/// A replayed response: status and body.
pub(crate) struct Replayed {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Replay {
    /// Serves the WARC and CDXJ files of a directory; `private` is pywb's working directory.
    pub(crate) fn start(warcs: &Path, private: &Path) -> Self {
        std::fs::create_dir_all(private).unwrap();
        let mut server = Command::new(judge("python"))
            .arg(root().join("tests/judges/replay.py"))
            .args([warcs, warcs])
            .current_dir(private)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // pywb also logs that it has no configuration file; the line that is a number is the port.
        let mut out = BufReader::new(server.stdout.take().unwrap()).lines();
        let port = out.by_ref().map_while(Result::ok).find_map(|line| line.parse().ok());
        let mut replay = Self { server, port: 0, _out: out };
        replay.port = port.expect("pywb says its port");
        replay
    }

    /// Where it serves.
    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The archived page closest to this time; `modifier` is pywb's, such as `id_`.
    pub(crate) fn get(&self, time: &str, modifier: &str, url: &str) -> Replayed {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let ask = format!("GET /orb/{time}{modifier}/{url} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port);
        stream.write_all(ask.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer with a head");
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Replayed { status, head, body: answer[end + 4..].to_vec() }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// moto's S3 with the bucket `crawl`, until it is dropped.
pub(crate) struct MotoBucket {
    server: Child,
    /// Its port.
    pub(crate) port: u16,
}

impl MotoBucket {
    /// An empty bucket.
    pub(crate) fn start() -> Self {
        let mut server = Command::new(judge("python"))
            .arg(root().join("tests/judges/bucket.py"))
            .env("PYTHONWARNINGS", "ignore")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(server.stdout.take().unwrap()).lines();
        let port = out.by_ref().map_while(Result::ok).find_map(|line| line.parse().ok());
        Self { server, port: port.expect("moto says its port") }
    }
}

impl Drop for MotoBucket {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A page as parsed by html5lib.
#[derive(Debug, Deserialize)]
pub(crate) struct Read {
    pub(crate) title: Option<String>,
    pub(crate) a: Vec<String>,
    pub(crate) img: Vec<String>,
}

/// What html5lib finds in these files, in order.
pub(crate) fn html5lib(files: &[PathBuf]) -> Vec<Read> {
    let script = root().join("tests/judges/document.py");
    ask("python", [script].iter().chain(files)).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A metric with its samples, as parsed by the Prometheus client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Family {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) help: String,
    pub(crate) samples: Vec<(String, BTreeMap<String, String>, f64)>,
}

/// Parses a page of metrics with the Prometheus client; `beside` is a scratch file.
pub(crate) fn prometheus(page: &str, beside: &Path) -> Vec<Family> {
    std::fs::write(beside, page).unwrap();
    let script = root().join("tests/judges/metrics.py");
    let families = ask("python", [script.as_path(), beside]);
    families.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// Asserts that a description of an API is valid; returns its operations, such as `GET /x`.
pub(crate) fn openapi_operations(file: &Path) -> BTreeSet<String> {
    let script = root().join("tests/judges/openapi.py");
    ask("python", [script.as_path(), file]).lines().map(str::to_owned).collect()
}

/// The signature of a hub, in hexadecimal.
pub(crate) fn hub_signature(secret: &str, way: &str, body: &str) -> String {
    let sign = "import hmac, sys; print(hmac.new(sys.argv[1].encode(), sys.argv[3].encode(), sys.argv[2]).hexdigest())";
    ask("python", ["-c", sign, secret, way, body]).trim().to_owned()
}

/// Asserts that schemathesis finds nothing to complain about in an API, as whoever has this token.
pub(crate) fn schemathesis(server: &str, token: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = Command::new(judge("st"));
    command.arg("--config-file").arg(root().join("tests/judges/schemathesis.toml"));
    command.args(["run", &format!("{server}/openapi.json"), "--header", &format!("Authorization: Bearer {token}")]);
    command.args(["--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--seed", "1", "--no-shrink"]);
    command.args(["--generation-database", "none", "--continue-on-failure", "--warnings", "off", "--no-color"]);
    command.env("PYTHONWARNINGS", "ignore").current_dir(scratch.path());
    Running::start(command).finish().expect(0);
}

/// What the official client of the Model Context Protocol hears when it makes the calls in a file.
pub(crate) fn assistant(calls: &Path, how: &[&str]) -> Value {
    let script = root().join("tests/judges/assistant.py");
    let mut args = vec![script.into_os_string(), calls.into()];
    args.extend(how.iter().map(|part| (*part).into()));
    serde_json::from_str(&ask("python", args)).unwrap()
}

/// What Debian's browser sees: `what` is `walk`, `story`, `replay` or `links`, `job` says where to
/// look.
pub(crate) fn browser(what: &str, job: &Value, beside: &Path) -> Value {
    let mut job = job.clone();
    job["chromium"] = "/usr/bin/chromium".into();
    std::fs::write(beside, job.to_string()).unwrap();
    let script = root().join("tests/judges/browser.py");
    serde_json::from_str(&ask("python", [script.as_os_str(), what.as_ref(), beside.as_os_str()])).unwrap()
}

/// The entries of an Atom feed: id, title, time and link.
pub(crate) fn read_feed(file: &Path) -> Vec<(String, String, String, String)> {
    let script = root().join("tests/judges/atom.py");
    let listed = ask("python", [script.as_path(), file]);
    listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The signature that Standard Webhooks requires, without its version.
pub(crate) fn webhook_signature(secret: &str, id: &str, time: &str, body: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(body).unwrap();
    let script = root().join("tests/judges/webhook.py");
    let signed = ask("python", [script.to_str().unwrap(), secret, id, time, file.path().to_str().unwrap()]);
    signed.trim().to_owned()
}
