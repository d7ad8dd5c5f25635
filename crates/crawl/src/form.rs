//! How is a form sent to a server on behalf of a project?
//!
//! For what is no page, such as a subscription: nothing is recorded, and there is no robots.txt to
//! ask. The request goes through the fetcher with the project's settings, so that name server,
//! proxy, certificates and the address guard apply; of private addresses only those of the
//! project's seeds are open. No run needs to be under way, so the request has a line of its own,
//! under the same limits.

use crate::CrawlError;
use crate::config::fetch_config;
use bytes::Bytes;
use orb_fetch::{FetchConfig, Fetchers, HttpRequest, Timeouts, Unwatched};
use orb_page::RequestBody;
use orb_project::Settings;
use orb_urls::Address;
use std::path::Path;
use std::time::Duration;

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum bytes read of a response.
const ANSWER: u64 = 64_000;

/// Sends fields, already encoded as a form, and returns the status of the response.
///
/// `scratch` is a directory of the home, for what is too large for memory.
pub fn send_form(
    settings: &Settings,
    seeds: &[Address],
    scratch: &Path,
    url: &str,
    fields: String,
) -> Result<u16, CrawlError> {
    let config = FetchConfig {
        timeouts: Timeouts::within(PATIENCE),
        max_size: ANSWER,
        accept: Vec::new(),
        cookies: false,
        connections: 1,
        per_host: 1,
        spool_dir: scratch.to_owned(),
        ..fetch_config(&settings.fetch, seeds)?
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CrawlError::Threads)?;
    let bytes = Bytes::from(fields);
    let payload = RequestBody { mime: "application/x-www-form-urlencoded".to_owned(), kept: bytes.clone(), bytes };
    let request = HttpRequest::post(url, &payload, Vec::new()).map_err(|e| CrawlError::Setting(e.detail))?;
    let sent = runtime.block_on(async {
        let fetchers = Fetchers::new(config)?;
        Ok::<_, CrawlError>(fetchers.send(&request, &Unwatched).await)
    });
    Ok(sent?.result.map_err(|failure| CrawlError::Setting(failure.detail))?.status)
}
