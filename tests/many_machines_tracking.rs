//! Do several workers that visit pages again report what one machine would?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::cluster::Cluster;
use harness::orb::{Finished, Home, PROJECT, Running, crawling};
use harness::script::{Script, absent, reply};
use harness::until;
use harness::web::{World, assert_same};
use orb_testweb::{Feature, Spec};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(3);
const SLICE: Duration = Duration::from_secs(5);

/// What the last run said of every document, and the whole life of every link.
const TOLD: &str =
    "SELECT p.url || ' ' || v.flag || ' ' || coalesce(c.moved_to, '') FROM visit v JOIN page p ON p.id = v.page_id
    LEFT JOIN change c ON c.run = v.run AND c.page_id = v.page_id
    WHERE v.run = (SELECT max(id) FROM run) AND (c.seq IS NOT NULL OR v.flag = 'SAM')";
const LINKS: &str = "SELECT a.url || ' ' || b.url || ' ' || l.kind || ' ' || CAST(l.count AS TEXT) || ' ' || coalesce(l.anchor, '') || ' ' ||
      coalesce(l.rel, '') || ' ' || CAST(l.first_run AS TEXT) || ' ' || coalesce(CAST(l.last_run AS TEXT), '-')
    FROM link_row l JOIN source_row s ON s.id = l.source JOIN page_row a ON a.id = s.page JOIN page_row b ON b.id = l.dst";
const PAST: &str = "SELECT a.url || ' ' || b.url || ' ' || l.kind || ' ' || CAST(l.count AS TEXT) || ' ' || coalesce(l.anchor, '') || ' ' ||
      CAST(l.first_run AS TEXT) || ' ' || CAST(l.last_run AS TEXT)
    FROM past_row l JOIN source_row s ON s.id = l.source JOIN page_row a ON a.id = s.page JOIN page_row b ON b.id = l.dst";

/// Newspapers that link to each other and change from edition to edition.
fn newspapers() -> World {
    let spec = Spec { hosts: 4, pages_per_host: 8, cross_host_links: 0.5, ..Spec::default() };
    World::new([Feature::Gazette, Feature::Changes, Feature::Validators].into_iter().fold(spec, Spec::with))
}

fn track(cluster: &Cluster, more: &[&str]) -> Running {
    let args: Vec<String> = ["track", PROJECT, "--json", "--progress", "none"].map(str::to_owned).to_vec();
    let more = more.iter().map(|arg| (*arg).to_owned()).collect();
    cluster.start(&[args, more, cluster.part(1)].concat())
}

#[track_caller]
fn assert_adds_up(finished: &Finished) {
    let flags = |flag: &str| finished.json()["flags"][flag].as_u64().unwrap();
    let visited = ["SAM", "UPD", "MIS", "ERR"].map(flags).iter().sum::<u64>();
    assert_eq!(finished.json()["known"].as_u64().unwrap_or(0), visited, "the account adds up: {finished}");
}

/// Compares what both say of the last run.
#[track_caller]
fn assert_agree(home: &Home, cluster: &Cluster, edition: u64, questions: &[(&str, &str)]) {
    let one = home.catalogue();
    for (what, sql) in questions {
        let set = |lines: Vec<String>| lines.into_iter().collect::<BTreeSet<_>>();
        assert_same(&format!("{what} in edition {edition}"), &set(cluster.column(sql)), &set(one.column(sql)));
    }
}

#[test]
fn what_is_new_changed_or_gone_is_the_same_as_on_one_machine() {
    let (world, home, cluster) = (newspapers(), Home::new(), Cluster::new(LEASE, SLICE));
    home.crawl(&world.args(&["--scope", "any", "--delay", "0", "--no-index"]));
    let (first, others) = cluster.crawl_with(&world, &["--scope", "any", "--delay", "10ms"], &[2, 3]);
    cluster.finish(first, Vec::new(), "done");
    for edition in 1..=2 {
        world.server.web().set_epoch(edition);
        home.orb(&["track", PROJECT, "--json", "--progress", "none", "--no-index"]).expect(0);
        assert_adds_up(&cluster.finish(track(&cluster, &[]), Vec::new(), "done"));
        // Teasers are drawn by lot for every response, so that links differ.
        assert_agree(&home, &cluster, edition, &[("flags", TOLD)]);
    }
    for flag in ["NEW", "UPD", "MIS"] {
        let told = format!("SELECT count(*) FROM change WHERE flag = '{flag}'");
        assert!(cluster.number(&told) > 0, "nothing is {flag}");
    }
    cluster.dismiss(others);
}

/// Six hosts of six pages whose links are a function of the edition: one changes its anchor text,
/// one leads elsewhere in odd editions and comes back, one comes with an edition; and some pages
/// are gone in some editions.
fn village(edition: &Arc<AtomicU64>) -> Script {
    let edition = Arc::clone(edition);
    Script::serve(move |heard| {
        let now = edition.load(Ordering::SeqCst);
        let number = |text: &str| text.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().ok();
        let port = heard.field("host").unwrap().rsplit_once(':').unwrap().1.to_owned();
        let (host, place) = (number(heard.host()).unwrap_or(0), number(&heard.target).unwrap_or(0));
        if heard.target == "/robots.txt" || (place == 5 && (host + now).is_multiple_of(3)) {
            return absent();
        }
        let to = |k: u64| format!("http://h{}.test:{port}/{}", (host + k) % 6, (place * 2 + k) % 6);
        let (again, more) = (to(if now % 2 == 1 { 7 } else { 3 }), to(3 + now));
        let changing = if host % 2 == 0 { now } else { 0 };
        let body = format!(
            "<!doctype html><title>{host}/{place}</title><p>Always the same words here.</p><a href='{}'>first</a>\
             <a href='{}'>second {changing}</a><a rel='nofollow' href='{again}'>third</a><a href='{more}'>fourth</a>\
             <a href='/{}'>next</a>",
            to(1),
            to(2),
            (place + 1) % 6,
        );
        reply("200 OK", "Content-Type: text/html\r\n", &body)
    })
}

#[test]
fn links_between_machines_live_as_long_as_on_one_machine() {
    let edition = Arc::new(AtomicU64::new(0));
    let site = village(&edition);
    let (home, cluster) = (Home::new(), Cluster::new(LEASE, SLICE));
    let mut args = vec![format!("http://h0.test:{}/", site.port())];
    for host in 0..6 {
        args.extend(["--resolve".to_owned(), format!("h{host}.test:{}:127.0.7.{}", site.port(), host + 1)]);
    }
    args.extend(["--scope", "any", "--delay", "10ms"].map(str::to_owned));
    home.crawl(&[args.clone(), vec!["--no-index".to_owned()]].concat());
    let first = cluster.start(&[crawling(&args), cluster.part(1)].concat());
    until("it is planted", || cluster.is_planted());
    let others = vec![cluster.worker(2), cluster.worker(3)];
    cluster.finish(first, Vec::new(), "done");
    for now in 1..=3 {
        edition.store(now, Ordering::SeqCst);
        home.orb(&["track", PROJECT, "--json", "--progress", "none", "--no-index"]).expect(0);
        assert_adds_up(&cluster.finish(track(&cluster, &[]), Vec::new(), "done"));
        assert_agree(&home, &cluster, now, &[("flags", TOLD), ("links", LINKS), ("past links", PAST)]);
    }
    cluster.dismiss(others);
    for (what, sql) in [
        ("closed", "SELECT count(*) FROM link_row WHERE last_run IS NOT NULL"),
        ("changed or came back", "SELECT count(*) FROM past_row"),
        ("told by letters", "SELECT count(*) FROM link_row l JOIN page_row p ON p.id = l.dst WHERE p.shard <> l.shard"),
    ] {
        assert!(cluster.number(sql) > 0, "no link was {what}");
    }
}

#[test]
fn a_budget_of_visits_is_spent_once_by_all_workers_together() {
    let (world, cluster) = (newspapers(), Cluster::new(LEASE, SLICE));
    let (first, others) = cluster.crawl_with(&world, &["--scope", "any", "--delay", "10ms"], &[2, 3]);
    cluster.finish(first, Vec::new(), "done");
    let finished = cluster.finish(track(&cluster, &["--budget", "12"]), others, "done");
    assert_adds_up(&finished);
    let again = "SELECT count(*) FROM visit_row v JOIN page_row p ON p.id = v.page WHERE v.run = 2 AND p.depth > 0
                 AND EXISTS (SELECT 1 FROM visit_row e WHERE e.page = v.page AND e.run = 1)";
    let (again, chosen) = (cluster.number(again), cluster.number("SELECT count(*) FROM chosen_row"));
    assert_eq!(chosen, 12);
    assert!((11..=12).contains(&again), "{again} visits; one of the twelve may be a seed");
}
