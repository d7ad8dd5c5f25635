//! What is on a page, for somebody who wants to write a step?

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
use std::sync::Arc;

/// Requests one page as a step would, robots.txt first, and extracts it; returns its final URL and
/// its document.
pub fn look(settings: &Settings, url: &Address) -> Result<(String, Document), CrawlError> {
    let page = ask(settings, std::slice::from_ref(url), (url, settings.frontier.max_redirects))?;
    Ok((page.address.into_string(), page.document))
}

/// Requests one text as a run of a project would, robots.txt first; returns its status and what it
/// says. Of private addresses only those of the project's seeds are open. A redirect is a failure.
pub fn read_text(settings: &Settings, seeds: &[Address], url: &Address) -> Result<(u16, String), CrawlError> {
    let page = ask(settings, seeds, (url, 0))?;
    Ok((page.status, page.html))
}

fn ask(settings: &Settings, seeds: &[Address], (url, redirects): (&Address, u8)) -> Result<Passed, CrawlError> {
    let scope = Arc::new(SharedScope::new(&settings.scope, seeds)?);
    let sessions = Arc::new(Sessions::new(settings.urls, Vec::new()));
    let config = Config::new(settings, scope, seeds, &std::env::temp_dir(), sessions)?;
    let (fetchers, stop) = (Arc::new(Fetchers::new(config.fetch.clone())?), Stop::new());
    let canonical = Canonicaliser::new(settings.urls);
    let mut walker = Walker::new(fetchers, config.walking(), canonical, redirects, &stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CrawlError::Threads)?;
    match runtime.block_on(walker.pass(Question::plain(url.clone()))) {
        Ok(page) => Ok(page),
        Err(Halt::Why(why)) => Err(CrawlError::Setting(why)),
        Err(Halt::Stopped) => Err(CrawlError::Setting("stopped".to_owned())),
    }
}
