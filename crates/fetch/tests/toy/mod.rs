//! A protocol made for tests.
//!
//! One line asks: a path, and after a tab the time of the version that is known. The answer is a
//! line with status and time, then the bytes until the connection ends. The bytes of a directory
//! are lines of size, time and name.

use bytes::Bytes;
use orb_fetch::{BoxFuture, Fetch, FetchConfig, Line, Protocol, Received, Watch, receive};
use orb_page::{Body, Conversation, Failure, FailureKind, Lease, Listing, ListingEntry, Moment, Outcome};
use orb_page::{Response, ResponseKind, Timings};
use orb_urls::Address;
use orb_urls::scheme::Manners;
use std::fmt::Display;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// The entry for the table of protocols.
pub(crate) const TOY: Protocol = Protocol {
    schemes: &[("x-toy", Manners { port: 7, robots: false, resolve: true })],
    open: |line, config| Ok(Arc::new(ToyFetcher { line: Arc::clone(line), config: Arc::clone(config) })),
};

struct ToyFetcher {
    line: Arc<Line>,
    config: Arc<FetchConfig>,
}

impl Fetch for ToyFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let (at, mut timings) = (Moment::now(), Timings::default());
            let result = self.exchange(lease, watch, &mut timings).await;
            Outcome { at, timings, result }
        })
    }
}

impl ToyFetcher {
    async fn exchange(&self, lease: &Lease, watch: &dyn Watch, timings: &mut Timings) -> Result<Response, Failure> {
        let address = Address::from_canonical(lease.request_url()).map_err(failure(FailureKind::Unsupported))?;
        let known = lease.before.as_deref().and_then(|before| before.latest.as_ref()?.last_modified.as_deref());
        let asked = format!("{}\t{}\n", address.path(), known.unwrap_or("-"));
        let mut socket = self.line.connect(address.host(), address.port(), lease.addr, timings).await?;
        let peer = socket.peer();
        socket.write_all(asked.as_bytes()).await.map_err(failure(FailureKind::Protocol))?;
        watch.sent(peer);
        let Received { body, truncated } = receive(&mut socket, &self.config, watch).await?;
        if truncated.is_none() {
            socket.close();
        }
        let mut bytes = body.read(u64::MAX).map_err(failure(FailureKind::Local))?;
        let end = bytes.iter().position(|b| *b == b'\n').ok_or("no head").map_err(failure(FailureKind::Malformed))?;
        let head = String::from_utf8_lossy(&bytes.split_to(end + 1)).trim_end().to_owned();
        let (status, modified) = head.split_once(' ').unwrap_or((&head, ""));
        let status = status.parse().map_err(failure(FailureKind::Malformed))?;
        let is_listing = status == 200 && address.path().ends_with('/');
        let (mime, bytes) = if is_listing { (Listing::MIME, listing(&bytes)) } else { ("text/plain", bytes) };
        let response = Response::resource(status, mime, Body::Memory(bytes), "x-toy");
        let mut response = response.map_err(failure(FailureKind::Local))?;
        response.headers.push(b"Last-Modified", modified.as_bytes());
        let said = Conversation { mime: "text/x-toy", text: format!("> {asked}< {head}\n").into() };
        response.kind = ResponseKind::Resource { conversation: Some(said) };
        Ok(Response { peer, truncated, ..response })
    }
}

fn failure<E: Display>(kind: FailureKind) -> impl Fn(E) -> Failure {
    move |error| Failure::new(kind, error.to_string())
}

fn listing(lines: &[u8]) -> Bytes {
    let entry = |line: &str| {
        let (size, rest) = line.split_once(' ')?;
        let (modified, name) = rest.split_once(' ')?;
        let entry = ListingEntry::new(name.trim_end_matches('/').as_bytes(), name.ends_with('/'))?;
        Some(ListingEntry { size: size.parse().ok(), modified: modified.parse().ok().map(Moment), ..entry })
    };
    let entries = String::from_utf8_lossy(lines).lines().filter_map(entry).collect();
    Listing { entries }.render().into()
}
