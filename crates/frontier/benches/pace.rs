//! How long does the frontier take per page, per robots.txt, per link?
//!
//! Plain loops with a clock: the figures wanted are microseconds against a budget of a few, not
//! percentages.

#![allow(clippy::print_stdout, missing_docs)]

use orb_frontier::{ConnectionEnd, FetchEnd, Frontier, FrontierConfig, Next, Politeness, Robots};
use orb_page::{HostId, Moment, PageId, Purpose};
use orb_store::{HostRecord, Queued, Queues, RobotsRecord};
use std::convert::Infallible;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

const PAGES: u64 = 200_000;

/// Hosts with endless queues.
struct Endless {
    hosts: u32,
}

impl Queues for Endless {
    type Error = Infallible;

    fn peek(&self, host: HostId, after: Option<(u64, PageId)>, limit: usize) -> Result<Vec<Queued>, Infallible> {
        let from = after.map_or(0, |(rank, _)| rank) + 1;
        let page = |rank| Queued {
            page: PageId(rank << 24 | u64::from(host.0)),
            rank,
            url: format!("http://h{}.example/some/directory/page-{rank}.html", host.0),
            asked: None,
            depth: 3,
            redirects: 0,
            step: None,
            before: None,
        };
        Ok((from..from + limit as u64).map(page).collect())
    }

    fn next_host(&self, after: HostId) -> Result<Option<HostId>, Infallible> {
        Ok((after.0 < self.hosts).then_some(HostId(after.0 + 1)))
    }

    fn host(&self, id: HostId) -> Result<Option<HostRecord>, Infallible> {
        let robots = RobotsRecord { at: Moment(0), status: 200, text: robots_txt(), crawl_delay: None };
        Ok(Some(HostRecord {
            id,
            scheme: "http".to_owned(),
            name: format!("h{}.example", id.0),
            port: 80,
            robots: Some(robots),
            not_before: None,
            backoff_ms: 0,
        }))
    }

    fn queued(&self) -> u64 {
        u64::MAX
    }
}

fn robots_txt() -> String {
    let rules: String = (0..40).map(|i| format!("Disallow: /private/area-{i}/\n")).collect();
    format!(
        "# welcome\nUser-agent: other\nDisallow: /\n\nUser-agent: *\n{rules}Disallow: /*?sort=\nAllow: /private/area-1/ok$\n"
    )
}

/// Grants and finishes pages one after another, with `per_address` hosts on each address.
fn crawl(hosts: u32, delay: u64, per_address: u32) -> Duration {
    let politeness = Politeness { delay: Duration::from_millis(delay), ..Politeness::default() };
    let mut frontier = Frontier::new(FrontierConfig { politeness, ..FrontierConfig::default() }, Moment(1), false);
    let (queues, ended) =
        (Endless { hosts }, FetchEnd { status: Some(200), connection: ConnectionEnd::Kept, ..FetchEnd::default() });
    let (mut now, mut pages, started) = (Moment(1), 0, Instant::now());
    while pages < PAGES {
        match frontier.next(now) {
            Next::Read(read) => {
                let Ok(answer) = read.answer(&queues);
                frontier.answered(answer, now);
            }
            Next::Lease(lease, _) => {
                frontier.sent(lease.host, lease.addr, now);
                frontier.done(&lease, &ended, now);
                assert!(lease.purpose == Purpose::Page);
                frontier.committed(&[lease.page]);
                pages += 1;
            }
            Next::Resolve { host, .. } => {
                let address = IpAddr::V4(Ipv4Addr::from(host.0 / per_address));
                frontier.resolved(host, Ok(address), now);
            }
            Next::Wait(at) => now = at,
            other => panic!("{other:?}"),
        }
    }
    started.elapsed()
}

fn report(what: &str, times: u64, took: Duration) {
    println!("{what:<60} {:>8.3} µs", took.as_secs_f64() * 1e6 / times as f64);
}

fn main() {
    report("next + sent + done, one host, no delay", PAGES, crawl(1, 0, 1));
    report("next + sent + done, 200 hosts, no delay", PAGES, crawl(200, 0, 1));
    report("next + sent + done, 5,000 hosts, delay 1 s", PAGES, crawl(5_000, 1_000, 1));
    report("next + sent + done, 5,000 hosts on 5 addresses, delay 1 s", PAGES, crawl(5_000, 1_000, 1_000));

    let text = robots_txt();
    let started = Instant::now();
    for _ in 0..10_000 {
        black_box(Robots::parse(black_box(text.as_bytes()), "Orbweaver/1.0"));
    }
    report(&format!("parse a robots.txt of {} bytes", text.len()), 10_000, started.elapsed());

    let robots = Robots::parse(text.as_bytes(), "Orbweaver/1.0");
    let started = Instant::now();
    for _ in 0..1_000_000 {
        black_box(robots.is_allowed(black_box("/some/directory/page.html?id=7")));
    }
    report("ask a robots.txt", 1_000_000, started.elapsed());

    let mut frontier = Frontier::new(FrontierConfig::default(), Moment(0), false);
    let urls: Vec<String> =
        (0..1_000).map(|i| format!("http://h.example/some/directory/page-{i}.html?id={i}")).collect();
    let started = Instant::now();
    for i in 0..1_000_000usize {
        black_box(frontier.judge(HostId(1), &urls[i % 1_000], None, 1, Moment(1_800_000_000_000)));
    }
    report("judge a link", 1_000_000, started.elapsed());
}
