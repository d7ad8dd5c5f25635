//! A server of the toy protocol: a tree of files in memory.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Files by path, with the time of their last change.
pub(crate) type Tree = BTreeMap<String, (u64, Vec<u8>)>;

/// A server on loopback; it lives as long as the test's process.
#[derive(Clone)]
pub(crate) struct ToyServer {
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    /// What it serves.
    pub(crate) tree: Arc<Mutex<Tree>>,
    /// What it was asked for.
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

impl ToyServer {
    /// Serves these files.
    pub(crate) fn start(files: &[(&str, u64, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tree = files.iter().map(|(path, at, text)| ((*path).to_owned(), (*at, text.as_bytes().to_vec())));
        let tree = Arc::new(Mutex::new(tree.collect()));
        let server = Self { addr: listener.local_addr().unwrap(), tree, log: Arc::default() };
        let this = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let this = this.clone();
                std::thread::spawn(move || this.serve(&stream));
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
