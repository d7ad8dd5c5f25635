//! How does one connection live?
//!
//! It reads until it has a complete request, responds, and continues while both sides keep the
//! connection alive; requests may be pipelined. A connection owns nothing big: pages are generated
//! in the thread's buffers and usually sent at once.

use super::compose::Workshop;
use super::request::{self, ParsedRequest, WireRequest};
use super::{ServerState, arrival, control, flow, secure};
use crate::log;
use crate::naming::HostNaming;
use crate::reply::{Ask, Flow, Wire};
use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

thread_local! {
    static WORKSHOP: RefCell<Workshop> = RefCell::new(Workshop::default());
}

/// Runs `work` with this thread's buffers.
pub(super) fn in_workshop<T>(work: impl FnOnce(&mut Workshop) -> T) -> T {
    WORKSHOP.with_borrow_mut(work)
}

/// One connection.
pub(super) struct Connection {
    pub(super) socket: Arc<TcpStream>,
    pub(super) shared: Arc<ServerState>,
    id: u64,
    peer: IpAddr,
    local: SocketAddr,
    /// Whether it uses TLS.
    pub(super) secure: bool,
    /// The host of the last request.
    pub(super) host: String,
    input: Vec<u8>,
    /// When the last of the input arrived.
    arrived: Instant,
}

/// What to do after a response was generated.
enum AfterReply {
    /// Continue with the next request.
    On,
    /// Send the rest, then continue or close.
    Send { rest: Vec<u8>, then_on: bool },
    /// Run a stream.
    Flow(Flow),
    /// Close.
    Close,
}

impl Connection {
    /// Takes over an accepted socket.
    pub(super) fn new(socket: TcpStream, peer: SocketAddr, shared: &Arc<ServerState>) -> Option<Self> {
        let local = socket.local_addr().ok()?;
        socket.set_nodelay(true).ok()?;
        let socket = Arc::new(socket);
        let id = shared.gauge.opened(&socket, local.ip().to_canonical());
        let (peer, host, input) = (peer.ip().to_canonical(), String::new(), Vec::with_capacity(1_024));
        let arrived = Instant::now();
        Some(Self { socket, shared: Arc::clone(shared), id, peer, local, secure: false, host, input, arrived })
    }

    /// Serves until one side closes. Socket errors are the client's concern. With TLS enabled, a
    /// client that does not start with a handshake is served in plain text: that is how a bench
    /// queries the server.
    pub(super) async fn run(mut self, tls: Option<TlsAcceptor>) {
        if let Some(tls) = tls
            && self.begins_handshake().await.unwrap_or(false)
        {
            // As below.
            let _ = secure::run(&mut self, &tls).await;
            return;
        }
        while let Ok(true) = self.receive().await {
            let input = std::mem::take(&mut self.input);
            let Ok(Some(used)) = self.serve(&input).await else {
                break;
            };
            self.input = input;
            self.input.drain(..used);
        }
    }

    /// Whether the first record is that of a handshake (RFC 8446, section 5.1).
    async fn begins_handshake(&self) -> Result<bool, Error> {
        let mut first = [0];
        Ok(self.socket.peek(&mut first).await? == 1 && first == [22])
    }

    /// Waits for more bytes; false if the client has disconnected.
    async fn receive(&mut self) -> Result<bool, Error> {
        loop {
            self.socket.readable().await?;
            self.input.reserve(1_024);
            match self.read() {
                Ok((0, _)) => return Ok(false),
                Ok((_, at)) => {
                    self.arrived = at;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads what is there; where nobody keeps the log, its times are not needed.
    fn read(&mut self) -> Result<(usize, Instant), Error> {
        if self.shared.log.is_kept() {
            return arrival::try_read(&self.socket, &mut self.input);
        }
        self.socket.try_read_buf(&mut self.input).map(|read| (read, self.arrived))
    }

    /// Answers all complete requests in `input`; returns how much of it they took, or `None` to
    /// close the connection.
    async fn serve(&mut self, input: &[u8]) -> Result<Option<usize>, Error> {
        let mut used = 0;
        loop {
            let request = match request::read(&input[used..]) {
                ParsedRequest::Whole(request) => request,
                ParsedRequest::More => return Ok(Some(used)),
                ParsedRequest::Refused(status) => {
                    let answer = format!("HTTP/1.1 {status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                    self.send(answer.as_bytes()).await?;
                    return flow::linger(self).await.map(|()| None);
                }
            };
            used += request.length;
            let at = self.arrived;
            let number = HostNaming::read(request.host).map_or(0, |(_, host)| host);
            if let Some(held) = self.shared.web.latency(number, request.target) {
                tokio::time::sleep(held).await;
            }
            match self.answer(&request, at)? {
                AfterReply::On => {}
                AfterReply::Send { rest, then_on } => {
                    self.send(&rest).await?;
                    if !then_on {
                        return Ok(None);
                    }
                }
                AfterReply::Flow(flow) => {
                    flow::run(self, flow).await?;
                    return Ok(None);
                }
                AfterReply::Close => return Ok(None),
            }
        }
    }

    /// Generates the response, logs it, and sends what the socket accepts at once.
    fn answer(&mut self, request: &WireRequest<'_>, at: Instant) -> Result<AfterReply, Error> {
        in_workshop(|shop| {
            shop.output.clear();
            if let Some(rest) = request.target.strip_prefix(control::PREFIX) {
                return Ok(AfterReply::Send { rest: control::answer(&self.shared, rest), then_on: false });
            }
            self.render(request, shop);
            let keeps = shop.compose(request, self.shared.web.spec().gzip);
            self.note(request, at, if shop.reply.wire == Wire::Silence { 0 } else { shop.reply.status });
            if let Wire::Flow(flow) = shop.reply.wire {
                return Ok(AfterReply::Flow(flow));
            }
            let sent = match self.socket.try_write(&shop.output) {
                Ok(sent) => sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                Err(error) => return Err(error),
            };
            self.shared.gauge.sent(sent);
            Ok(match shop.output.get(sent..) {
                Some(rest) if !rest.is_empty() => AfterReply::Send { rest: rest.to_vec(), then_on: keeps },
                _ if keeps => AfterReply::On,
                _ => AfterReply::Close,
            })
        })
    }

    /// Generates the reply to a request.
    pub(super) fn render(&self, request: &WireRequest<'_>, shop: &mut Workshop) {
        let reply = &mut shop.reply;
        reply.clear();
        if !matches!(request.method, "GET" | "HEAD" | "POST") {
            reply.page(405, "Not allowed", "<p>This web is for reading.</p>");
            reply.header("Allow", "GET, HEAD, POST");
            return;
        }
        let Some((naming, host)) = HostNaming::read(request.host) else {
            return reply.page(404, "No such host", "<p>This host is not of this web.</p>");
        };
        // Some clients (wget2 1.99) omit the port from `Host`; links without it would lead nowhere.
        let here = if request.direct { naming.at(self.local.port()) } else { naming };
        let authority = if here == naming {
            Cow::Borrowed(request.host)
        } else {
            let name = request.host.strip_suffix(":80").unwrap_or(request.host);
            Cow::Owned(format!("{name}:{}", self.local.port()))
        };
        let mut ask = Ask::new(self.shared.web.scene(here), host, &authority, request.target);
        (ask.client, ask.secure) = (self.peer, self.secure);
        ask.cookie = request.cookie;
        ask.none_match = request.none_match;
        (ask.method, ask.body) = (request.method, request.body);
        self.shared.web.answer(&ask, reply);
    }

    /// Counts and logs the request.
    pub(super) fn note(&mut self, request: &WireRequest<'_>, at: Instant, status: u16) {
        self.shared.gauge.asked(status);
        if self.host != request.host || self.host.is_empty() {
            request.host.clone_into(&mut self.host);
            self.shared.gauge.used(self.id, &self.host);
        }
        if self.shared.log.is_kept() {
            self.shared.log.push(log::LoggedRequest {
                at,
                connection: self.id,
                peer: self.peer,
                local: self.local.ip().to_canonical(),
                host: request.host.into(),
                path: request.target.into(),
                method: request.method.into(),
                status,
                agent: request.agent.into(),
                secure: self.secure,
            });
        }
    }

    /// Sends everything, however long the client takes.
    pub(super) async fn send(&self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            self.socket.writable().await?;
            match self.socket.try_write(bytes) {
                Ok(sent) => {
                    self.shared.gauge.sent(sent);
                    bytes = bytes.get(sent..).unwrap_or_default();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.gauge.closed(self.id);
    }
}
