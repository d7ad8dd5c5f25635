//! Can a monitoring system watch a crawl?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge::{Family, prometheus};
use harness::orb::{Home, PROJECT, Running, crawling};
use harness::served::{Served, add_user};
use harness::web::World;
use harness::{root, until};
use orb_testweb::Spec;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;

/// A slow crawl, and a server that tells how it goes.
struct Watched {
    _world: World,
    home: Home,
    running: Running,
    served: Served,
    bearer: String,
}

impl Watched {
    fn start() -> Self {
        let world = World::new(Spec { hosts: 3, pages_per_host: 400, ..Spec::default() });
        let home = Home::new();
        let running = home.start(&crawling(&world.args(&["--scope", "any", "--delay", "20ms"])), &[]);
        until("the run has begun", || home.path().join(PROJECT).join("runs/1/why.json").exists());
        add_user(&home, "ann", &[]);
        home.orb(&["user", "grant", "ann", PROJECT, "read"]).expect(0);
        let token = home.orb(&["user", "token", "ann", "--json", "--scope", "read"]).json();
        let bearer = format!("Bearer {}", token["token"].as_str().unwrap());
        let served = Served::start(&home, &[]);
        Self { _world: world, home, running, served, bearer }
    }

    fn page(&self) -> String {
        let page = self.served.get("/metrics", &[("Authorization", &self.bearer)]);
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(page.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
        page.body
    }

    fn families(&self) -> Vec<Family> {
        prometheus(&self.page(), &self.home.beside("metrics.txt"))
    }
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
    until("pages were committed", || {
        let page = watched.page();
        let waits = |line: &str| line.starts_with("orb_idle_seconds_total{project=\"p\",reason=\"delay\"}");
        page.lines().any(|line| waits(line) && !line.ends_with("} 0"))
            && page.contains("orb_connections_limit{project=\"p\"} 128")
            && !page.contains("orb_pages_total{project=\"p\",kind=\"html\"} 0")
            && !page.contains("orb_stage_duration_seconds_count{project=\"p\",stage=\"index\"} 0")
    });
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
        ("orb_run_resident_memory_bytes", "gauge"),
        ("orb_run_cpu_seconds", "counter"),
        ("process_resident_memory_bytes", "gauge"),
    ] {
        assert_eq!(family(&first, name).kind, kind, "{name}");
    }
    assert!(value(family(&first, "orb_idle_seconds"), "orb_idle_seconds_total", ("reason", "delay")) > 0.0);
    assert!(family(&first, "orb_run_resident_memory_bytes").samples[0].2 > 1e6);
    let before = value(family(&first, "orb_pages"), "orb_pages_total", ("kind", "html"));
    until("more pages were committed", || {
        !watched.page().contains(&format!("orb_pages_total{{project=\"p\",kind=\"html\"}} {before}\n"))
    });
    grown(&first, &watched.families());
    watched.running.signal(Signal::TERM);
    let Watched { running, served, bearer, .. } = watched;
    running.finish().expect(130);
    let page = served.get("/metrics", &[("Authorization", &bearer)]).body;
    assert!(page.contains("orb_project_running{project=\"p\"} 0") && !page.contains("orb_queued_pages{"), "{page}");
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
fn the_dashboard_shows_metrics_that_there_are() {
    let text = fs::read_to_string(root().join("docs/grafana.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() > 8);
    let manual = fs::read_to_string(root().join("docs/monitoring.md")).unwrap();
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let names: BTreeSet<&str> = text.split(word).filter(|name| name.starts_with("orb_")).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let plain = name.trim_end_matches("_bucket");
        assert!(manual.contains(&format!("`{plain}`")), "docs/monitoring.md does not list {name}");
    }
}
