//! How fast is the crate spider on the bench web?
//!
//! `spider-peer SITES PER_SITE SEED...` crawls one site per seed, `SITES` in parallel and each with
//! `PER_SITE` concurrent requests; nothing is stored. It prints how many pages it believes it
//! visited; the bench counts from the server's log.

use spider::tokio::{self, task::JoinSet};
use spider::website::Website;

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = || args.next().and_then(|text| text.parse::<usize>().ok());
    let (Some(sites), Some(per_site)) = (number(), number()) else {
        eprintln!("usage: spider-peer SITES PER_SITE SEED...");
        std::process::exit(2);
    };
    let (mut under_way, mut pages) = (JoinSet::new(), 0);
    for seed in args {
        if under_way.len() >= sites {
            pages += under_way.join_next().await.and_then(Result::ok).unwrap_or(0);
        }
        under_way.spawn(visited(seed, per_site));
    }
    pages += under_way.join_all().await.into_iter().sum::<usize>();
    println!("{pages}");
}

/// Crawls a whole site and returns the number of pages visited.
async fn visited(seed: String, per_site: usize) -> usize {
    let mut site = Website::new(&seed);
    site.with_concurrency_limit(Some(per_site)).with_no_control_thread(true);
    site.crawl().await;
    site.get_links().len()
}
