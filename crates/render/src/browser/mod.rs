//! How is a browser kept?
//!
//! One process group, begun by a process of ours that becomes the browser, watched by a thread that
//! waits for its end, and killed as a whole. It is spoken to over a pipe.

mod cdp;
mod flags;
mod keeper;
mod process;

pub(crate) use cdp::{Cdp, CdpEvent, CdpSession};
pub use keeper::become_browser;

use crate::{RenderConfig, RenderError};
use process::BrowserProcess;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// How long a browser may take to start.
const START: Duration = Duration::from_secs(20);

/// How often its memory is measured.
const MEASURED: Duration = Duration::from_secs(1);

/// A running browser.
pub(crate) struct Browser {
    cdp: Arc<Cdp>,
    process: Arc<BrowserProcess>,
    pages: AtomicU64,
    worn: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Browser {
    /// Starts a browser and waits until it answers. `key` is the hash of the key it trusts.
    pub(crate) async fn start(config: &RenderConfig, key: &str) -> Result<Self, RenderError> {
        let closed = ClosedDoor::open().await?;
        let process = BrowserProcess::spawn(config, &flags::flags(config, closed.port, key))?;
        let (process, pipes) = (Arc::new(process.0), process.1);
        let cdp = Cdp::speak(pipes)?;
        let worn = Arc::new(AtomicBool::new(false));
        let tasks =
            vec![closed.task, tokio::spawn(watch_memory(Arc::clone(&process), Arc::clone(&worn), config.memory))];
        let browser = Self { cdp, process, pages: AtomicU64::new(0), worn, tasks };
        let root = browser.cdp.root();
        let greeted = tokio::time::timeout(START, root.call("Browser.getVersion", json!({}))).await;
        match greeted {
            Ok(Ok(version)) => {
                let product = version.get("product").and_then(|p| p.as_str()).unwrap_or_default();
                tracing::debug!("browser {product}");
                Ok(browser)
            }
            _ => Err(RenderError::Start(browser.process.last_words())),
        }
    }

    /// The connection to it.
    pub(crate) fn cdp(&self) -> &Arc<Cdp> {
        &self.cdp
    }

    /// Counts a page, and says whether it may be loaded here.
    pub(crate) fn takes_page(&self, most: u64) -> bool {
        !self.is_worn() && self.pages.fetch_add(1, Ordering::Relaxed) < most
    }

    /// No further page is loaded in it.
    pub(crate) fn wear_out(&self) {
        self.worn.store(true, Ordering::Relaxed);
    }

    fn is_worn(&self) -> bool {
        self.worn.load(Ordering::Relaxed) || self.cdp.is_closed()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.process.kill();
    }
}

/// Wears a browser out that takes more memory than it should, and kills it at twice of that.
async fn watch_memory(process: Arc<BrowserProcess>, worn: Arc<AtomicBool>, most: u64) {
    loop {
        tokio::time::sleep(MEASURED).await;
        let measured = Arc::clone(&process);
        let Ok(used) = tokio::task::spawn_blocking(move || measured.memory()).await else { return };
        if used > most {
            worn.store(true, Ordering::Relaxed);
        }
        if used > most.saturating_mul(2) {
            tracing::warn!("the browser takes {used} bytes and is ended");
            process.kill();
            return;
        }
    }
}

/// The proxy of everything that belongs to no page: a door that is always shut.
struct ClosedDoor {
    port: u16,
    task: JoinHandle<()>,
}

impl ClosedDoor {
    async fn open() -> Result<Self, RenderError> {
        let opened = RenderError::local("listen on loopback for the browser");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(opened)?;
        let port = listener.local_addr().map_err(RenderError::local("listen on loopback for the browser"))?.port();
        let task = tokio::spawn(async move { while listener.accept().await.is_ok() {} });
        Ok(Self { port, task })
    }
}
