//! What do all requests of a run go out on?
//!
//! One line and one set of threads, whether a page is passed through on the way (the steps of a
//! project) or collected: so address guard, connection cap and bandwidth hold for all of them
//! together, and a connection that one has opened serves the others.

use crate::CrawlError;
use crate::config::Config;
use crate::drive::governor::Governor;
use crate::watch::progress::Progress;
use orb_fetch::{Fetchers, Protocol, raise_open_files};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Files that the stores hold open besides the sockets, generously.
const OWN_FILES: u64 = 300;

/// How long a thread that waits for the disk may hold up the end of a run.
const PATIENCE: Duration = Duration::from_millis(500);

/// The line of a run with its protocols, and the threads that serve its sockets.
pub(crate) struct WayOut {
    runtime: Option<Runtime>,
    fetchers: Arc<Fetchers>,
    governor: Arc<Governor>,
}

impl WayOut {
    /// Opens it with the limits of this hour.
    pub(crate) fn open(config: &Config, protocols: &[Protocol], progress: &Progress) -> Result<Self, CrawlError> {
        let schedule = config.schedule();
        raise_open_files(schedule.most_connections() as u64 + OWN_FILES)?;
        let fetchers = Arc::new(Fetchers::open(config.fetch.clone(), protocols)?);
        let governor = Arc::new(Governor::new(schedule));
        governor.begin(fetchers.line(), progress);
        let runtime = Builder::new_multi_thread().enable_all().build().map_err(CrawlError::Threads)?;
        Ok(Self { runtime: Some(runtime), fetchers, governor })
    }

    /// The protocols on their line.
    pub(crate) fn fetchers(&self) -> Arc<Fetchers> {
        Arc::clone(&self.fetchers)
    }

    /// What keeps the run within its share of the bandwidth.
    pub(crate) fn governor(&self) -> Arc<Governor> {
        Arc::clone(&self.governor)
    }

    /// Does something in the caller's thread, with sockets on the threads of this run.
    pub(crate) fn block_on<T>(&self, what: impl Future<Output = T>) -> Result<T, CrawlError> {
        let runtime = self.runtime.as_ref().ok_or(CrawlError::Panicked("line"))?;
        Ok(runtime.block_on(what))
    }

    /// Does something as one of the tasks, not in the caller's thread: otherwise the two would wake
    /// each other for every page.
    pub(crate) fn drive<T: Send + 'static>(
        &self,
        what: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, CrawlError> {
        self.block_on(async { tokio::spawn(what).await })?.map_err(|_| CrawlError::Panicked("driver"))
    }
}

impl Drop for WayOut {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}
