//! Who renders the pages of a run?
//!
//! A few tabs at once in one browser. A browser that has drawn its share of pages, has lost a
//! page's process or takes too much memory gets no more; the next page begins another, and it is
//! ended when its last page has left. A page whose browser ended is tried once more: another page
//! may have been the reason.

use crate::browser::Browser;
use crate::page::draw;
use crate::proxy::{PageTraffic, PartCache, ProxyIdentity, ProxyPort, TrafficRules};
use crate::{PageJob, PartGate, RenderConfig, RenderError, Rendering};
use orb_fetch::Fetchers;
use orb_page::Problem;
use std::sync::Arc;
use tokio::sync::{Mutex, Semaphore};

/// Renders pages.
pub struct Renderer {
    config: RenderConfig,
    fetchers: Arc<Fetchers>,
    cache: Arc<PartCache>,
    identity: Arc<ProxyIdentity>,
    tabs: Semaphore,
    browser: Mutex<Option<Arc<Browser>>>,
}

impl Renderer {
    /// A renderer whose pages ask these fetchers for their parts. No browser is started yet.
    pub fn new(config: RenderConfig, fetchers: Arc<Fetchers>) -> Result<Self, RenderError> {
        if rustix::process::geteuid().is_root() && !config.no_sandbox {
            return Err(RenderError::Root);
        }
        let (cache, identity) = (Arc::new(PartCache::new(config.cache)), Arc::new(ProxyIdentity::new()?));
        let tabs = Semaphore::new(config.tabs.max(1));
        Ok(Self { config, fetchers, cache, identity, tabs, browser: Mutex::default() })
    }

    /// Starts a browser now rather than with the first page, to learn whether there is one.
    pub async fn warm_up(&self) -> Result<(), RenderError> {
        let browser = Browser::start(&self.config, &self.identity.key).await?;
        *self.browser.lock().await = Some(Arc::new(browser));
        Ok(())
    }

    /// Renders a page.
    pub async fn render(&self, job: &PageJob, gate: Arc<dyn PartGate>) -> Rendering {
        let Ok(_tab) = self.tabs.acquire().await else { return empty(RenderError::Gone) };
        let first = self.attempt(job, Arc::clone(&gate)).await;
        match &first.drawn {
            Err(error) if error.is_the_browsers() => {
                let mut second = self.attempt(job, gate).await;
                second.parts.extend(first.parts);
                second
            }
            _ => first,
        }
    }

    /// Ends the browser.
    pub async fn close(&self) {
        self.tabs.close();
        let browser = self.browser.lock().await.take();
        // It waits for the end of a process.
        let _ = tokio::task::spawn_blocking(move || drop(browser)).await;
    }

    async fn attempt(&self, job: &PageJob, gate: Arc<dyn PartGate>) -> Rendering {
        let browser = match self.browser().await {
            Ok(browser) => browser,
            Err(error) => return empty(error),
        };
        let rules = TrafficRules { max_requests: self.config.max_requests, max_bytes: self.config.max_bytes };
        let from = (Arc::clone(&self.fetchers), Arc::clone(&self.cache));
        let traffic = Arc::new(PageTraffic::new(job, rules, from, gate));
        let port = match ProxyPort::open(Arc::clone(&self.identity), Arc::clone(&traffic)).await {
            Ok(port) => port,
            Err(error) => return empty(error),
        };
        let (drawn, mut problems) = draw(&browser, &self.config, job, (&port, &traffic)).await;
        drop(port);
        let (parts, counts) = traffic.take_parts();
        let mut refused: Vec<_> = counts.refused.iter().collect();
        refused.sort_by_key(|(why, _)| why.words());
        let words = refused.iter().map(|(why, count)| format!("{count} {}", why.words())).collect::<Vec<_>>();
        if !words.is_empty() {
            problems.push(Problem::new("render-blocked", format!("parts were not fetched: {}", words.join(", "))));
        }
        retire(browser).await;
        Rendering { drawn, parts, counts, problems }
    }

    /// The browser for the next page.
    async fn browser(&self) -> Result<Arc<Browser>, RenderError> {
        let mut current = self.browser.lock().await;
        if let Some(browser) = current.as_ref().filter(|browser| browser.takes_page(self.config.pages)) {
            return Ok(Arc::clone(browser));
        }
        if let Some(worn) = current.take() {
            retire(worn).await;
        }
        let browser = Arc::new(Browser::start(&self.config, &self.identity.key).await?);
        browser.takes_page(self.config.pages);
        *current = Some(Arc::clone(&browser));
        Ok(browser)
    }
}

/// Lets go of a browser; the thread that does so last waits for its end, on a thread that may
/// block.
async fn retire(browser: Arc<Browser>) {
    if let Some(last) = Arc::into_inner(browser) {
        let _ = tokio::task::spawn_blocking(move || drop(last)).await;
    }
}

fn empty(error: RenderError) -> Rendering {
    Rendering { drawn: Err(error), parts: Vec::new(), counts: crate::PartCounts::default(), problems: Vec::new() }
}
