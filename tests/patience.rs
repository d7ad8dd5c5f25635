//! Is a server's `Retry-After` still honoured after the process that received it was killed?
//!
//! Each process is killed soon after a response, so the next request can only come from one that
//! read from the store how long to wait. The host's and the address's own delays are tested in
//! `resume.rs`.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, crawling};
use harness::script::{Script, absent, page, reply};
use rustix::process::Signal;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How late the server may notice a request.
const LATENESS: Duration = Duration::from_millis(60);

/// The response to the request with this number, from 0, for this path.
type Answers = fn(usize, &str) -> Vec<u8>;

/// The requests with their times.
type Asked = Vec<(Instant, String)>;

/// Twenty pages that each link to the next.
fn chain(path: &str) -> Vec<u8> {
    let number: u32 = path.trim_start_matches('/').parse().unwrap_or(0);
    page((number < 20).then(|| format!("/{}", number + 1)))
}

/// Crawls, and kills each process as soon as it has recorded something new according to this query
/// on the catalogue.
fn crawl_with_kills(answers: Answers, kills: usize, recorded: &str) -> Asked {
    let asked: Arc<Mutex<Asked>> = Arc::default();
    let log = Arc::clone(&asked);
    let server = Script::serve(move |heard| {
        let mut log = log.lock().unwrap();
        log.push((Instant::now(), heard.target.clone()));
        answers(log.len() - 1, &heard.target)
    });
    let count = || asked.lock().unwrap().len();
    let home = Home::new();
    let url = format!("http://{}/", server.address);
    let args = crawling(&[url.as_str(), "--delay", "50ms", "--retries", "9"]);
    let mut known = vec![];
    for _ in 0..kills {
        let running = home.start(&args, &[]);
        harness::until("it has recorded something", || {
            let now = if home.project().join("runs").exists() { home.catalogue().column(recorded) } else { vec![] };
            let fresh = !now.is_empty() && now != known;
            known = now;
            fresh
        });
        running.signal(Signal::KILL);
        running.finish();
    }
    let before = count();
    let running = home.start(&args, &[]);
    harness::until("it has asked again", || count() >= before + 2);
    running.signal(Signal::KILL);
    running.finish();
    asked.lock().unwrap().clone()
}

/// The pauses between requests, including robots.txt.
fn pauses(asked: &Asked) -> Vec<Duration> {
    asked.windows(2).map(|two| two[1].0 - two[0].0).collect()
}

#[test]
fn a_crawl_delay_is_kept_by_the_next_process() {
    let answers: Answers = |_, path| match path {
        "/robots.txt" => reply("200 OK", "", "User-agent: *\nCrawl-delay: 1\n"),
        _ => chain(path),
    };
    let asked = crawl_with_kills(answers, 3, "SELECT (SELECT count(*) FROM visit) FROM host WHERE crawl_delay > 0");
    assert!(asked.len() >= 5, "{asked:?}");
    assert_eq!(asked.iter().filter(|(_, path)| path == "/robots.txt").count(), 1, "it is known: {asked:?}");
    for pause in pauses(&asked) {
        assert!(pause + LATENESS >= Duration::from_secs(1), "{pause:?} in {asked:?}");
    }
}

#[test]
fn what_retry_after_asks_for_is_granted_by_the_next_process() {
    let answers: Answers = |number, path| match number {
        0 => absent(),
        1 => reply("429 Too Many Requests", "Retry-After: 3\r\n", ""),
        2 => reply("503 Service Unavailable", "Retry-After: 2\r\n", ""),
        _ => chain(path),
    };
    let asked = crawl_with_kills(answers, 2, "SELECT not_before FROM host WHERE not_before NOTNULL");
    let pauses = pauses(&asked);
    assert!(pauses[1] + LATENESS >= Duration::from_secs(3), "{pauses:?}");
    assert!(pauses[2] + LATENESS >= Duration::from_secs(2), "{pauses:?}");
}

#[test]
fn a_back_off_grows_from_one_process_to_the_next() {
    let answers: Answers = |number, _| match number {
        0 => absent(),
        _ => reply("503 Service Unavailable", "", ""),
    };
    let asked = crawl_with_kills(answers, 2, "SELECT backoff_ms FROM host WHERE backoff_ms > 0");
    let pauses = pauses(&asked);
    for (pause, least) in pauses[1..].iter().zip([1, 2, 4]) {
        assert!(*pause + LATENESS >= Duration::from_secs(least), "{pauses:?}");
    }
}
