//! An FTP server.

use super::{ScriptedListener, ScriptedTalk, Trick};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Files by path, each with the second of its last change.
pub type FtpTree = BTreeMap<String, (i64, Vec<u8>)>;

/// An FTP server on loopback with a tree of files in memory.
#[derive(Clone, Debug)]
pub struct FtpServer {
    listener: ScriptedListener,
    tree: Arc<Mutex<FtpTree>>,
}

/// One conversation.
struct FtpSession<'a> {
    talk: &'a ScriptedTalk<'a>,
    tree: &'a Mutex<FtpTree>,
    tricks: &'a [Trick],
    broken: &'a Mutex<HashSet<String>>,
    data: Option<TcpListener>,
    at: String,
    rest: usize,
}

impl FtpServer {
    /// Serves these files (path, time in seconds, content) with these tricks.
    pub fn start(files: &[(&str, i64, &str)], tricks: Vec<Trick>) -> std::io::Result<Self> {
        let tree: FtpTree =
            files.iter().map(|(path, at, text)| ((*path).to_owned(), (*at, text.as_bytes().to_vec()))).collect();
        let (tree, broken) = (Arc::new(Mutex::new(tree)), Mutex::default());
        let served = Arc::clone(&tree);
        let listener = ScriptedListener::start(move |talk| {
            let (tree, tricks) = (&*served, &tricks[..]);
            FtpSession { talk, tree, tricks, broken: &broken, data: None, at: "/".to_owned(), rest: 0 }.serve()
        })?;
        Ok(Self { listener, tree })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("ftp://{}{path}", self.listener.addr())
    }

    /// What it was told since the last call.
    pub fn take_log(&self) -> Vec<String> {
        self.listener.take_log()
    }

    /// Its files, to change them.
    pub fn tree(&self) -> MutexGuard<'_, FtpTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FtpSession<'_> {
    fn serve(&mut self) -> Option<()> {
        self.play_or("GREETING", |session| session.talk.say("220 ready"))?;
        let talk = self.talk;
        for (verb, argument) in talk.commands() {
            self.play_or(&verb, |session| session.obey(&verb, &argument))?;
        }
        Some(())
    }

    fn play_or(&mut self, verb: &str, honest: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        match self.tricks.iter().find(|trick| trick.verb() == Some(verb)) {
            Some(trick) => trick.play(self.talk.stream),
            None => honest(self),
        }
    }

    fn obey(&mut self, verb: &str, argument: &str) -> Option<()> {
        match verb {
            "USER" => self.talk.say("331 password please"),
            "PASS" => self.talk.say("230 welcome"),
            "FEAT" => self
                .talk
                .say("211-Features:\r\n MLST type*;size*;modify*;\r\n SIZE\r\n MDTM\r\n REST STREAM\r\n211 End"),
            "PWD" => self.talk.say("257 \"/\" is here"),
            "TYPE" | "OPTS" => self.talk.say("200 fine"),
            "EPSV" => self.listen(|port| format!("229 here (|||{port}|)")),
            "PASV" => self.listen(|port| format!("227 here (127,0,0,1,{},{})", port >> 8, port & 255)),
            "CWD" => self.enter(argument),
            "REST" => {
                self.rest = argument.parse().unwrap_or(0);
                self.talk.say("350 go on")
            }
            "MLSD" => match self.is_directory(argument) {
                true => self.transfer(argument, self.listing(argument).as_bytes()),
                false => self.talk.say("550 no such directory"),
            },
            "LIST" => self.transfer("", self.listing(&self.at.clone()).as_bytes()),
            "MDTM" | "SIZE" => self.tell(verb, argument),
            "RETR" => match self.file(argument) {
                Some((_, bytes)) => self.transfer(argument, &bytes),
                None => self.talk.say("550 no such file"),
            },
            "QUIT" => {
                self.talk.say("221 bye")?;
                None
            }
            _ => self.talk.say("502 what?"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, FtpTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, path: &str) -> Option<(i64, Vec<u8>)> {
        self.lock().get(path).cloned()
    }

    fn is_directory(&self, path: &str) -> bool {
        let inside = format!("{}/", path.trim_end_matches('/'));
        inside == "/" || self.lock().keys().any(|file| file.starts_with(&inside))
    }

    fn enter(&mut self, path: &str) -> Option<()> {
        if !self.is_directory(path) {
            return self.talk.say("550 no such directory");
        }
        self.at = path.to_owned();
        self.talk.say("250 entered")
    }

    fn tell(&self, verb: &str, path: &str) -> Option<()> {
        let Some((at, bytes)) = self.file(path) else { return self.talk.say("550 no such file") };
        let said = if verb == "SIZE" { bytes.len().to_string() } else { compact(at) };
        self.talk.say(&format!("213 {said}"))
    }

    /// Opens a port, and says which.
    fn listen(&mut self, said: impl Fn(u16) -> String) -> Option<()> {
        let listener = TcpListener::bind("127.0.0.1:0").ok()?;
        let port = listener.local_addr().ok()?.port();
        self.data = Some(listener);
        self.talk.say(&said(port))
    }

    fn listing(&self, path: &str) -> String {
        let lie = self.tricks.iter().find_map(|trick| match trick {
            Trick::Lists(text) => Some(text.clone()),
            _ => None,
        });
        lie.unwrap_or_else(|| self.true_listing(path))
    }

    fn true_listing(&self, path: &str) -> String {
        let inside = format!("{}/", path.trim_end_matches('/'));
        let mut lines = BTreeSet::new();
        for (file, (at, bytes)) in self.lock().iter() {
            let Some(rest) = file.strip_prefix(&inside) else { continue };
            lines.insert(match rest.split_once('/') {
                Some((directory, _)) => format!("type=dir; {directory}\r\n"),
                None => format!("type=file;size={};modify={}; {rest}\r\n", bytes.len(), compact(*at)),
            });
        }
        lines.into_iter().collect()
    }

    fn transfer(&mut self, path: &str, bytes: &[u8]) -> Option<()> {
        let Some(listener) = self.data.take() else { return self.talk.say("425 say EPSV first") };
        let rest = std::mem::take(&mut self.rest);
        self.talk.say("150 here it comes")?;
        let (mut stream, _) = listener.accept().ok()?;
        stream.set_write_timeout(Some(Duration::from_secs(20))).ok()?;
        let bytes = bytes.get(rest..).unwrap_or_default();
        let cut = self.tricks.iter().find_map(|trick| match trick {
            Trick::BreaksOff(after) if *after < bytes.len() && rest == 0 => Some(*after),
            _ => None,
        });
        let is_first = || self.broken.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        let cut = cut.filter(|_| is_first());
        let written = stream.write_all(&bytes[..cut.unwrap_or(bytes.len())]);
        let _ = stream.shutdown(Shutdown::Both);
        drop(stream);
        match (written, cut) {
            (Ok(()), None) => self.talk.say("226 done"),
            _ => self.talk.say("426 broken off"),
        }
    }
}

/// `20261117060708`.
fn compact(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or_default().strftime("%Y%m%d%H%M%S").to_string()
}
