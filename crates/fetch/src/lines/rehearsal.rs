//! What is heard of a server that says these bytes?
//!
//! The door for fuzzing: a conversation over a pair of local sockets, one read per piece, with
//! nobody at the other end. It exists only with the feature `fuzzing` and never in the program.

use super::{Dialogue, LineStream};
use crate::line::{Endpoint, Metered, OpenSockets, OpenedConnection};
use crate::sessions::SessionPlace;
use crate::{Socket, TokenBucket};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// No server of a rehearsal is waited for: it has said everything or closes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Hears conversations in lines without a server.
#[derive(Debug)]
pub struct LineRehearsal {
    runtime: Runtime,
    sockets: Arc<OpenSockets>,
    place: SessionPlace,
}

/// What is done in a conversation.
pub(crate) type LineListening<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

impl LineRehearsal {
    /// Sets it up.
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build()?;
        let to = Endpoint { host: "news.example".into(), port: 119, any_host: false };
        Ok(Self { runtime, sockets: OpenSockets::new(4, 4), place: SessionPlace { to: Arc::new(to), addr: None } })
    }

    /// Has `listen` hear a server that says these pieces, one after the other, and hangs up.
    pub(crate) fn hear<T>(
        &self,
        pieces: &[&[u8]],
        listen: impl FnOnce(Dialogue, SessionPlace) -> LineListening<'static, T>,
    ) -> io::Result<T> {
        self.runtime.block_on(async {
            let (ours, theirs) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            theirs.set_nonblocking(true)?;
            let ours = TcpStream::from_std(std::net::TcpStream::from(OwnedFd::from(ours)))?;
            let mut theirs = tokio::net::UnixStream::from_std(theirs)?;
            let metered = Metered::new(ours, Arc::new(TokenBucket::new(None)));
            let opened = OpenedConnection { metered, peer: None, rtt: Duration::ZERO };
            let socket = Socket::new(opened, self.sockets.permit(&self.place.to).await);
            let talk = Dialogue::new(LineStream::Plain(Box::new(socket)), PATIENCE);
            let speaking = async {
                for piece in pieces {
                    if theirs.write_all(piece).await.is_err() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
                // If this fails nobody is listening any more.
                let _ = theirs.shutdown().await;
                std::future::pending::<()>().await;
            };
            let listening = listen(talk, self.place.clone());
            tokio::select! {
                biased;
                heard = listening => Ok(heard),
                () = speaking => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        })
    }
}
