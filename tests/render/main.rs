//! What does a crawl make of pages that need a browser?
//!
//! The real Chromium of this machine, against applications whose pages are known beforehand,
//! against pages that try to get out, and against pages that never end.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
#![allow(clippy::print_stdout, reason = "how many pages were told apart")]

#[path = "../harness/mod.rs"]
mod harness;

mod apps;
mod canary;
mod families;
mod hostile;
mod manners;
mod program;
mod sorting;

use harness::orb::{Finished, Home, crawling};
use harness::script::{Heard, Script, absent, reply};

/// A site at `site.test` without robots.txt; everything else comes from `pages`.
fn site(pages: impl Fn(&Heard) -> Vec<u8> + Send + Sync + 'static) -> Script {
    Script::serve(move |heard| if heard.target == "/robots.txt" { absent() } else { pages(heard) })
}

/// An HTML page.
fn html(text: &str) -> Vec<u8> {
    reply("200 OK", "Content-Type: text/html; charset=utf-8\r\n", text)
}

/// Writes a project for a site, as a public site would be on the internet; `when` is `always` or
/// `auto`.
fn project(home: &Home, site: &Script, when: &str, more: &str) -> String {
    let port = site.port();
    let file = home.beside("p.toml");
    let text = format!(
        "seeds = ['http://site.test:{port}/']\nfetch.resolve = ['site.test:{port}:127.0.0.1']\nfrontier.delay = '0s'\n\
         frontier.retries = 0\nrender.when = '{when}'\nrender.no_sandbox = true\n{more}\n"
    );
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Crawls a site with a browser.
fn rendered(home: &Home, site: &Script, when: &str, more: &str) -> Finished {
    let file = project(home, site, when, more);
    home.crawl(&[file])
}

/// Renders one page at `/` and returns its kind and its problems.
fn one_page(page: &'static str, more: &str) -> (Home, Vec<String>) {
    let site = site(move |heard| if heard.target == "/" { html(page) } else { absent() });
    let home = Home::new();
    rendered(&home, &site, "always", more);
    let rows = home.catalogue().rows(
        "SELECT kind, coalesce(problem, ''), coalesce(title, '') FROM page WHERE url LIKE '%/' ORDER BY id LIMIT 1",
    );
    let row = rows.into_iter().next().unwrap();
    (home, row)
}

/// The arguments of a crawl of a project file.
fn crawl_args(file: &str) -> Vec<String> {
    crawling(&[file])
}
