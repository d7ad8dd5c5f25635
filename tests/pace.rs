//! Does anybody wait for somebody else?
//!
//! A server keeps its clients waiting until the rest of the web has been fetched and recorded: a
//! crawl in which the others waited for it would never end. No clock is involved.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::held::{HeldSite, Manner};
use harness::orb::{self, Home, Running, crawling};
use harness::until;
use harness::web::{World, assert_same};
use orb_testweb::{CrawlReach, Spec};

const HOSTS: u32 = 40;
const PAGES: u32 = 10;
/// More than may be in flight on one host.
const HELD_PAGES: usize = 20;
const PER_HOST: usize = 8;

/// Crawls a web with a server in it that keeps its clients waiting until the rest is there.
fn crawl_beside(manner: Manner, start: fn(&Home, &[String]) -> Running) {
    let held = HeldSite::serve(manner);
    let world = World::new(Spec { hosts: HOSTS, pages_per_host: PAGES, ..Spec::default() });
    let home = Home::new();
    // Half of the connections are the slow server's, and its pages come first.
    let mut args: Vec<String> = (0..HELD_PAGES).map(|page| held.url(&format!("/{page}.html"))).collect();
    args.extend(world.args(&["--scope", "any", "--delay", "0", "--connections", "16", "--timeout", "10m"]));
    let running = start(&home, &crawling(&args));
    until("the slow server is as busy as it may be", || held.asked() == PER_HOST);

    let expected = world.expected(CrawlReach::Linked).urls;
    let all = expected.len() as u64 + u64::from(HOSTS);
    until("all others have been asked for everything", || world.server.counters().requests == all);
    let recorded = "SELECT count(*) FROM page WHERE kind = 'HTML'";
    until("all of it is recorded", || home.catalogue().number(recorded) == expected.len() as i64);
    assert_same("asked for", &world.asked_once(), &expected);
    assert_eq!((held.asked(), held.answered()), (PER_HOST, 0), "nobody was let go in the meantime");

    held.release();
    running.finish().expect(0);
    assert_eq!((held.asked(), held.answered()), (HELD_PAGES, HELD_PAGES));
}

fn on_all_cores(home: &Home, args: &[String]) -> Running {
    home.start(args, &[])
}

/// With one core there is one thread for all sockets and one that reads pages: whatever blocks
/// either of them holds everybody up.
fn on_one_core(home: &Home, args: &[String]) -> Running {
    Running::start(orb::on_one_core(&home.command(args)))
}

#[test]
fn a_server_that_does_not_answer_holds_nobody_up() {
    crawl_beside(Manner::Silent, on_all_cores);
}

#[test]
fn a_server_that_drips_holds_nobody_up() {
    crawl_beside(Manner::Dripping, on_all_cores);
}

#[test]
fn on_one_core_a_server_that_does_not_answer_holds_nobody_up() {
    crawl_beside(Manner::Silent, on_one_core);
}

#[test]
fn on_one_core_a_server_that_drips_holds_nobody_up() {
    crawl_beside(Manner::Dripping, on_one_core);
}
