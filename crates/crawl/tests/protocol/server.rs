//! A server of the toy protocol, a tree of files in memory, and one of HTTP beside it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Files by path, with the time of their last change.
pub(crate) type Tree = BTreeMap<String, (u64, Vec<u8>)>;

/// How many connections were open at once, to all servers that share it.
#[derive(Debug, Default)]
pub(crate) struct ConnectionGauge {
    now: usize,
    /// The most that were.
    pub(crate) most: usize,
    /// How many there were altogether.
    pub(crate) all: usize,
}

impl ConnectionGauge {
    /// Counts a connection until `serve` has done with it: the client opens no other before it
    /// knows that this one is closed.
    fn count(gauge: &Mutex<Self>, serve: impl FnOnce()) {
        let mut counted = gauge.lock().unwrap();
        counted.now += 1;
        counted.all += 1;
        counted.most = counted.most.max(counted.now);
        drop(counted);
        serve();
        gauge.lock().unwrap().now -= 1;
    }
}

/// Serves HTTP pages on loopback over connections that it keeps: `/` links to as many others.
pub(crate) fn serve_http(pages: usize, gauge: &Arc<Mutex<ConnectionGauge>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (addr, gauge) = (listener.local_addr().unwrap(), Arc::clone(gauge));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let gauge = Arc::clone(&gauge);
            std::thread::spawn(move || ConnectionGauge::count(&gauge, || answer_http(&stream, pages)));
        }
    });
    addr
}

fn answer_http(mut stream: &TcpStream, pages: usize) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    while let Some(asked) = lines.next() {
        lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
        let links: String = (0..pages).map(|n| format!("<a href='/{n}'>{n}</a>")).collect();
        let status = if asked.starts_with("GET /robots.txt") { "404 Not Found" } else { "200 OK" };
        let body = format!("<p>{asked}</p>{links}");
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

/// A server on loopback; it lives as long as the test's process.
#[derive(Clone)]
pub(crate) struct ToyServer {
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    /// What it serves.
    pub(crate) tree: Arc<Mutex<Tree>>,
    /// What it was asked for.
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    gauge: Arc<Mutex<ConnectionGauge>>,
}

impl ToyServer {
    /// Serves these files.
    pub(crate) fn start(files: &[(&str, u64, &str)]) -> Self {
        Self::counted(files, &Arc::default())
    }

    /// Serves these files and counts its connections.
    pub(crate) fn counted(files: &[(&str, u64, &str)], gauge: &Arc<Mutex<ConnectionGauge>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tree = files.iter().map(|(path, at, text)| ((*path).to_owned(), (*at, text.as_bytes().to_vec())));
        let tree = Arc::new(Mutex::new(tree.collect()));
        let server = Self { addr: listener.local_addr().unwrap(), tree, log: Arc::default(), gauge: gauge.clone() };
        let this = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let this = this.clone();
                std::thread::spawn(move || {
                    ConnectionGauge::count(&this.gauge, || {
                        let _ = this.serve(&stream);
                    });
                });
            }
        });
        server
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("x-toy://{}{path}", self.addr)
    }

    fn serve(&self, mut stream: &TcpStream) -> Option<()> {
        let mut asked = String::new();
        BufReader::new(stream).read_line(&mut asked).ok()?;
        let (path, known) = asked.trim_end().split_once('\t')?;
        let path = path.replace("%20", " ");
        let answer = self.answer(&path, known);
        self.log.lock().unwrap().push(path);
        stream.write_all(&answer).ok()
    }

    fn answer(&self, path: &str, known: &str) -> Vec<u8> {
        let tree = self.tree.lock().unwrap();
        if path.ends_with('/') {
            let mut entries: BTreeMap<String, String> = BTreeMap::new();
            for (file, (at, bytes)) in tree.iter() {
                let Some(rest) = file.strip_prefix(path) else { continue };
                let (name, line) = match rest.split_once('/') {
                    Some((directory, _)) => (format!("{directory}/"), format!("- - {directory}/\n")),
                    None => (rest.to_owned(), format!("{} {at} {rest}\n", bytes.len())),
                };
                entries.insert(name, line);
            }
            let lines: String = entries.into_values().collect();
            return format!("200 -\n{lines}").into_bytes();
        }
        match tree.get(path) {
            None => b"404 -\n".to_vec(),
            Some((at, _)) if known == at.to_string() => format!("304 {at}\n").into_bytes(),
            Some((at, bytes)) => [format!("200 {at}\n").as_bytes(), bytes].concat(),
        }
    }
}
