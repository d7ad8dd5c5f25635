//! Which hosts are there, and how do they treat us?

use super::queue::waiting;
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::ListSteps;
use crate::view::{Frame, minute};
use askama::Template;
use orb_answers::{AnswerError, HostRow, ListedHost, grouped, host, hosts};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/hosts", Right::Read, |request| Box::pin(all(request)), "The hosts, by pages").for_guests(),
    RouteRow::get(
        "/p/{p}/hosts/{h}",
        Right::Read,
        |request| Box::pin(one(request)),
        "A host: robots.txt, sitemaps, counts",
    )
    .for_guests(),
];

/// Hosts on one screen.
const ROWS: u64 = 100;

#[derive(Template)]
#[template(path = "hosts.html")]
struct HostsPage<'a> {
    frame: Frame,
    p: &'a str,
    name: &'a str,
    rows: Vec<HostLine<'a>>,
    steps: ListSteps,
}

struct HostLine<'a> {
    host: &'a ListedHost,
    name: String,
    pages: String,
    errors: String,
    seen: String,
}

async fn all(request: AdmittedRequest) -> Handled {
    let fields = request.query();
    let (name, after) = (fields.one("name").map(str::to_owned), fields.one("after").map(str::to_owned));
    let is_first = after.is_none();
    let found = request.ask(move |collection| hosts(collection, name.as_deref(), after.as_deref(), ROWS)).await?;
    let page = HostsPage {
        frame: request.frame(),
        p: &request.project()?.name,
        name: fields.one("name").unwrap_or_default(),
        rows: found.hosts.iter().map(line).collect(),
        steps: ListSteps {
            before: (!is_first).then(|| request.here_with(&[("after", None)])),
            after: found.next.as_deref().map(|next| request.here_with(&[("after", Some(next))])),
        },
    };
    request.page(&page, &found)
}

fn line(host: &ListedHost) -> HostLine<'_> {
    let (pages, errors) = (grouped(host.pages), grouped(host.errors));
    HostLine { name: begin(&host.scheme, &host.name, host.port), pages, errors, seen: minute(&host.first_seen), host }
}

/// How the addresses of a host begin: without the port, if it is that of the scheme.
fn begin(scheme: &str, name: &str, port: u16) -> String {
    match (scheme, port) {
        ("http", 80) | ("https", 443) | ("ftp", 21) | ("sftp", 22) => format!("{scheme}://{name}"),
        _ => format!("{scheme}://{name}:{port}"),
    }
}

#[derive(Template)]
#[template(path = "host.html")]
struct HostPage<'a> {
    frame: Frame,
    p: &'a str,
    host: &'a HostRow,
    pages: String,
    errors: String,
    may_queue: bool,
    facts: Vec<(&'static str, String)>,
    sitemaps: Vec<String>,
}

async fn one(request: AdmittedRequest) -> Handled {
    let id: u32 = request.number("h")?;
    let found = request.ask(move |collection| host(collection, id)).await?;
    let project = request.project()?.clone();
    let waiting = request.work(move |_| Ok::<_, AnswerError>(waiting(&project))).await?;
    let named = [format!("{}:{}", found.name, found.port), found.name.clone()];
    let facts = [
        ("Scheme", Some(found.scheme.clone())),
        ("Port", Some(found.port.to_string())),
        ("Address", found.ip.clone()),
        ("First seen", Some(minute(&found.first_seen))),
        ("robots.txt read", found.robots_at.as_deref().map(minute)),
        ("Delay it asks for", found.crawl_delay.map(|seconds| format!("{seconds} s"))),
        ("Now", named.iter().find_map(|name| waiting.get(name)).cloned()),
    ];
    let sitemaps = found.sitemaps.as_deref().unwrap_or_default().lines();
    let page = HostPage {
        frame: request.frame(),
        p: &request.project()?.name,
        facts: facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        sitemaps: sitemaps.map(str::to_owned).collect(),
        pages: grouped(found.pages),
        errors: grouped(found.errors),
        may_queue: !request.is_guest(),
        host: &found,
    };
    request.page(&page, &found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_without_the_port_of_its_scheme() {
        assert_eq!(begin("https", "a.test", 443), "https://a.test");
        assert_eq!(begin("http", "a.test", 443), "http://a.test:443");
        assert_eq!(begin("http", "a.test", 8080), "http://a.test:8080");
    }
}
