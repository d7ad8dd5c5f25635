//! What do the lines of a conversation travel on?

use crate::line::late;
use crate::{FetchConfig, Socket, tls};
use orb_page::{Failure, FailureKind};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A socket, in plain text or under TLS.
#[derive(Debug)]
pub(crate) enum LineStream {
    Plain(Box<Socket>),
    Tls(Box<TlsStream<Socket>>),
}

impl LineStream {
    /// Begins TLS on a socket.
    pub(crate) async fn secured(
        socket: Socket,
        host: &str,
        client: &Arc<ClientConfig>,
        config: &FetchConfig,
    ) -> Result<Self, Failure> {
        let name = ServerName::try_from(host.strip_suffix('.').unwrap_or(host).to_owned())
            .map_err(|_| Failure::new(FailureKind::Tls, format!("{host} cannot be the name in a certificate")))?;
        let connecting = TlsConnector::from(Arc::clone(client)).connect(name, socket);
        match timeout(config.timeouts.tls, connecting).await {
            Ok(Ok(stream)) => Ok(Self::Tls(Box::new(stream))),
            Ok(Err(error)) => Err(tls::failure(host, &error)),
            Err(_) => Err(late(&format!("no TLS handshake with {host}"), config.timeouts.tls)),
        }
    }

    fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.get_ref().0,
        }
    }

    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.socket().peer()
    }

    pub(crate) fn held(&self) -> Duration {
        self.socket().held()
    }

    pub(crate) const fn is_secured(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Whether an idle connection is still open, and without unasked lines.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let (mut byte, mut cx) = ([0], Context::from_waker(Waker::noop()));
        Pin::new(self).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
    }

    /// Closes the connection in order, in the background.
    pub(crate) fn close(self) {
        match self {
            Self::Plain(socket) => socket.close(),
            // What TLS would say in farewell says nothing that the protocol has not said.
            Self::Tls(tls) => tls.into_inner().0.close(),
        }
    }
}

impl AsyncRead for LineStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket.as_mut()).poll_read(cx, buf),
            // Servers close data connections without a farewell; whether all came is told by the
            // reply on the other connection.
            Self::Tls(tls) => match Pin::new(tls.as_mut()).poll_read(cx, buf) {
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                polled => polled,
            },
        }
    }
}

impl AsyncWrite for LineStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket.as_mut()).poll_write(cx, buf),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket.as_mut()).poll_flush(cx),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket.as_mut()).poll_shutdown(cx),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_shutdown(cx),
        }
    }
}
