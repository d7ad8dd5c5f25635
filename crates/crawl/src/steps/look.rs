//! What is on a page, for somebody who wants to write a step or to make a project?

use super::walker::{Halt, Passed, Question, Walker};
use crate::CrawlError;
use crate::config::Config;
use crate::read::sessions::Sessions;
use crate::scope::SharedScope;
use crate::shared::Stop;
use orb_fetch::Fetchers;
use orb_page::Document;
use orb_project::Settings;
use orb_urls::{Address, Canonicaliser};
use std::path::Path;
use std::sync::Arc;

/// Requests one page as a step would, robots.txt first, and extracts it; returns its final URL and
/// its document. Like everything here it keeps what is too large for memory in `scratch`.
pub fn look(settings: &Settings, url: &Address, scratch: &Path) -> Result<(String, Document), CrawlError> {
    let page = ask(settings, std::slice::from_ref(url), (url, settings.frontier.max_redirects), scratch)?;
    Ok((page.address.into_string(), page.document))
}

/// What is seen from an address before a site is collected.
pub struct SiteSight {
    /// The final URL of its page.
    pub url: String,
    /// The page.
    pub document: Document,
    /// The sitemaps that robots.txt names.
    pub sitemaps: usize,
    /// How many addresses the first of them names, if it could be read.
    pub named: Option<usize>,
}

/// Requests one page, and the first sitemap its host names.
pub fn look_around(settings: &Settings, url: &Address, scratch: &Path) -> Result<SiteSight, CrawlError> {
    let from = WalkStart { seeds: std::slice::from_ref(url), redirects: settings.frontier.max_redirects, scratch };
    with_walker(settings, from, async |walker| {
        let page = walker.pass(Question::plain(url.clone())).await?;
        let sitemaps = walker.sitemaps().len();
        let first = walker.sitemaps().first().and_then(|first| walker.canonical().resolve(&page.address, first).ok());
        let named = match first {
            Some(first) => walker.pass(Question::plain(first)).await.ok().map(|sitemap| sitemap.document.links.len()),
            None => None,
        };
        Ok(SiteSight { url: page.address.into_string(), document: page.document, sitemaps, named })
    })
}

/// Requests one text as a run of a project would, robots.txt first; returns its status and what it
/// says. Of private addresses only those of the project's seeds are open. A redirect is a failure.
pub fn read_text(
    settings: &Settings,
    seeds: &[Address],
    url: &Address,
    scratch: &Path,
) -> Result<(u16, String), CrawlError> {
    let page = ask(settings, seeds, (url, 0), scratch)?;
    Ok((page.status, page.html))
}

fn ask(
    settings: &Settings,
    seeds: &[Address],
    (url, redirects): (&Address, u8),
    scratch: &Path,
) -> Result<Passed, CrawlError> {
    let from = WalkStart { seeds, redirects, scratch };
    with_walker(settings, from, async |walker| walker.pass(Question::plain(url.clone())).await)
}

/// Where a walk begins.
#[derive(Clone, Copy)]
struct WalkStart<'a> {
    /// Only these may have private addresses.
    seeds: &'a [Address],
    /// Maximum redirects.
    redirects: u8,
    /// Where bodies are spooled.
    scratch: &'a Path,
}

/// Goes from page to page of a project that need not exist.
fn with_walker<T>(
    settings: &Settings,
    from: WalkStart<'_>,
    go: impl AsyncFnOnce(&mut Walker<'_>) -> Result<T, Halt>,
) -> Result<T, CrawlError> {
    let WalkStart { seeds, redirects, scratch } = from;
    let scope = Arc::new(SharedScope::new(&settings.scope, seeds)?);
    let sessions = Arc::new(Sessions::new(settings.urls, Vec::new()));
    let config = Config::new(settings, scope, seeds, scratch, sessions)?;
    let (fetchers, stop) = (Arc::new(Fetchers::new(config.fetch.clone())?), Stop::new());
    let canonical = Canonicaliser::new(settings.urls);
    let mut walker = Walker::new(fetchers, config.walking(), canonical, redirects, &stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CrawlError::Threads)?;
    match runtime.block_on(go(&mut walker)) {
        Ok(seen) => Ok(seen),
        Err(Halt::Why(why)) => Err(CrawlError::Setting(why)),
        Err(Halt::Stopped) => Err(CrawlError::Setting("stopped".to_owned())),
    }
}
