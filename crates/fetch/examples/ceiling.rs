//! How many pages a second could be fetched if nothing else had to be done?
//!
//! `ceiling URLS [CA_FILE]` fetches every URL of a file, one a line, with the client and the
//! concurrency of a crawl, on all cores, and forgets what comes: nothing is decoded, read or
//! stored, and nobody decides what comes next. `cargo xtask bench` divides the crawler's rate by
//! this one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

use orb_fetch::{FetchConfig, FetchError, Fetchers, Unwatched, raise_open_files};
use orb_page::Lease;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// A crawl's default.
const CONNECTIONS: usize = 128;
const PER_HOST: usize = 8;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(text) = args.first().and_then(|path| std::fs::read_to_string(path).ok()) else {
        eprintln!("usage: ceiling URLS [CA_FILE]");
        return ExitCode::from(2);
    };
    match run(&text, args.get(1).map(Into::into)) {
        Ok(fetched) => println!("{fetched}"),
        Err(error) => {
            eprintln!("ceiling: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Fetches everything and reports how much, and how fast.
fn run(text: &str, ca_file: Option<PathBuf>) -> Result<String, FetchError> {
    let (urls, hosts) = in_turns(text);
    let (connections, per_host) = (CONNECTIONS, PER_HOST);
    raise_open_files(connections as u64 + 100)?;
    let private_hosts = vec!["*".to_owned()];
    let config = FetchConfig { connections, per_host, private_hosts, ca_file, ..FetchConfig::default() };
    let lanes = connections.min(per_host * hosts);
    let all = Arc::new(All { urls, fetcher: Fetchers::new(config)?, next: AtomicUsize::new(0) });
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return Ok("no threads".to_owned());
    };
    let begin = Instant::now();
    let fetched = runtime.block_on(async {
        let lanes: Vec<_> = (0..lanes).map(|_| tokio::spawn(Arc::clone(&all).fetch())).collect();
        let mut fetched = 0;
        for lane in lanes {
            fetched += lane.await.unwrap_or(0);
        }
        fetched
    });
    let seconds = begin.elapsed().as_secs_f64();
    Ok(format!("{fetched} of {} pages, {:.0} a second", all.urls.len(), fetched as f64 / seconds))
}

/// State shared by all tasks.
struct All {
    urls: Vec<String>,
    fetcher: Fetchers,
    next: AtomicUsize,
}

impl All {
    /// Fetches the next URL until none is left; returns the number of responses.
    async fn fetch(self: Arc<Self>) -> usize {
        let mut fetched = 0;
        while let Some(url) = self.urls.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = self.fetcher.fetch(&Lease::plain(url), &Unwatched).await;
            fetched += usize::from(outcome.result.is_ok_and(|response| response.status == 200));
        }
        fetched
    }
}

/// The URLs interleaved by host, as politeness would order them, and the number of hosts.
fn in_turns(text: &str) -> (Vec<String>, usize) {
    let mut by_host: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for url in text.lines() {
        let host = url.split('/').nth(2).unwrap_or_default();
        by_host.entry(host).or_default().push(url);
    }
    let longest = by_host.values().map(Vec::len).max().unwrap_or(0);
    let turn = |at| by_host.values().filter_map(move |urls| urls.get(at));
    ((0..longest).flat_map(turn).map(|url| (*url).to_owned()).collect(), by_host.len())
}
