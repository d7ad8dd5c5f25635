//! How does the owner of a site say which of its pages have changed?
//!
//! By IndexNow (indexnow.org/documentation): a request names pages of one host and a key, and the
//! key is proved by a file on that host. Nobody calls us by himself; it serves owners who name this
//! server in their content management system. It is open to everybody, so it does as little as it
//! can: a host that no project collects is refused before anything is fetched, and the key file is
//! fetched as a page of the project would be, with its robots.txt, pace and address guard, but with
//! nothing of its secrets: whoever calls chooses the address. A place of the caller's own choice
//! must be one that the project may visit. What a host may name in a day is counted once its key is
//! proved, so that nobody uses it up for others.
//!
//! 200 taken; 202 the key is still being looked for; 400 no such request; 403 the key is wrong; 422
//! not our host, or not a page of the host or of the key's directory; 429 too much.

use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::state::AppState;
use axum::response::Response;
use http::StatusCode;
use http::header::RETRY_AFTER;
use orb_crawl::read_text;
use orb_project::units::HumanDuration;
use orb_project::{AskedProject, Home, Settings, call_for, within_scope};
use orb_urls::{Address, Canonicaliser};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/indexnow", Right::Open, |request| Box::pin(one(request)), "A page has changed (IndexNow)"),
    RouteRow::post("/indexnow", Right::Open, |request| Box::pin(many(request)), "Pages have changed (IndexNow)"),
];

/// Pages of one request.
const MOST: usize = 10_000;

/// How long a request waits for the key file; then it goes on without being waited for.
const WAIT: Duration = Duration::from_secs(5);

/// How long fetching a key file may take.
const FETCH: Duration = Duration::from_secs(10);

/// The longest pause between robots.txt and the key file. Between two keys of a host there is the
/// whole one of the project.
const BETWEEN: Duration = Duration::from_secs(2);

/// What a request says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Notice {
    host: String,
    key: String,
    key_location: Option<String>,
    url_list: Vec<String>,
}

/// What was understood of it.
struct Claim {
    /// Name and port of the host that calls.
    host: String,
    key: String,
    /// Where the key is.
    file: Address,
    /// Whether the caller has chosen that place.
    is_elsewhere: bool,
    pages: Vec<Address>,
}

/// A project that collects pages of the claim.
struct Concerned {
    name: String,
    settings: Settings,
    seeds: Vec<Address>,
    pages: Vec<Address>,
    /// Whether the project may visit the place of the key.
    may_visit_key: bool,
}

/// How a key file is fetched: as a page of a project would be.
struct KeyReader {
    settings: Settings,
    seeds: Vec<Address>,
    /// A directory of the home for what is too large for memory.
    scratch: PathBuf,
}

async fn one(request: AdmittedRequest) -> Handled {
    let query = request.query();
    let url = query.needed("url")?.to_owned();
    let host =
        Canonicaliser::default().parse(&url).map_err(ProblemDetails::unprocessable).map(|url| authority(&url))?;
    let (key, key_location) = (query.needed("key")?.to_owned(), query.one("keyLocation").map(str::to_owned));
    notice(request, Notice { host, key, key_location, url_list: vec![url] }).await
}

async fn many(request: AdmittedRequest) -> Handled {
    let told: Notice = request.json()?;
    notice(request, told).await
}

async fn notice(request: AdmittedRequest, told: Notice) -> Handled {
    let (state, now) = (Arc::clone(&request.state), Instant::now());
    if !state.keys.may_ask(request.peer(), now) {
        return Err(too_much("an address may send 60 requests a minute", "60"));
    }
    let claim = understand(told)?;
    let (pages, file) = (claim.pages.clone(), claim.file.clone());
    let found =
        move |home: &ServedHome| Ok::<_, ProblemDetails>((concerned(home, &pages, &file), home.path().to_owned()));
    let (concerned, scratch) = request.work(found).await?;
    let Some(first) = concerned.first() else {
        return Err(ProblemDetails::unprocessable(format!("no project collects these pages of {}", claim.host)));
    };
    if claim.is_elsewhere && !first.may_visit_key {
        return Err(ProblemDetails::unprocessable(format!("{} is no page that is collected", claim.file)));
    }
    match state.keys.known(&proof(&claim), now) {
        Some(true) => return taken(&state, concerned, &claim).await,
        Some(false) => return Err(wrong_key(&claim)),
        None => {}
    }
    let by = KeyReader { settings: first.settings.clone(), seeds: first.seeds.clone(), scratch };
    let checking = tokio::spawn(check(state, claim, by, concerned));
    match tokio::time::timeout(WAIT, checking).await {
        Ok(Ok(checked)) => checked,
        Ok(Err(e)) => Err(ProblemDetails::failed(&e)),
        Err(_) => Ok(said(StatusCode::ACCEPTED, "the key is being looked for")),
    }
}

/// Looks for the key, and takes the pages if it is there.
async fn check(state: Arc<AppState>, claim: Claim, by: KeyReader, concerned: Vec<Concerned>) -> Handled {
    let Ok(_turn) = state.keys.fetching.try_acquire() else {
        return Err(too_much("too many keys are being looked for", "60"));
    };
    // robots.txt and the file.
    if let Err(wait) = state.keys.may_fetch(&claim.host, FETCH * 2, Instant::now()) {
        return Err(too_much("the host was asked for a key a moment ago", &(wait.as_secs() + 1).to_string()));
    }
    let KeyReader { settings, seeds, scratch } = by;
    let (pause, settings) = (settings.frontier.delay.0, for_a_key(settings));
    let (file, key) = (claim.file.clone(), claim.key.clone());
    // Not on a thread that answers questions: a host may take its time.
    let read = tokio::task::spawn_blocking(move || read_text(&settings, &seeds, &file, &scratch)).await;
    state.keys.fetched(&claim.host, pause, Instant::now());
    let read = read.map_err(|e| ProblemDetails::failed(&e))?;
    let is_right = matches!(&read, Ok((200, text)) if text.trim() == key);
    state.keys.note(&proof(&claim), is_right, Instant::now());
    if !is_right {
        return Err(wrong_key(&claim));
    }
    taken(&state, concerned, &claim).await
}

/// The settings with which a key file is fetched on behalf of a stranger: without what the project
/// logs in with.
fn for_a_key(settings: Settings) -> Settings {
    let mut settings = Settings { steps: Vec::new(), auth: Vec::new(), ..settings };
    settings.fetch.cookies_file = None;
    settings.frontier.delay.0 = settings.frontier.delay.0.min(BETWEEN);
    let quick = HumanDuration(FETCH);
    (settings.fetch.timeout, settings.fetch.connect_timeout, settings.fetch.total_timeout) = (quick, quick, quick);
    settings.frontier.retries = 0;
    settings
}

/// What a key file proves: that this key, at this place, is the host's.
fn proof(claim: &Claim) -> String {
    format!("{} {}", claim.key, claim.file)
}

fn wrong_key(claim: &Claim) -> ProblemDetails {
    ProblemDetails::forbidden(format!("{} does not hold the key and nothing else", claim.file))
}

fn too_much(detail: &str, wait: &str) -> ProblemDetails {
    let problem = ProblemDetails::new(StatusCode::TOO_MANY_REQUESTS, "too-many", "Too much", detail);
    problem.with_header(RETRY_AFTER, wait)
}

fn said(status: StatusCode, what: &str) -> Response {
    let mut response = typed("text/plain; charset=utf-8", format!("{what}\n"));
    *response.status_mut() = status;
    response
}

/// Puts the pages of a host that has proved its key into the intakes of their projects.
async fn taken(state: &AppState, concerned: Vec<Concerned>, claim: &Claim) -> Handled {
    let host = &claim.host;
    if !state.keys.may_name(host, claim.pages.len(), Instant::now()) {
        return Err(too_much("a host may name 10,000 pages a day", "86400"));
    }
    let source = format!("indexnow: {host}");
    let put = move |home: &ServedHome| {
        for Concerned { name, pages, .. } in concerned {
            let urls: Vec<String> = pages.into_iter().map(Address::into_string).collect();
            call_for(&home.find(&name)?, &urls, &source)?;
        }
        Ok::<_, ProblemDetails>(())
    };
    state.desk.work(put).await??;
    Ok(said(StatusCode::OK, "taken"))
}

/// Name and port of a page's host, as they stand in its URL.
fn authority(page: &Address) -> String {
    let port = page.unusual_port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", page.host())
}

/// Checks what needs no look elsewhere.
fn understand(told: Notice) -> Result<Claim, ProblemDetails> {
    let Notice { host, key, key_location, url_list } = told;
    let refuse = ProblemDetails::unprocessable;
    let is_key = (8..=128).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !is_key {
        return Err(refuse("a key has 8 to 128 letters, digits and dashes"));
    }
    if url_list.is_empty() || url_list.len() > MOST {
        return Err(refuse("a request names 1 to 10,000 pages"));
    }
    let (canonical, host) = (Canonicaliser::default(), host.to_ascii_lowercase());
    let read = |url: &String| {
        let page = canonical.parse(url).ok();
        let page = page.filter(|page| authority(page) == host && matches!(page.scheme(), "http" | "https"));
        page.ok_or_else(|| refuse("every page is a URL of the host"))
    };
    let pages: Vec<Address> = url_list.iter().map(read).collect::<Result<_, _>>()?;
    let scheme = pages.first().map_or("https", |page| page.scheme());
    let is_elsewhere = key_location.is_some();
    let place = key_location.unwrap_or_else(|| format!("{scheme}://{host}/{key}.txt"));
    let file = read(&place).map_err(|_| refuse("keyLocation is a URL of the host"))?;
    if file.as_str().contains('?') {
        return Err(refuse("keyLocation is the URL of a file, without a query"));
    }
    // A key covers what is below it.
    let directory = file.path().rsplit_once('/').map_or("/", |(directory, _)| directory);
    if !pages.iter().all(|page| page.path().strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))) {
        return Err(refuse("a key covers the pages of its own directory"));
    }
    Ok(Claim { host, key, file, is_elsewhere, pages })
}

/// The projects that collect some of these pages. One whose settings cannot be read collects
/// nothing.
fn concerned(home: &Home, pages: &[Address], file: &Address) -> Vec<Concerned> {
    let projects = home.list().unwrap_or_default().into_iter();
    let concerned = projects.filter_map(|project| {
        let AskedProject { name, settings, seeds, .. } = AskedProject::kept(home, &project.name).ok()?;
        let within = |pages: &[Address]| within_scope(&project, (&settings, &seeds), pages).ok();
        let pages = within(pages)?;
        let may_visit_key = within(std::slice::from_ref(file)).is_some_and(|file| !file.is_empty());
        (!pages.is_empty()).then_some(Concerned { name, settings, seeds, pages, may_visit_key })
    });
    concerned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn understood(host: &str, key: &str, place: Option<&str>, urls: &[&str]) -> Result<String, u16> {
        let (host, key, key_location) = (host.to_owned(), key.to_owned(), place.map(str::to_owned));
        let url_list = urls.iter().map(|&url| url.to_owned()).collect();
        let claim = understand(Notice { host, key, key_location, url_list });
        claim.map(|claim| claim.file.into_string()).map_err(|problem| problem.status.as_u16())
    }

    #[test]
    fn a_key_stands_for_its_host_and_its_directory() {
        let key = "0123abcd-XYZ";
        assert_eq!(understood("a.test", key, None, &["https://A.test/x/y"]), Ok(format!("https://a.test/{key}.txt")));
        assert_eq!(
            understood("a.test:81", key, None, &["http://a.test:81/"]),
            Ok(format!("http://a.test:81/{key}.txt"))
        );
        let below = Some("https://a.test/blog/k.txt");
        assert_eq!(
            understood("a.test", key, below, &["https://a.test/blog/1"]),
            Ok("https://a.test/blog/k.txt".into())
        );
        for (host, key, place, url) in [
            ("a.test", key, below, "https://a.test/blogs"),
            ("a.test", key, below, "https://a.test/"),
            ("a.test", key, Some("https://b.test/k.txt"), "https://a.test/"),
            ("a.test", key, Some("https://a.test/search?q=x"), "https://a.test/"),
            ("a.test", key, None, "https://b.test/"),
            ("a.test", key, None, "https://a.test:81/"),
            ("a.test", key, None, "ftp://a.test/"),
            ("a.test", key, None, "x"),
            ("a.test", "short", None, "https://a.test/"),
            ("a.test", "has blanks", None, "https://a.test/"),
        ] {
            assert_eq!(understood(host, key, place, &[url]), Err(422), "{host} {key} {place:?} {url}");
        }
        assert_eq!(understood("a.test", key, None, &[]), Err(422));
    }
}
