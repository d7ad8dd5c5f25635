//! Does a crawl know why it is not faster?
//!
//! Webs that are slow for one reason each: the reason must be named, by a command in another
//! process, while the crawl runs and after it has ended, was stopped, or was killed.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT, Running, crawling};
use harness::script::{Script, absent, page};
use harness::until;
use harness::web::World;
use orb_testweb::{Dns, Feature, GzipMode, Latency, Spec};
use rustix::process::Signal;
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// One host with so many pages.
fn one_host(pages: u32) -> Spec {
    Spec { hosts: 1, pages_per_host: pages, cross_host_links: 0.0, ..Spec::default() }
}

/// The JSON output of `orb status --why`.
fn why(home: &Home) -> Value {
    home.orb(&["status", PROJECT, "--why", "--json"]).expect(0).json()
}

/// The text of this rule's advice, if it is given.
fn advice(account: &Value, rule: &str) -> Option<String> {
    let given = account["advice"].as_array().unwrap();
    given.iter().find(|a| a["rule"] == rule).map(|a| a["text"].as_str().unwrap().to_owned())
}

#[track_caller]
fn told(account: &Value, rule: &str) -> String {
    advice(account, rule).unwrap_or_else(|| panic!("nothing about {rule}: {}", account["advice"]))
}

/// The share of the time spent waiting for this.
fn waited(account: &Value, why: &str) -> f64 {
    let idle = account["timing"]["idle"].as_array().unwrap();
    idle.iter().find(|i| i["why"] == why).map_or(0.0, |i| i["share"].as_f64().unwrap())
}

/// A stage's times.
fn stage(account: &Value, name: &str) -> Value {
    let stages = account["timing"]["stages"].as_array().unwrap();
    stages.iter().find(|s| s["stage"] == name).unwrap_or_else(|| panic!("no {name}: {stages:?}")).clone()
}

/// Starts a crawl and waits until something is known about its speed.
fn started(home: &Home, args: &[String]) -> Running {
    let running = home.start(&crawling(args), &[]);
    until("the crawl says something", || home.project().join("runs/1/why.json").exists());
    running
}

#[test]
fn a_crawl_bound_by_politeness_says_so_and_what_would_help() {
    let world = World::new(one_host(12));
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "200ms"]));
    let account = why(&home);
    let text = told(&account, "delay");
    assert!(text.contains("delay of 200 ms of 1 host") && text.contains("more hosts would help"), "{text}");
    assert!(waited(&account, "delay") > 0.5, "{}", account["timing"]);
    assert!(told(&account, "ended").contains("nothing is left to do"));
    for name in ["wait", "body", "read", "record", "archive", "catalogue", "index"] {
        assert!(stage(&account, name)["mean_ms"].as_f64().unwrap() > 0.0, "{name}");
    }
    assert_eq!(stage(&account, "read")["count"], 12);
}

#[test]
fn a_running_crawl_is_looked_at_from_another_process() {
    let world = World::new(one_host(500));
    let home = Home::new();
    let running = started(&home, &world.args(&["--delay", "100ms"]));
    until("the delay is the reason", || advice(&why(&home), "delay").is_some());
    let account = why(&home);
    assert_eq!(account["state"], "running");
    let allowed = account["now"]["allowed_per_second"].as_f64().unwrap();
    assert!((allowed - 10.0).abs() < 0.1, "one host, ten requests a second: {allowed}");
    assert_eq!((&account["bounds"]["connections"], &account["bounds"]["delay"]), (&128.into(), &0.1.into()));
    let longest = &account["hosts"][0];
    assert!(
        longest["queued"].as_u64() > Some(0) && longest["host"].as_str().unwrap().starts_with("h0000."),
        "{longest}"
    );
    let before = account["timing"]["stages"].clone();
    until("the facts are renewed", || why(&home)["timing"]["stages"] != before);
    let shown = home.orb(&["status", PROJECT, "--why"]);
    let text = shown.expect(0).text();
    for part in
        ["what would help", "where the time goes", "kept the next request", "longest queues", "politeness allows"]
    {
        assert!(text.contains(part), "no '{part}':\n{text}");
    }
    // After a kill the account is still readable; when resumed, it continues counting.
    running.signal(Signal::KILL);
    running.finish();
    let account = why(&home);
    assert_eq!(account["state"], "interrupted");
    let (seconds, read) = (account["seconds"].as_f64().unwrap(), stage(&account, "read")["count"].as_u64().unwrap());
    assert!(read > 0 && advice(&account, "delay").is_some(), "{account}");
    home.crawl(&[PROJECT, "--max-pages", "12"]);
    let account = why(&home);
    assert!(account["seconds"].as_f64().unwrap() > seconds, "{account}");
    assert!(stage(&account, "read")["count"].as_u64().unwrap() >= read, "{account}");
}

/// The samples of a run's pace, each as seconds, pages and queue; both of the former never fall.
fn pace(account: &Value) -> Vec<(f64, u64, u64)> {
    let samples = account["pace"]["samples"].as_array().unwrap();
    let read =
        |s: &Value| (s["seconds"].as_f64().unwrap(), s["pages"].as_u64().unwrap(), s["queued"].as_u64().unwrap());
    let samples: Vec<_> = samples.iter().map(read).collect();
    assert!(samples.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{samples:?}");
    samples
}

#[test]
fn the_pace_of_a_run_is_kept_and_tells_the_time_left() {
    let links: Vec<String> = (0..400).map(|i| format!("/{i}")).collect();
    let script = Script::serve(move |heard| match heard.target.as_str() {
        "/" => page(&links),
        "/robots.txt" => absent(),
        _ => page(["/"; 0]),
    });
    let home = Home::new();
    let running = started(&home, &[format!("http://{}/", script.address), "--delay".into(), "100ms".into()]);
    until("the time left is known", || why(&home)["eta_seconds"].as_f64() > Some(0.0));
    let account = why(&home);
    assert_eq!(account["pace"]["interval_seconds"], 1.0);
    let (samples, left) = (pace(&account), account["eta_seconds"].as_f64());
    assert!(samples.len() >= 5, "{samples:?}");
    // Ten pages a second, if the machine keeps up.
    let queued = samples.last().unwrap().2;
    assert!(left >= Some(queued as f64 / 11.0), "{left:?} for {queued} pages");
    let shown = home.orb(&["status", PROJECT, "--why"]);
    assert!(shown.expect(0).text().contains(" pages queued; about "), "{shown}");
    // Killed and resumed: one series, whole at every moment.
    running.signal(Signal::KILL);
    running.finish();
    let account = why(&home);
    let before = pace(&account);
    assert!(before.len() >= samples.len() && account["eta_seconds"].is_null(), "{account}");
    home.crawl(&[PROJECT, "--delay", "1ms"]);
    let account = why(&home);
    let after = pace(&account);
    assert_eq!(after[..before.len()], before);
    assert!(after.len() > before.len() && after.last().unwrap().2 == 0, "{after:?}");
    assert!(account["eta_seconds"].is_null(), "{account}");
}

#[test]
fn a_slow_server_is_named() {
    let latency = Latency { mean: Duration::from_millis(1_300), spread: 0.0 };
    let world = World::new(Spec { latency, ..one_host(5) });
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--per-host", "2"]));
    let account = why(&home);
    let text = told(&account, "slow-server");
    assert!(text.contains("slow server h0000.") && text.contains(" s for an answer"), "{text}");
    assert!(told(&account, "answers").contains("--per-host 4"), "{account}");
    assert!(stage(&account, "wait")["median_ms"].as_f64().unwrap() > 1_000.0, "{account}");
}

#[test]
fn a_used_up_bandwidth_is_told() {
    let spec = Spec { page_bytes: 50_000, gzip: GzipMode::Never, ..one_host(16) };
    let world = World::new(spec);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--bandwidth", "200kB/s"]));
    let text = told(&why(&home), "bandwidth");
    assert!(text.contains("200 kB/s is used up"), "{text}");
}

#[test]
fn a_cap_on_connections_that_is_reached_is_told() {
    let latency = Latency { mean: Duration::from_millis(250), spread: 0.0 };
    let world = World::new(Spec { hosts: 6, pages_per_host: 4, latency, ..Spec::default() });
    let home = Home::new();
    home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--connections", "2"]));
    let account = why(&home);
    let text = told(&account, "connections");
    assert!(text.contains("all 2 connections are in use") && text.contains("--connections 4"), "{text}");
    assert!(waited(&account, "connections") > 0.3, "{}", account["timing"]);
}

#[test]
fn slow_names_are_told() {
    let world = World::new(Spec { hosts: 8, pages_per_host: 2, ..Spec::default() });
    let names = Dns::spawn(world.server.web()).unwrap();
    let slow = SlowDns::before(names.addr());
    let home = Home::new();
    let (seed, dns) = (world.url(0, "/"), slow.addr.to_string());
    home.crawl(&[seed.as_str(), "--dns", &dns, "--scope", "any", "--allow-private", "--delay", "0"]);
    let account = why(&home);
    let text = told(&account, "names");
    assert!(text.contains("looking a name up takes") && text.contains("--dns"), "{text}");
    assert!(stage(&account, "dns")["median_ms"].as_f64().unwrap() >= 250.0, "{account}");
}

/// A name server that forwards to another one after a delay.
struct SlowDns {
    addr: SocketAddr,
}

impl SlowDns {
    fn before(other: SocketAddr) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let addr = socket.local_addr().unwrap();
        let answer = move |socket: &UdpSocket, question: &[u8], asker: SocketAddr| {
            let ahead = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            ahead.send_to(question, other).unwrap();
            let mut reply = [0; 1_500];
            let (length, _) = ahead.recv_from(&mut reply).unwrap();
            // The delay is what is being tested.
            std::thread::park_timeout(Duration::from_millis(300));
            let _ = socket.send_to(&reply[..length], asker);
        };
        std::thread::spawn(move || {
            let mut question = [0; 1_500];
            while let Ok((length, asker)) = socket.recv_from(&mut question) {
                let (socket, question) = (socket.try_clone().unwrap(), question[..length].to_vec());
                std::thread::spawn(move || answer(&socket, &question, asker));
            }
        });
        Self { addr }
    }
}

#[test]
fn a_plain_display_names_the_limit() {
    let world = World::new(one_host(30));
    let home = Home::new();
    let flags = ["--delay", "500ms", "--max-time", "8s", "--project", PROJECT, "--progress", "plain"];
    let args: Vec<String> = ["crawl".to_owned()].into_iter().chain(world.args(&flags)).collect();
    let finished = home.orb(&args);
    finished.expect(0);
    let line = finished.stderr.lines().find(|line| line.contains("limit: "));
    let line = line.unwrap_or_else(|| panic!("no limit: {finished}"));
    assert!(line.contains("waiting for the delay of 1 host; politeness allows 2.0/s"), "{line}");
}

#[test]
fn a_busy_processor_is_told() {
    // One reading thread, and pages of hundreds of kilobytes from a server that has them ready.
    let spec = Spec { page_bytes: 400_000, links: 200, gzip: GzipMode::Never, threads: 2, ..one_host(120) };
    let world = World::new(spec);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0", "--workers", "1"]));
    let text = told(&why(&home), "processor");
    assert!(text.contains("the processor is the limit"), "{text}");
}

#[test]
fn hosts_that_cannot_be_asked_are_counted_by_their_reason() {
    let world = World::new(Spec { hosts: 2, pages_per_host: 5, ..Spec::default() }.with(Feature::Failures));
    let home = Home::new();
    let hurried = ["frontier.delay = '0s'", "frontier.retries = 1", "frontier.max_backoff = '50ms'"];
    let narrowed = ["scope.mode = 'any'", "scope.rules = [{ deny = '/failures/503' }]"];
    home.crawl(&[world.project(&home, &[hurried.as_slice(), &narrowed].concat())]);
    let account = why(&home);
    let text = told(&account, "resting");
    assert!(text.contains("robots.txt that cannot be read"), "{text}");
    assert!(told(&account, "ended").contains("could not be asked"), "{account}");
    let waiting = account["hosts"].as_array().unwrap();
    assert!(waiting.iter().any(|h| h["why"] == "robots unreachable" && h["queued"] == 1), "{waiting:?}");
}

#[test]
fn a_host_that_wants_a_longer_break_says_until_when() {
    let world = World::with(&[Feature::Failures]);
    let home = Home::new();
    let mut args = world.args(&["--delay", "0", "--per-host", "1"]);
    args.push(world.url(0, "/failures/503.html"));
    home.crawl(&args);
    let account = why(&home);
    assert!(told(&account, "resting").contains("wanting a longer break"), "{account}");
    let host = &account["hosts"][0];
    assert_eq!(host["why"], "wants a longer break than this run");
    assert!(host["until"].as_str().unwrap().starts_with("20"), "{host}");
}

#[test]
fn the_report_and_the_log_say_where_the_time_went() {
    let world = World::new(one_host(8));
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "100ms"]));
    let run = home.project().join("runs/1");
    let report: Value = serde_json::from_slice(&std::fs::read(run.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["pages"], 8);
    assert_eq!(report["timing"]["stages"], why(&home)["timing"]["stages"]);
    assert!(!report["advice"].as_array().unwrap().is_empty());
    let log = std::fs::read_to_string(run.join("run.log")).unwrap();
    assert!(log.contains("time, on average: ") && log.contains("waited for: delay "), "{log}");
}

#[test]
fn who_asks_about_nothing_is_told_in_a_line() {
    let world = World::new(one_host(3));
    let home = Home::new();
    assert!(home.orb(&["status", PROJECT, "--why"]).complaint(1).contains(PROJECT));
    assert!(home.orb(&["status", "--why"]).expect(2).stderr.contains("PROJECT"));
    home.crawl(&world.args(&["--delay", "0"]));
    for damage in ["", "{", "{\"run\":1,\"whole\":7}", "\0\0\0\0"] {
        std::fs::write(home.project().join("runs/1/why.json"), damage).unwrap();
        let complaint = home.orb(&["status", PROJECT, "--why"]);
        assert!(complaint.complaint(1).contains("nothing is known about the speed"), "{complaint}");
    }
}
