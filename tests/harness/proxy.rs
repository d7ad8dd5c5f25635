//! How does a line break at the worst moment?
//!
//! A proxy between a worker and the store that passes bytes on until it is told otherwise: it can
//! go dark, as a cut cable does, or lose the answer to a COMMIT.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A line to a server's socket that can be broken.
pub(crate) struct BrokenLine {
    port: u16,
    state: Arc<LineState>,
}

#[derive(Default)]
struct LineState {
    /// The server's socket.
    socket: Mutex<PathBuf>,
    /// Nothing passes; nobody is told.
    dark: AtomicBool,
    /// How many COMMITs more reach the server, and their answers nobody: the connection ends.
    cuts: AtomicU64,
    /// The same with a connection that stays open, and silent.
    silences: AtomicU64,
    lost: AtomicU64,
}

impl BrokenLine {
    /// A line to this socket.
    pub(crate) fn to(socket: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(LineState { socket: Mutex::new(socket.to_owned()), ..LineState::default() });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || state.connect(client));
            }
        });
        Self { port, state }
    }

    /// The server's URL over this line.
    pub(crate) fn url(&self) -> String {
        format!("postgres://orb@127.0.0.1:{}/postgres?sslmode=disable", self.port)
    }

    /// From now on, connections go to another server.
    pub(crate) fn redirect(&self, socket: &Path) {
        socket.clone_into(&mut self.state.socket.lock().unwrap());
    }

    /// Lets nothing pass, or everything again.
    pub(crate) fn darken(&self, dark: bool) {
        self.state.dark.store(dark, Ordering::SeqCst);
    }

    /// The answers to the next COMMITs are lost with their connections.
    pub(crate) fn cut(&self, commits: u64) {
        self.state.cuts.store(commits, Ordering::SeqCst);
    }

    /// The answers to the next COMMITs never come.
    pub(crate) fn silence(&self, commits: u64) {
        self.state.silences.store(commits, Ordering::SeqCst);
    }

    /// How many answers were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.state.lost.load(Ordering::SeqCst)
    }
}

impl LineState {
    fn connect(self: Arc<Self>, client: TcpStream) {
        self.wait_for_light();
        let socket = self.socket.lock().unwrap().clone();
        let Ok(server) = UnixStream::connect(socket) else { return };
        let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let (back, muted) = (Arc::clone(&self), Arc::new(AtomicBool::new(false)));
        let mute = Arc::clone(&muted);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read @ 1..) = from_server.read(&mut buffer) {
                back.wait_for_light();
                if mute.load(Ordering::SeqCst) {
                    continue;
                }
                if to_client.write_all(&buffer[..read]).is_err() {
                    break;
                }
            }
            // Who is kept waiting for an answer does not learn that there is none.
            if !mute.load(Ordering::SeqCst) {
                let _ = to_client.shutdown(Shutdown::Both);
            }
        });
        self.forward(client, server, &muted);
    }

    fn forward(&self, mut client: TcpStream, mut server: UnixStream, muted: &AtomicBool) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = client.read(&mut buffer) {
            self.wait_for_light();
            let bytes = &buffer[..read];
            let commits = bytes.windows(7).any(|some| some == b"COMMIT\0");
            if commits && take(&self.cuts) {
                self.lost.fetch_add(1, Ordering::SeqCst);
                // The way back first, so that no answer slips through.
                muted.store(true, Ordering::SeqCst);
                let _ = server.write_all(bytes);
                let _ = client.shutdown(Shutdown::Both);
                // The server reads the COMMIT before it sees the end.
                let _ = server.shutdown(Shutdown::Write);
                return;
            }
            if commits && take(&self.silences) {
                self.lost.fetch_add(1, Ordering::SeqCst);
                muted.store(true, Ordering::SeqCst);
            }
            if server.write_all(bytes).is_err() {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Both);
    }

    fn wait_for_light(&self) {
        while self.dark.load(Ordering::SeqCst) {
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

/// Takes one of so many.
fn take(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok()
}
