//! Can a monitoring system watch a crawl?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge::{Family, prometheus};
use harness::orb::{Home, PROJECT, Running, crawling};
use harness::until;
use harness::web::World;
use orb_testweb::Spec;
use rustix::process::Signal;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

/// A slow crawl with a metrics endpoint.
struct Watched {
    _world: World,
    home: Home,
    running: Running,
    port: u16,
}

impl Watched {
    fn start() -> Self {
        let world = World::new(Spec { hosts: 3, pages_per_host: 400, ..Spec::default() });
        let home = Home::new();
        let port = free_port();
        let number = port.to_string();
        let args = world.args(&["--scope", "any", "--delay", "20ms", "--metrics", &number]);
        let running = home.start(&crawling(&args), &[]);
        let watched = Self { _world: world, home, running, port };
        until("it can be asked", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        watched
    }

    /// The complete response to these bytes.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn page(&self) -> String {
        let answer = self.ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
        body.to_owned()
    }

    fn families(&self) -> Vec<Family> {
        prometheus(&self.page(), &self.home.beside("metrics.txt"))
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

#[track_caller]
fn family<'a>(families: &'a [Family], name: &str) -> &'a Family {
    families.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// The value of a sample with this label, if any.
fn value(family: &Family, sample: &str, label: (&str, &str)) -> f64 {
    let found =
        family.samples.iter().find(|(n, labels, _)| n == sample && labels.get(label.0).is_some_and(|v| v == label.1));
    found.unwrap_or_else(|| panic!("no {sample} {label:?}: {family:?}")).2
}

#[test]
fn prometheus_reads_everything_and_counters_only_grow() {
    let watched = Watched::start();
    until("pages were committed", || !watched.page().contains("orb_pages_total{kind=\"html\"} 0"));
    until("the run was looked at", || watched.page().contains("orb_connections_limit 128"));
    let first = watched.families();
    for f in &first {
        assert!(f.help.ends_with('.') && ["counter", "gauge", "histogram"].contains(&f.kind.as_str()), "{f:?}");
        assert!(f.name.starts_with("orb_") || f.name.starts_with("process_"), "{f:?}");
    }
    for (name, kind) in [
        ("orb_pages", "counter"),
        ("orb_received_bytes", "counter"),
        ("orb_fetch_errors", "counter"),
        ("orb_requests_in_flight", "gauge"),
        ("orb_connections", "gauge"),
        ("orb_hosts_waiting", "gauge"),
        ("orb_queued_pages", "gauge"),
        ("orb_known_urls", "gauge"),
        ("orb_idle_seconds", "counter"),
        ("orb_stage_duration_seconds", "histogram"),
        ("process_resident_memory_bytes", "gauge"),
        ("process_cpu_seconds", "counter"),
    ] {
        assert_eq!(family(&first, name).kind, kind, "{name}");
    }
    assert!(value(family(&first, "orb_idle_seconds"), "orb_idle_seconds_total", ("reason", "delay")) > 0.0);
    assert!(family(&first, "process_resident_memory_bytes").samples[0].2 > 1e6);
    let before = value(family(&first, "orb_pages"), "orb_pages_total", ("kind", "html"));
    until("more pages were committed", || {
        !watched.page().contains(&format!("orb_pages_total{{kind=\"html\"}} {before}\n"))
    });
    grown(&first, &watched.families());
}

/// Panics if a counter or bucket shrank, or if buckets do not add up.
fn grown(first: &[Family], second: &[Family]) {
    for earlier in first.iter().filter(|f| f.kind != "gauge") {
        let later = family(second, &earlier.name);
        for (name, labels, was) in &earlier.samples {
            let now = later.samples.iter().find(|(n, l, _)| n == name && l == labels).unwrap().2;
            assert!(now >= *was, "{name} {labels:?} shrank from {was} to {now}");
        }
    }
    let stages = family(second, "orb_stage_duration_seconds");
    for stage in ["wait", "body", "read", "record", "archive", "catalogue", "index"] {
        let of = |sample: &str| value(stages, &format!("orb_stage_duration_seconds_{sample}"), ("stage", stage));
        assert!(of("count") > 0.0 && of("sum") > 0.0, "{stage}");
        let buckets = stages.samples.iter().filter(|(n, l, _)| n.ends_with("_bucket") && l["stage"] == stage);
        let counts: Vec<f64> = buckets.map(|(_, _, v)| *v).collect();
        assert!(counts.is_sorted(), "{stage}: {counts:?}");
        assert_eq!(counts.last(), Some(&of("count")), "{stage}");
    }
}

#[test]
fn only_metrics_are_served_and_nobody_can_hold_them_up() {
    let watched = Watched::start();
    assert!(watched.ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(watched.ask("GET /../crawl.db HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(watched.ask("DELETE /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    let head = watched.ask("HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    // More silent clients than are served at once: they are disconnected, and others are served.
    let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, watched.port)).unwrap();
    let silent: Vec<TcpStream> = (0..30).map(|_| connect()).collect();
    let answers = || {
        let mut stream = connect();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut answer = [0; 12];
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").and_then(|()| stream.read_exact(&mut answer)).is_ok()
    };
    until("the silent ones were let go", answers);
    drop(silent);
    // An endless request head is not read to its end.
    let mut flood = connect();
    let line = [b'x'; 4_096];
    until("it stops listening", || flood.write_all(&line).is_err());
    watched.page();
    // And the crawl was not affected.
    watched.running.signal(Signal::TERM);
    watched.running.finish().expect(130);
}

#[test]
fn an_address_that_cannot_be_had_is_told_before_anything_is_done() {
    let world = World::new(Spec { hosts: 1, pages_per_host: 2, cross_host_links: 0.0, ..Spec::default() });
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let home = Home::new();
    let ask = |address: &str| home.orb(&crawling(&world.args(&["--metrics", address])));
    let complaint = ask(&port);
    assert!(complaint.complaint(1).contains(&format!("cannot serve metrics on 127.0.0.1:{port}")), "{complaint}");
    for wrong in ["nowhere", "99999", "1.2.3.4", ""] {
        let complaint = ask(wrong);
        assert!(complaint.complaint(2).contains("is not an address for --metrics"), "{complaint}");
    }
    assert!(!home.path().join(PROJECT).exists(), "nothing was begun");
    assert_eq!(world.server.counters().requests, 0);
}
