use super::{Advice, Bounds, SlowHost, SpeedFacts, Stretch, WaitingHosts};
use crate::watch::ledger::{Idle, Ledger, Stage};
use crate::watch::progress::Pause;
use orb_frontier::Why;
use std::time::Duration;

/// Ten seconds of a run: each stage as often and as long as given, the driver waiting as given, in
/// milliseconds.
fn run(stages: &[(Stage, u64, u64)], idle: &[(Idle, u64)]) -> SpeedFacts {
    let ledger = Ledger::default();
    for (stage, count, each) in stages {
        (0..*count).for_each(|_| ledger.note(*stage, Duration::from_millis(*each)));
    }
    for (why, all) in idle {
        ledger.note_idle(*why, Duration::from_millis(*all));
    }
    let recent = Stretch {
        seconds: 10.0,
        cpu_seconds: 0.5,
        load: (300, 2_000),
        pages: 100,
        bytes: 2_000_000,
        errors: 0,
        tally: ledger.tally(),
    };
    SpeedFacts {
        run: 1,
        state: SpeedFacts::RUNNING.to_owned(),
        whole: recent.clone(),
        recent,
        bounds: Bounds { delay: 1.0, per_host: 8, connections: 128, bandwidth: None, workers: 2, cores: 2 },
        queued: 500,
        hosts_fetched: 4,
        ..SpeedFacts::default()
    }
}

fn held(why: Why, hosts: u64, example: &str) -> WaitingHosts {
    WaitingHosts { why: why.text().to_owned(), hosts, example: example.to_owned() }
}

fn first(facts: &SpeedFacts) -> Advice {
    facts.advice().remove(0)
}

#[track_caller]
fn says(advice: &Advice, rule: &str, words: &[&str]) {
    assert_eq!(advice.rule, rule, "{advice:?}");
    for word in words {
        assert!(advice.text.contains(word), "no '{word}' in: {}", advice.text);
    }
}

#[test]
fn a_crawl_that_waits_for_the_delay_says_what_a_shorter_one_or_more_hosts_would_do() {
    let mut facts = run(&[(Stage::Wait, 10, 12)], &[(Idle::Delay, 9_700)]);
    facts.waiting = vec![held(Why::Delay, 1, "h.example")];
    says(&first(&facts), "delay", &["97 %", "delay of 1.0 s of 1 host", "--delay 200ms", "more hosts", "11 ms"]);
}

#[test]
fn a_shorter_delay_is_not_advised_where_answers_take_as_long() {
    let facts = run(&[(Stage::Wait, 10, 900)], &[(Idle::Delay, 9_000)]);
    let advice = first(&facts);
    says(&advice, "delay", &["more hosts would help"]);
    assert!(!advice.text.contains("--delay"), "{advice:?}");
}

#[test]
fn a_crawl_delay_is_the_sites_wish() {
    let mut facts = run(&[], &[(Idle::CrawlDelay, 8_000)]);
    facts.waiting = vec![held(Why::CrawlDelay, 3, "slow.example")];
    says(&first(&facts), "crawl-delay", &["80 %", "3 hosts (such as slow.example)", "max_crawl_delay"]);
}

#[test]
fn hosts_that_share_an_address_wait_for_each_other() {
    let mut facts = run(&[], &[(Idle::Address, 6_000)]);
    facts.waiting = vec![held(Why::Address, 40, "a.example")];
    says(&first(&facts), "address", &["60 %", "40 hosts", "other addresses"]);
}

#[test]
fn without_a_delay_more_requests_at_once_are_advised() {
    let mut facts = run(&[(Stage::Wait, 50, 200)], &[(Idle::Answers, 9_000)]);
    facts.bounds.delay = 0.0;
    says(&first(&facts), "answers", &["90 %", "--per-host 16"]);
    facts.bounds.delay = 1.0;
    assert!(!first(&facts).text.contains("--per-host"));
}

#[test]
fn a_slow_server_is_named_with_its_time() {
    let mut facts = run(&[], &[(Idle::Slow, 5_000)]);
    facts.slowest = vec![SlowHost { host: "slow.example".to_owned(), answers: 12, mean: 4.0 }];
    says(&first(&facts), "slow-server", &["slow.example", "4.0 s"]);
    facts.slowest[0].mean = 0.2;
    assert_eq!(first(&facts).rule, "nothing");
}

#[test]
fn a_used_up_bandwidth_is_the_reason_and_not_the_servers() {
    let mut facts = run(&[(Stage::Body, 50, 900)], &[(Idle::Answers, 9_000), (Idle::Connections, 9_000)]);
    facts.bounds.bandwidth = Some(220_000);
    says(&first(&facts), "bandwidth", &["220 kB/s", "used up", "--bandwidth"]);
    assert_eq!(facts.advice().len(), 1, "{:?}", facts.advice());
    facts.bounds.bandwidth = Some(10_000_000);
    assert!(facts.advice().iter().all(|a| a.rule != "bandwidth"));
}

#[test]
fn a_line_full_of_heads_is_as_full_as_one_of_bodies() {
    let mut facts = run(&[], &[(Idle::Bandwidth, 6_000)]);
    facts.bounds.bandwidth = Some(1_000_000);
    says(&first(&facts), "bandwidth", &["1.0 MB/s is used up", "200 kB/s of bodies"]);
    facts.schedule = Some("schedule: 1MB/s until 18:00".to_owned());
    says(&first(&facts), "bandwidth", &["until 18:00", "limits.schedule"]);
}

#[test]
fn hours_at_which_nothing_may_be_begun_are_told() {
    let mut facts = run(&[], &[(Idle::Schedule, 9_000)]);
    facts.schedule = Some("schedule: paused until 22:00".to_owned());
    says(&first(&facts), "schedule", &["until 22:00", "nothing be begun"]);
}

#[test]
fn a_busy_processor_is_told_with_what_it_does() {
    let mut facts = run(&[(Stage::Read, 600, 20), (Stage::Record, 600, 5)], &[(Idle::Backlog, 4_000)]);
    facts.recent.cpu_seconds = 18.0;
    says(&first(&facts), "processor", &["90 % of 2 cores", "20 ms a page", "80 % of our own work", "--no-archive"]);
}

#[test]
fn reading_threads_fewer_than_cores_are_to_be_more() {
    let mut facts = run(&[(Stage::Read, 480, 20)], &[(Idle::Backlog, 4_000)]);
    (facts.bounds.workers, facts.bounds.cores, facts.recent.cpu_seconds) = (1, 8, 9.6);
    says(&first(&facts), "processor", &["one reading thread is busy 96 %", "--workers 8"]);
}

#[test]
fn other_programs_that_take_the_processor_are_mentioned() {
    let mut facts = run(&[(Stage::Read, 850, 20)], &[(Idle::Backlog, 9_000)]);
    (facts.recent.cpu_seconds, facts.recent.load) = (6.0, (1_900, 2_000));
    let words = ["30 % of 2 cores are in use and other programs take 65 %", "a machine of its own"];
    says(&first(&facts), "processor", &words);
}

#[test]
fn pages_that_wait_to_be_read_are_the_processors_fault_unless_commits_take_longer() {
    let facts = run(&[(Stage::Read, 100, 60)], &[(Idle::Backlog, 4_000)]);
    assert_eq!(first(&facts).rule, "processor");
    let facts = run(&[(Stage::Read, 100, 60), (Stage::Archive, 10, 900)], &[(Idle::Backlog, 4_000)]);
    assert_eq!(first(&facts).rule, "commit");
}

#[test]
fn a_slow_disk_is_told_by_its_commits() {
    let commits = [(Stage::Archive, 10, 700), (Stage::Catalogue, 10, 80), (Stage::Index, 10, 20)];
    let facts = run(&commits, &[(Idle::Backlog, 5_000)]);
    says(&first(&facts), "commit", &["the disk", "800 ms", "archive 700 ms", "80 %"]);
    let idle = run(&commits[1..], &[]);
    assert!(idle.advice().iter().all(|a| a.rule != "commit"), "commits that hold nobody up are no trouble");
}

#[test]
fn a_cap_on_connections_that_is_reached_is_told() {
    says(&first(&run(&[], &[(Idle::Connections, 7_000)])), "connections", &["70 %", "128", "--connections 256"]);
}

#[test]
fn slow_names_are_told_with_their_time() {
    let facts = run(&[(Stage::Dns, 20, 300), (Stage::Wait, 20, 50)], &[]);
    says(&first(&facts), "names", &["300 ms", "20 look-ups", "--dns"]);
    assert_eq!(first(&run(&[(Stage::Dns, 20, 2), (Stage::Wait, 20, 50)], &[])).rule, "nothing");
}

#[test]
fn costly_handshakes_are_told() {
    let facts = run(&[(Stage::Connect, 40, 60), (Stage::Tls, 40, 120), (Stage::Wait, 40, 30)], &[]);
    says(&first(&facts), "handshakes", &["180 ms each", "TLS 120 ms", "40 were opened"]);
}

#[test]
fn hosts_that_are_left_alone_are_counted_by_reason() {
    let mut facts = run(&[], &[(Idle::BackOff, 9_000)]);
    facts.waiting = vec![held(Why::RobotsUnreachable, 2, "r.example"), held(Why::BackOff, 1, "b.example")];
    let words = ["90 %", "2 with a robots.txt that cannot be read (such as r.example)", "1 backing off"];
    says(&first(&facts), "resting", &words);
    let few = SpeedFacts { recent: run(&[], &[]).recent, ..facts };
    says(&first(&few), "resting", &["3 hosts are left alone", "stay queued"]);
    let over = first(&run(&[], &[(Idle::BackOff, 9_000)]));
    says(&over, "resting", &["90 %"]);
    assert_eq!(over.phrase, "waiting for hosts that refused or failed");
}

#[test]
fn a_pause_is_above_everything_else() {
    let mut facts = run(&[], &[(Idle::Backlog, 10_000), (Idle::Delay, 9_000)]);
    facts.pause = Some(Pause::DiskLow.text().to_owned());
    says(&first(&facts), "paused", &["min_free"]);
}

#[test]
fn a_small_site_waits_for_its_own_commits() {
    let facts = run(&[(Stage::Gather, 5, 500)], &[(Idle::Commit, 6_000)]);
    says(&first(&facts), "starved", &["60 %", "recorded"]);
}

#[test]
fn a_run_that_has_ended_says_so_and_still_tells_where_the_time_went() {
    let mut facts = run(&[(Stage::Wait, 10, 12)], &[(Idle::Delay, 9_700)]);
    (facts.state, facts.queued) = ("done".to_owned(), 0);
    let advice = facts.advice();
    says(&advice[0], "ended", &["nothing is left to do", "everything in scope"]);
    says(&advice[1], "delay", &["97 %", "4 hosts"]);
    facts.queued = 7;
    says(&first(&facts), "ended", &["7 pages", "could not be asked"]);
    facts.state = "budget".to_owned();
    says(&first(&facts), "ended", &["budget"]);
}

#[test]
fn where_nothing_stands_out_that_is_said() {
    says(&first(&run(&[], &[])), "nothing", &["10.0 pages/s"]);
    says(&first(&SpeedFacts::default()), "nothing", &["nothing was fetched yet"]);
}

#[test]
fn of_a_running_crawl_the_last_seconds_count_and_of_an_ended_one_all() {
    let mut facts = run(&[], &[(Idle::Delay, 9_000)]);
    facts.whole = Stretch { seconds: 100_000.0, ..facts.recent.clone() };
    assert_eq!(first(&facts).rule, "delay");
    facts.state = "stopped".to_owned();
    assert!(facts.advice().iter().all(|a| a.rule != "delay"));
}

#[test]
fn facts_written_and_read_again_are_the_same() {
    let mut facts = run(&[(Stage::Wait, 10, 12)], &[(Idle::Delay, 9_700)]);
    facts.waiting = vec![held(Why::Delay, 1, "h.example")];
    let read: SpeedFacts = serde_json::from_slice(&serde_json::to_vec(&facts).unwrap()).unwrap();
    assert_eq!(read.advice(), facts.advice());
    assert_eq!(read.recent.breakdown(), facts.recent.breakdown());
}

#[test]
fn the_breakdown_shares_busy_time_out_and_leaves_queues_aside() {
    let facts =
        run(&[(Stage::Wait, 3, 100), (Stage::Read, 1, 100), (Stage::Gather, 1, 5_000)], &[(Idle::Delay, 5_000)]);
    let times = facts.recent.breakdown();
    let percents = times.stages.iter().map(|s| (s.stage, s.share.map(|share| (share * 100.0).round())));
    assert_eq!(percents.collect::<Vec<_>>(), [("wait", Some(75.0)), ("read", Some(25.0)), ("gather", None)]);
    assert_eq!((times.idle[0].why, times.idle[0].share), ("delay", 0.5));
}
