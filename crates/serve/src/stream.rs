//! How is a body sent that is not there as a whole?
//!
//! A task makes it piece by piece and waits while the client takes none: at most one piece per
//! response is in memory, and no thread is held by a slow client.

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// A body that is made while it is sent.
struct PieceBody(Receiver<io::Result<Bytes>>);

/// A body, and where its pieces go in. It ends when the sender is dropped; an error cuts it off.
pub(crate) fn pieces() -> (Sender<io::Result<Bytes>>, Body) {
    let (sender, receiver) = channel(1);
    (sender, Body::new(PieceBody(receiver)))
}

impl HttpBody for PieceBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
