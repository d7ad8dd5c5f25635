//! Does every page end, whatever it does?

use super::harness::orb::Home;
use super::harness::script::{Heard, absent, reply};
use super::harness::until;
use super::{crawl_args, html, one_page, project, rendered, site};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Short limits, so that the tests are: what counts is that they hold.
const SHORT: &str = "frontier.depth = 0\nrender.settle = '3s'\nrender.timeout = '15s'";

/// Renders a page and returns kind, problem and title; fails if it took too long.
#[track_caller]
fn within_limits(page: &'static str) -> Vec<String> {
    let began = Instant::now();
    let (_, row) = one_page(page, SHORT);
    assert!(began.elapsed() < Duration::from_secs(30), "{page} took {:?}", began.elapsed());
    row
}

#[test]
fn dialogs_are_dismissed() {
    let row = within_limits(
        "<title>a</title><script>alert(1); if (!confirm(2)) document.title = 'declined'; prompt(3)</script><p>text</p>",
    );
    assert_eq!((row[0].as_str(), row[2].as_str()), ("HTML", "declined"), "{row:?}");
    assert!(row[1].contains("render-dialogs: 3 dialogs"), "{row:?}");
}

#[test]
fn a_loop_of_dialogs_ends() {
    let row = within_limits("<title>a</title><p>text</p><script>for (;;) alert('again')</script>");
    assert!(row[1].contains("render-dialogs"), "{row:?}");
}

#[test]
fn a_script_that_never_ends_is_ended_and_the_page_read() {
    let row = within_limits("<title>busy</title><p>text</p><script>setTimeout(() => { for (;;) {} }, 0)</script>");
    assert_eq!((row[0].as_str(), row[2].as_str()), ("HTML", "busy"), "{row:?}");
    assert!(row[1].contains("render-busy"), "{row:?}");
}

#[test]
fn a_script_that_never_ends_while_the_page_loads_is_ended_too() {
    let row = within_limits("<title>busy</title><p>text</p><script>while (true);</script><p>more</p>");
    assert!(row[0] == "HTML" || row[0] == "BROWSER_ERROR", "{row:?}");
    assert!(row[1].contains("render-busy") || row[1].contains("browser"), "{row:?}");
    assert_eq!(row[2], "busy", "the page as it was fetched is read in any case: {row:?}");
}

#[test]
fn windows_and_downloads_without_end_end() {
    let row = within_limits(
        "<title>a</title><p>text</p><script>let n = 0; setInterval(() => { n += 1; window.open('/window' + n); \
         const link = document.createElement('a'); link.href = '/' + n + '.zip'; link.download = 'x'; \
         document.body.append(link); link.click(); link.remove() }, 20)</script>",
    );
    assert_eq!((row[0].as_str(), row[2].as_str()), ("HTML", "a"), "{row:?}");
}

#[test]
fn requests_without_end_are_cut_at_the_budget() {
    let page = "<title>a</title><script>let n = 0; const again = () => fetch('/x' + n++).then(again, again); for (let i = 0; i < 6; i++) again()</script>";
    let site = site(
        move |heard| if heard.target == "/" { html(page) } else { reply("200 OK", "Cache-Control: no-store\r\n", "x") },
    );
    let home = Home::new();
    rendered(&home, &site, "always", &format!("{SHORT}\nrender.max_requests = 50"));
    let rows = home.catalogue().rows("SELECT kind, problem FROM page WHERE url LIKE '%/'");
    assert!(rows[0][1].contains("beyond the page's budget") && rows[0][1].contains("render-unsettled"), "{rows:?}");
    assert!(site.heard().len() <= 52, "{}", site.heard().len());
}

#[test]
fn requests_without_end_to_many_hosts_are_cut_at_the_budget() {
    let page = "<title>a</title><script>let n = 0; const again = () => fetch(`http://h${n++}.test:${location.port}/x`, \
        { mode: 'no-cors' }).then(again, again); for (let i = 0; i < 8; i++) again()</script>";
    let site = site(move |heard| match (heard.host(), heard.target.as_str()) {
        ("site.test", "/") => html(page),
        _ => reply("200 OK", "Cache-Control: no-store\r\n", "x"),
    });
    let home = Home::new();
    let file = project(&home, &site, "always", &format!("{SHORT}\nrender.max_requests = 50"));
    let every = format!("fetch.resolve = ['*:{}:127.0.0.1', ", site.port());
    let settings = std::fs::read_to_string(&file).unwrap().replace("fetch.resolve = [", &every);
    std::fs::write(&file, settings).unwrap();
    let began = Instant::now();
    home.crawl(&[file]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let rows = home.catalogue().rows("SELECT kind, problem FROM page WHERE url LIKE '%site.test%/'");
    assert!(rows[0][0] == "HTML" && rows[0][1].contains("beyond the page's budget"), "{rows:?}");
    let heard = site.heard();
    let hosts: BTreeSet<&str> = heard.iter().filter(|heard| heard.target == "/x").map(Heard::host).collect();
    let parts = heard.iter().filter(|heard| heard.target == "/x").count();
    assert!((40..=50).contains(&parts) && hosts.len() >= 40, "{parts} parts of {} hosts", hosts.len());
    assert!(heard.len() <= 2 * 50 + 2, "{} requests, robots.txt of every host included", heard.len());
}

#[test]
fn a_document_of_two_gigabytes_is_more_than_a_page_may_have() {
    // Texts, each another one, so that no two share their memory.
    let page = "<title>large</title><p>text <a href=/b>b</a></p><script>for (let i = 0; i < 2000; i++) \
        document.body.append((`${i} `.padEnd(10, 'x')).repeat(1e5))</script>";
    let site = site(move |heard| match heard.target.as_str() {
        "/" => html(page),
        "/b" => html("<title>b</title><p>calm</p>"),
        _ => absent(),
    });
    let home = Home::new();
    let file = project(&home, &site, "always", "render.timeout = '20s'");
    let (finished, peak) = home.start(&crawl_args(&file), &[]).watch(Duration::from_secs(120));
    finished.expect(0);
    let rows =
        home.catalogue().rows("SELECT kind, title, coalesce(problem, '') FROM page WHERE status = 200 ORDER BY url");
    let [large, other] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((large[0].as_str(), large[1].as_str()), ("BROWSER_ERROR", "large"), "{rows:?}");
    assert!(large[2].contains("browser: "), "{rows:?}");
    assert_eq!((other[0].as_str(), other[1].as_str()), ("HTML", "b"), "{rows:?}");
    assert!(peak < 300 << 20, "the crawling process took {peak} bytes");
}

#[test]
fn a_document_without_end_is_a_fact_about_the_page() {
    let row = within_limits(
        "<title>a</title><p>text</p><script>const grow = () => { for (let i = 0; i < 20000; i++) document.body.append(document.createElement('div'), 'x'.repeat(200)); setTimeout(grow, 0) }; grow()</script>",
    );
    assert!(row[0] == "HTML" || row[0] == "BROWSER_ERROR", "{row:?}");
    assert!(row[1].contains("render-") || row[1].contains("browser"), "{row:?}");
}

#[test]
fn memory_without_end_ends_the_page_and_not_the_crawl() {
    let page = "<title>a</title><p>text <a href=/b>b</a></p><script>const held = []; setInterval(() => { held.push(new Uint8Array(2e7).fill(1)); document.body.append('x') }, 40)</script>";
    let site = site(move |heard| match heard.target.as_str() {
        "/" => html(page),
        "/b" => html("<title>b</title><p>calm</p>"),
        _ => absent(),
    });
    let home = Home::new();
    rendered(&home, &site, "always", "render.memory = '300MB'");
    let rows =
        home.catalogue().rows("SELECT url, kind, coalesce(title, ''), coalesce(problem, '') FROM page ORDER BY id");
    assert_eq!((rows[0][1].as_str(), rows[0][2].as_str()), ("BROWSER_ERROR", "a"), "{rows:?}");
    assert!(rows[0][3].contains("browser: "), "{rows:?}");
    let other = rows.iter().find(|row| row[0].ends_with("/b")).unwrap();
    assert_eq!((other[1].as_str(), other[2].as_str()), ("HTML", "b"), "{rows:?}");
}

#[test]
fn windows_downloads_and_other_addresses_become_links() {
    let page = "<title>a</title><script>window.open('/window'); history.pushState(null, '', '/pushed'); \
        setTimeout(() => { location.href = '/elsewhere' }, 100); setTimeout(() => { location.href = '/file.zip' }, 300); \
        window.addEventListener('beforeunload', (e) => { e.preventDefault(); e.returnValue = 'stay'; })</script><p>text</p>";
    let site = site(move |heard| match heard.target.as_str() {
        "/" => html(page),
        "/file.zip" => reply("200 OK", "Content-Type: application/zip\r\nContent-Disposition: attachment\r\n", "PK"),
        _ => html("<title>other</title>"),
    });
    let home = Home::new();
    rendered(&home, &site, "always", SHORT);
    let targets = home.catalogue().column("SELECT d.url FROM link l JOIN page d ON d.id = l.dst WHERE l.src = 1");
    for wanted in ["/window", "/pushed", "/elsewhere", "/file.zip"] {
        assert!(targets.iter().any(|url| url.ends_with(wanted)), "{wanted}: {targets:?}");
    }
    let rows = home.catalogue().rows("SELECT kind, title, problem FROM page WHERE id = 1");
    assert_eq!((rows[0][0].as_str(), rows[0][1].as_str()), ("HTML", "a"), "{rows:?}");
}

/// A process: its number, and the moment of its start, which tells it from a later one of the same
/// number.
type ProcessName = (i32, u64);

/// The living processes with their parents.
fn processes() -> Vec<(ProcessName, i32)> {
    let process = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // Behind the name, which may hold anything: state, parent, and as the twentieth the start.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let is_dead = matches!(*fields.first()?, "Z" | "X");
        (!is_dead).then_some(((pid, fields.get(19)?.parse().ok()?), fields.get(1)?.parse().ok()?))
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(process).collect()
}

/// The processes that a process has started, and those that these have started.
fn below(pid: i32) -> BTreeSet<ProcessName> {
    let all = processes();
    let mut found = BTreeSet::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        for ((pid, start), _) in all.iter().filter(|(_, of)| *of == parent) {
            if found.insert((*pid, *start)) {
                parents.push(*pid);
            }
        }
    }
    found
}

#[test]
fn a_crawler_that_is_killed_while_it_renders_leaves_no_process_behind() {
    // One page waits for what never comes, the other one's script never ends.
    let site = site(|heard| match heard.target.as_str() {
        "/" => html("<title>a</title><a href=/busy>b</a><a href=/waiting>c</a>"),
        "/busy" => html("<title>b</title><script>fetch('/begun').then(() => { for (;;) {} })</script>"),
        "/waiting" => html("<title>c</title><script>setInterval(() => fetch('/still'), 100)</script>"),
        _ => reply("200 OK", "Cache-Control: no-store\r\n", "x"),
    });
    let home = Home::new();
    let file = project(&home, &site, "always", "render.tabs = 2\nrender.settle = '60s'\nrender.timeout = '60s'");
    let running = home.start(&crawl_args(&file), &[]);
    until("both pages are under way", || {
        let heard = site.heard();
        ["/begun", "/still"].iter().all(|target| heard.iter().any(|heard| heard.target == *target))
    });
    let below = below(running.pid());
    assert!(below.len() >= 3, "no browser is running: {below:?}");
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
    let began = Instant::now();
    until("they are all gone", || {
        let alive: Vec<ProcessName> =
            processes().into_iter().map(|(process, _)| process).filter(|process| below.contains(process)).collect();
        assert!(began.elapsed() < Duration::from_secs(30), "still there: {alive:?}");
        alive.is_empty()
    });
}

#[test]
fn nothing_of_a_browser_is_left_behind() {
    let (home, row) = one_page("<title>a</title><p>text</p>", "render.pages = 1");
    assert_eq!(row[0], "HTML", "{row:?}");
    let profile = home.project();
    let left: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .filter(|line| line.contains(profile.to_str().unwrap()))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let files: Vec<String> =
        std::fs::read_dir(&profile).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(files.iter().all(|name| !name.starts_with("browser-")), "{files:?}");
}
