//! Servers of other protocols than the web's, honest or not.
//!
//! Small, with everything in memory, a thread for each connection, and a log of what they were
//! asked. They exist for what real servers do not do on demand: lie in listings, offer data on
//! somebody else's machine, talk without end, or hang up in the middle.

mod ftp;
mod nntp;

pub use ftp::{FtpServer, FtpTree};
pub use nntp::{Articles, NewsServer};

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// What a server does instead of what it should, when it is given a certain command.
#[derive(Clone, Debug)]
pub enum Trick {
    /// Answers with these bytes.
    Says(&'static str, String),
    /// Answers with lines that never end.
    Babbles(&'static str),
    /// Answers with one line that never ends.
    Drones(&'static str),
    /// Hangs up.
    HangsUp(&'static str),
    /// Answers with these bytes and hangs up.
    CutsOff(&'static str, String),
    /// Transfers this instead of a listing.
    Lists(String),
    /// Breaks the first transfer of every file off after this many bytes.
    BreaksOff(usize),
}

impl Trick {
    /// The command that it is for.
    fn verb(&self) -> Option<&'static str> {
        match self {
            Self::Says(verb, _) | Self::CutsOff(verb, _) => Some(verb),
            Self::Babbles(verb) | Self::Drones(verb) | Self::HangsUp(verb) => Some(verb),
            Self::Lists(_) | Self::BreaksOff(_) => None,
        }
    }

    /// Plays it on the connection; `None` if that is then closed.
    fn play(&self, mut stream: &TcpStream) -> Option<()> {
        match self {
            Self::Says(_, text) => stream.write_all(text.as_bytes()).ok(),
            Self::Babbles(_) => loop {
                stream.write_all(b"211-and another thing\r\n").ok()?;
            },
            Self::Drones(_) => loop {
                stream.write_all(b"2111111111111111111111111111111111").ok()?;
            },
            Self::HangsUp(_) => None,
            Self::CutsOff(_, text) => {
                let _ = stream.write_all(text.as_bytes());
                let _ = stream.shutdown(Shutdown::Both);
                None
            }
            Self::Lists(_) | Self::BreaksOff(_) => Some(()),
        }
    }
}

/// What all of them have: where they listen, and what they were told.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedListener {
    addr: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

impl ScriptedListener {
    /// Where it listens.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What it was told since the last call, line by line.
    pub(crate) fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Listens on loopback and serves every connection on a thread, as long as the process lives.
    fn start(serve: impl Fn(&ScriptedTalk<'_>) -> Option<()> + Send + Sync + 'static) -> std::io::Result<Self> {
        let socket = TcpListener::bind("127.0.0.1:0")?;
        let listener = Self { addr: socket.local_addr()?, log: Arc::default() };
        let (serve, log) = (Arc::new(serve), Arc::clone(&listener.log));
        std::thread::spawn(move || {
            for stream in socket.incoming().flatten() {
                let (serve, log) = (Arc::clone(&serve), Arc::clone(&log));
                std::thread::spawn(move || serve(&ScriptedTalk { stream: &stream, log: &log }));
            }
        });
        Ok(listener)
    }
}

/// One connection of commands.
struct ScriptedTalk<'a> {
    stream: &'a TcpStream,
    log: &'a Mutex<Vec<String>>,
}

impl ScriptedTalk<'_> {
    fn say(&self, line: &str) -> Option<()> {
        let mut stream = self.stream;
        stream.write_all(format!("{line}\r\n").as_bytes()).ok()
    }

    /// The commands, each split into its verb in upper case and its argument.
    fn commands(&self) -> impl Iterator<Item = (String, String)> {
        let lines = BufReader::new(self.stream).split(b'\n').map_while(Result::ok);
        lines.map(|line| {
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            self.log.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
            let (verb, argument) = line.split_once(' ').unwrap_or((&line, ""));
            (verb.to_ascii_uppercase(), argument.to_owned())
        })
    }
}
