//! Can a page, a redirect or a name server make the crawl go where it should not?
//!
//! The seed is at an address given by the user (`--resolve`), as a public site would be on the
//! internet. Beside it listens an internal victim: whatever the seed's pages say, nobody may ever
//! connect to it.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT, crawling};
use harness::script::{Heard, Script, absent, moved, page, reply};
use orb_testweb::Dns;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Arguments for a crawl from a public site: its address, any scope, no delays.
fn from_outside(site: &Script, more: &[&str]) -> Vec<String> {
    let port = site.port();
    let mut args = vec![format!("http://site.test:{port}/"), "--resolve".into(), format!("site.test:{port}:127.0.0.1")];
    args.extend(["--scope", "any", "--delay", "0", "--retries", "0"].map(str::to_owned));
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    args
}

/// An internal server that nobody should ever reach.
fn victim() -> Script {
    Script::serve(|_| page(["/secret"]))
}

/// A site without robots.txt; everything else comes from `pages`.
fn site(pages: impl Fn(&Heard) -> Vec<u8> + Send + Sync + 'static) -> Script {
    Script::serve(move |heard| if heard.target == "/robots.txt" { absent() } else { pages(heard) })
}

/// Internal names: every name that starts with `in` resolves to loopback.
fn name_server() -> Dns {
    Dns::answering(|name| match name {
        "metadata.google.internal" => Some(vec!["169.254.169.254".parse().unwrap()]),
        name if name.starts_with("in") => Some(vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()]),
        _ => None,
    })
    .unwrap()
}

/// Every spelling of an internal address that a link may have, with the victim's port.
fn inner_links(port: u16) -> Vec<String> {
    let hosts = "127.0.0.1 127.1 127.0.0.1. 2130706433 0x7f000001 0177.0.0.1 0x7f.1 017700000001 0 0.0.0.0 localhost localhost. a.localhost \
        [::1] [::] [::ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::] [fe80::5efe:127.0.0.1] \
        [fe80::1] [fec0::1] [fc00::1] [fd00:ec2::254] 169.254.169.254 100.64.0.1 192.0.0.192 198.18.0.1 240.0.0.1 224.0.0.1 255.255.255.255 \
        10.0.0.1 172.16.0.1 192.168.0.1 168.63.129.16 inside.test INSIDE.test. metadata.google.internal site.test@127.0.0.1 site.test:80@127.0.0.1 \
        127%2e0%2e0%2e1 %6c%6f%63alhost \u{ff11}\u{ff12}\u{ff17}.0.0.1 127\u{3002}0\u{3002}0\u{3002}1 \u{2460}27.0.0.1 loc&#9;alhost";
    hosts.split_whitespace().map(|host| format!("http://{host}:{port}/")).collect()
}

#[test]
fn no_link_of_a_public_page_leads_inwards_however_it_is_spelt() {
    let (victim, names) = (victim(), name_server());
    let port = victim.port();
    let mut links = inner_links(port);
    links.extend([
        format!("http:\\\\127.0.0.1:{port}/"),
        format!("///127.0.0.1:{port}/x"),
        format!("\\/localhost:{port}\\y"),
    ]);
    let count = links.len();
    let site = site(move |heard| if heard.target == "/" { page(&links) } else { absent() });
    let home = Home::new();
    let dns = names.addr().to_string();
    home.crawl(&from_outside(&site, &["--dns", &dns]));
    assert_eq!(victim.connections(), 0);
    let refused = home.catalogue().rows("SELECT url, kind, problem FROM page WHERE url NOT LIKE '%site.test%'");
    assert!(refused.len() > count / 2, "{refused:?}");
    for row in &refused {
        assert_eq!(row[1], "DOMAIN_ERROR", "{row:?}");
        assert!(row[2].contains("which must not be visited"), "{row:?}");
    }
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn no_redirect_of_a_public_page_leads_inwards_not_even_after_a_resumption() {
    let (victim, names) = (victim(), name_server());
    let port = victim.port();
    let targets = inner_links(port);
    let links: Vec<String> = (0..targets.len()).map(|n| format!("/to/{n}")).collect();
    let site = site(move |heard| match heard.target.rsplit_once('/') {
        Some(("", "")) => page(&links),
        // A chain: two redirects within the site, then an internal one.
        Some(("/to", n)) => moved(&format!("/next/{n}")),
        Some(("/next", n)) => moved(&targets[n.parse::<usize>().unwrap()]),
        _ => absent(),
    });
    let home = Home::new();
    let dns = names.addr().to_string();
    // Stopped by its budget again and again, so that every hop of every chain is resumed by another
    // process.
    for pages in ["1", "20", "40", "60", "500"] {
        home.crawl(&from_outside(&site, &["--dns", &dns, "--max-pages", pages]));
    }
    assert_eq!(victim.connections(), 0);
    let kinds = home.catalogue().rows("SELECT kind, count(*) FROM page WHERE url NOT LIKE '%site.test%' GROUP BY kind");
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    assert_eq!(kinds[0][0], "DOMAIN_ERROR");
}

#[test]
fn a_seed_that_redirects_inwards_opens_nothing_not_even_after_a_resumption() {
    let victim = victim();
    let to = format!("http://127.0.0.1:{}/", victim.port());
    let site = site(move |heard| if heard.target == "/" { moved(&to) } else { absent() });
    let home = Home::new();
    home.crawl(&from_outside(&site, &["--max-pages", "1"]));
    home.crawl(&from_outside(&site, &[]));
    assert_eq!(victim.connections(), 0);
    assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE kind = 'DOMAIN_ERROR'"), 1);
}

#[test]
fn no_robots_txt_and_no_sitemap_leads_inwards() {
    let victim = victim();
    let port = victim.port();
    let rules = move |heard: &Heard| {
        let own = heard.field("host").unwrap_or_default();
        let hosts = [&format!("127.0.0.1:{port}"), &format!("[::ffff:7f00:1]:{port}"), own];
        let sitemaps: String = hosts.iter().map(|host| format!("Sitemap: http://{host}/s.xml\n")).collect();
        reply("200 OK", "Content-Type: text/plain\r\n", &format!("User-agent: *\nAllow: /\n{sitemaps}"))
    };
    let listed = format!(
        "<!DOCTYPE urlset [<!ENTITY x SYSTEM 'http://127.0.0.1:{port}/entity'><!ENTITY % y SYSTEM 'http://127.0.0.1:{port}/dtd'> %y;]>\
         <urlset><url><loc>http://localhost:{port}/&x;</loc></url></urlset>"
    );
    let polite = Script::serve(move |heard| match heard.target.as_str() {
        "/robots.txt" => rules(heard),
        "/s.xml" => reply("200 OK", "Content-Type: application/xml\r\n", &listed),
        _ => page([""; 0]),
    });
    let home = Home::new();
    home.crawl(&from_outside(&polite, &[]));
    assert_eq!(victim.connections(), 0);
    assert!(home.catalogue().number("SELECT count(*) FROM page WHERE kind = 'DOMAIN_ERROR'") >= 3);
    // A robots.txt that redirects to an internal address is not fetched there, and its host is not
    // taken to allow everything.
    let moving = Script::serve(move |heard| match heard.target.as_str() {
        "/robots.txt" => moved(&format!("http://127.0.0.1:{port}/robots.txt")),
        _ => page([""; 0]),
    });
    let finished = Home::new().orb(&crawling(&from_outside(&moving, &[])));
    assert!(finished.complaint(1).contains("loopback address"), "{finished}");
    assert_eq!((victim.connections(), moving.heard().len()), (0, 1));
}

#[test]
fn a_redirect_to_a_file_or_another_scheme_reads_nothing() {
    let site = site(|heard| match heard.target.as_str() {
        "/" => page(["/a", "/b", "/c"]),
        "/a" => moved("file:///etc/passwd"),
        "/b" => moved("gopher://127.0.0.1:6379/_FLUSHALL"),
        _ => moved("data:text/html,<a href='/x'>"),
    });
    let home = Home::new();
    home.crawl(&from_outside(&site, &[]));
    let problems = home.catalogue().column("SELECT problem FROM page WHERE kind = 'REDIRECT'");
    assert!(problems.len() == 3 && problems.iter().all(|p| p.starts_with("redirect to '")), "{problems:?}");
    assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE url NOT LIKE 'http://site.test%'"), 0);
}

#[test]
fn a_private_seed_opens_its_own_name_and_no_other() {
    let victim = victim();
    let port = victim.port();
    // The same server by another name and by its address: the seed is allowed, not the machine.
    let links = [
        format!("http://inner.test:{port}/"),
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
    ];
    let inside = site(move |heard| if heard.target == "/" { page(&links) } else { page(["/"]) });
    let home = Home::new();
    let names = name_server();
    let (dns, seed) = (names.addr().to_string(), format!("http://intra.test:{}/", inside.port()));
    home.crawl(&[seed.as_str(), "--dns", &dns, "--scope", "any", "--delay", "0", "--retries", "0"]);
    assert_eq!(victim.connections(), 0);
    assert!(inside.heard().iter().all(|heard| heard.host() == "intra.test"));
    assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE kind = 'DOMAIN_ERROR'"), 3);
}

#[test]
fn a_seed_seen_at_a_public_address_stays_public_across_a_restart() {
    let inside = site(|_| page(["/more"]));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let names = Dns::answering(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        Some(vec!["127.0.0.1".parse::<IpAddr>().unwrap()])
    })
    .unwrap();
    let (dns, seed) = (names.addr().to_string(), format!("http://turns.test:{}/", inside.port()));
    let args = [seed.as_str(), "--dns", &dns, "--delay", "0", "--retries", "0"];
    let home = Home::new();
    home.crawl(&[args.as_slice(), &["--max-pages", "1"]].concat());
    assert!(!inside.heard().is_empty(), "a private seed is visited");
    // As if the name had resolved to a public address when it was first seen.
    let database = rusqlite::Connection::open(home.project().join("crawl.db")).unwrap();
    assert_eq!(database.execute("UPDATE host_row SET ip = '93.184.216.34'", []).unwrap(), 1);
    drop(database);
    let (before, asked_before) = (inside.connections(), asked.load(Ordering::SeqCst));
    home.crawl(&args);
    assert!(asked.load(Ordering::SeqCst) > asked_before, "the name was looked up again");
    assert_eq!(inside.connections(), before, "and not followed inwards");
    let refused = home.catalogue().column("SELECT problem FROM page WHERE kind = 'DOMAIN_ERROR'");
    assert!(refused.len() == 1 && refused[0].contains("loopback address"), "{refused:?}");
    assert_eq!(home.catalogue().column("SELECT ip FROM host"), ["93.184.216.34"], "and it stays that way");
}
