//! How is the browser spoken to?
//!
//! The Chrome DevTools Protocol: JSON messages, each ended by a NUL, over a pair of pipes. A call
//! waits for its answer; events go to the session they belong to. Only a dozen methods are used, so
//! messages stay JSON values: the protocol's own types change with every browser.

use super::process::BrowserPipes;
use crate::RenderError;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{mpsc, oneshot};

/// Maximum length of a message; a browser that sends more is ended.
const LONGEST: usize = 256 << 20;

/// Something that happened in a session.
#[derive(Debug)]
pub(crate) struct CdpEvent {
    /// Its name.
    pub(crate) method: String,
    /// What it says.
    pub(crate) params: Value,
}

type Answer = Result<Value, String>;

/// A connection to a browser.
pub(crate) struct Cdp {
    commands: mpsc::UnboundedSender<Vec<u8>>,
    numbers: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    listeners: Mutex<HashMap<String, mpsc::UnboundedSender<CdpEvent>>>,
    closed: AtomicBool,
}

/// One side of the conversation: the browser itself, or a page.
#[derive(Clone)]
pub(crate) struct CdpSession {
    cdp: Arc<Cdp>,
    /// Empty for the browser itself.
    id: String,
}

impl Cdp {
    /// Speaks over these pipes until the browser closes them.
    pub(super) fn speak(pipes: BrowserPipes) -> Result<Arc<Self>, RenderError> {
        const ATTEMPT: &str = "use a pipe to the browser";
        let commands = Sender::from_owned_fd(pipes.commands).map_err(RenderError::local(ATTEMPT))?;
        let answers = Receiver::from_owned_fd(pipes.answers).map_err(RenderError::local(ATTEMPT))?;
        let (sender, queue) = mpsc::unbounded_channel();
        let cdp = Arc::new(Self {
            commands: sender,
            numbers: AtomicU64::new(1),
            waiting: Mutex::default(),
            listeners: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        tokio::spawn(write(commands, queue));
        tokio::spawn(read(answers, Arc::downgrade(&cdp)));
        Ok(cdp)
    }

    /// The browser itself.
    pub(crate) fn root(self: &Arc<Self>) -> CdpSession {
        CdpSession { cdp: Arc::clone(self), id: String::new() }
    }

    /// A page by its session, and what happens there.
    pub(crate) fn session(self: &Arc<Self>, id: &str) -> (CdpSession, mpsc::UnboundedReceiver<CdpEvent>) {
        let (tell, told) = mpsc::unbounded_channel();
        lock(&self.listeners).insert(id.to_owned(), tell);
        (CdpSession { cdp: Arc::clone(self), id: id.to_owned() }, told)
    }

    /// Whether the browser has closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Takes one message.
    fn hear(&self, message: &[u8]) {
        let Ok(mut message) = serde_json::from_slice::<Value>(message) else { return };
        if let Some(number) = message.get("id").and_then(Value::as_u64) {
            let answer = match message.get_mut("error") {
                Some(error) => Err(error.get("message").and_then(Value::as_str).unwrap_or("refused").to_owned()),
                None => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
            };
            if let Some(waiting) = lock(&self.waiting).remove(&number) {
                let _ = waiting.send(answer);
            }
            return;
        }
        let session = message.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else { return };
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        if let Some(listener) = lock(&self.listeners).get(&session) {
            let _ = listener.send(CdpEvent { method, params });
        }
    }

    /// Nobody answers any more.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        lock(&self.waiting).clear();
        lock(&self.listeners).clear();
    }
}

impl CdpSession {
    /// Calls a method and waits for its result.
    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Result<Value, RenderError> {
        let number = self.cdp.numbers.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": number, "method": method, "params": params });
        if !self.id.is_empty() {
            message["sessionId"] = Value::from(self.id.as_str());
        }
        let (tell, told) = oneshot::channel();
        lock(&self.cdp.waiting).insert(number, tell);
        let forget = Forget { cdp: &self.cdp, number };
        if self.cdp.is_closed() || self.cdp.commands.send(framed(&message)).is_err() {
            return Err(RenderError::Gone);
        }
        let answer = told.await.map_err(|_| RenderError::Gone)?;
        drop(forget);
        answer.map_err(|why| RenderError::Refused { method, why })
    }

    /// Calls a method whose result does not matter.
    pub(crate) fn tell(&self, method: &'static str, params: Value) {
        let session = self.clone();
        tokio::spawn(async move { session.call(method, params).await });
    }

    /// Hears no more of it.
    pub(crate) fn leave(&self) {
        lock(&self.cdp.listeners).remove(&self.id);
    }
}

/// A call that is given up must not wait for ever.
struct Forget<'a> {
    cdp: &'a Cdp,
    number: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        lock(&self.cdp.waiting).remove(&self.number);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn framed(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}

async fn write(mut pipe: Sender, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(message) = queue.recv().await {
        if pipe.write_all(&message).await.is_err() {
            return;
        }
    }
}

async fn read(mut pipe: Receiver, cdp: std::sync::Weak<Cdp>) {
    let mut splitter = NulSplitter::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = pipe.read(&mut buffer).await.unwrap_or(0);
        let Some(cdp) = cdp.upgrade() else { return };
        if read == 0 || !splitter.push(&buffer[..read], |message| cdp.hear(message)) {
            return cdp.close();
        }
    }
}

/// Splits a stream at NULs.
#[derive(Default)]
struct NulSplitter {
    begun: Vec<u8>,
}

impl NulSplitter {
    /// Takes more bytes; false if a message is too long.
    fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> bool {
        let mut pieces = bytes.split(|byte| *byte == 0).peekable();
        while let Some(piece) = pieces.next() {
            let ends = pieces.peek().is_some();
            if ends && self.begun.is_empty() {
                each(piece);
                continue;
            }
            if self.begun.len() + piece.len() > LONGEST {
                return false;
            }
            self.begun.extend_from_slice(piece);
            if ends {
                each(&self.begun);
                self.begun = Vec::new();
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_however_they_arrive() {
        let stream = b"{\"a\":1}\0{}\0{\"long\":\"xxxx\"}\0half";
        for size in 1..stream.len() {
            let (mut splitter, mut heard) = (NulSplitter::default(), Vec::new());
            for piece in stream.chunks(size) {
                assert!(splitter.push(piece, |message| heard.push(String::from_utf8_lossy(message).into_owned())));
            }
            assert_eq!(heard, ["{\"a\":1}", "{}", "{\"long\":\"xxxx\"}"], "{size}");
            assert_eq!(splitter.begun, b"half");
        }
    }
}
