//! What does it cost to compress a page for the archive, and how small does it get?
//!
//! `cargo bench -p orb-store --bench encode -- [FILE...]`: the given pages, or generated ones of 20
//! kB.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot go on fails, and prints")]

use orb_page::{Body, Moment};
use orb_store::{Encoder, Exchange};
use std::time::Duration;

fn main() {
    let files: Vec<Vec<u8>> =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).map(|f| std::fs::read(f).unwrap()).collect();
    let pages: Vec<Body> = if files.is_empty() { (0..50).map(made_up).collect() } else { files }
        .into_iter()
        .map(|b| Body::Memory(b.into()))
        .collect();
    let raw: u64 = pages.iter().map(Body::len).sum();
    println!("{} pages of {} bytes on average", pages.len(), raw / pages.len() as u64);
    for level in [1, 2, 3, 4, 5, 6, 9] {
        let mut encoder = Encoder::new(level);
        let rounds = 2_000_000 / (raw as usize / pages.len()) * 10 / pages.len() + 1;
        for (digest, what) in [(None, "hashed here"), (Some([1; 32]), "hash given")] {
            let start = cpu();
            let mut packed = 0;
            for _ in 0..rounds {
                packed = pages.iter().map(|p| encode(&mut encoder, p, digest)).sum::<u64>();
            }
            let each = (cpu() - start).as_secs_f64() * 1e6 / (rounds * pages.len()) as f64;
            println!("level {level}: {each:7.1} µs a page, {what}, ratio {:.2}", raw as f64 / packed as f64);
        }
    }
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

fn encode(encoder: &mut Encoder, wire: &Body, digest: Option<[u8; 32]>) -> u64 {
    let exchange = Exchange {
        url: "http://www.example.com/some/path/page.html",
        key: "com,example)/some/path/page.html",
        at: Moment(1_700_000_000_000),
        recorded_as: orb_store::RecordedAs::Response,
        request_head: b"GET /some/path/page.html HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: orbweaver/0.1\r\nAccept: */*\r\n\r\n",
        head: b"HTTP/1.1 200 OK\r\nServer: x\r\nDate: Sun, 15 Nov 2026 04:03:29 GMT\r\nContent-Type: text/html; charset=utf-8\r\n\r\n",
        wire,
        digest,
        truncated: None,
        ip: Some([127, 0, 0, 1].into()),
        revisit: None,
    };
    encoder.exchange(&exchange).unwrap().len()
}

/// HTML with the usual mix of repeated markup and words.
fn made_up(seed: u64) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "archive",
        "web",
        "the",
        "of",
        "structure",
        "page",
        "link",
        "crawler",
        "and",
        "index",
        "to",
        "in",
        "graph",
        "a",
        "is",
        "with",
        "document",
        "search",
        "for",
        "that",
        "country",
        "site",
        "server",
        "robots",
        "queue",
        "host",
        "address",
        "words",
        "text",
    ];
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 1_000_003).unwrap_or(0)
    };
    let mut out = String::from("<!doctype html><html><head><title>A page</title></head><body><ul class=\"nav\">");
    while out.len() < 20_000 {
        let words: Vec<&str> = (0..12 + next() % 20).map(|_| WORDS[next() % WORDS.len()]).collect();
        let n = next();
        out += &format!(
            "<p class=\"text\">{} <a href=\"/path/{}/page-{n}.html\">{}</a>.</p>\n",
            words.join(" "),
            n % 7,
            words[0]
        );
    }
    out.into_bytes()
}
