//! Does every route of the table ask for its right, and does reading change nothing?

use super::{PROJECT, Trial, Who};
use crate::gate::LetIn;
use crate::routes::{Right, RouteRow, Verb, table};
use axum::response::Response;
use http::StatusCode;
use orb_project::Home;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A path of the row, with `p` for the project and `1` for everything else.
fn path_of(row: &RouteRow, project: &str) -> String {
    let part = |part: &str| match part {
        "{p}" => project.to_owned(),
        part if part.starts_with('{') => "1".to_owned(),
        part => part.to_owned(),
    };
    row.path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// What somebody without the right is told; `None` if they have it.
fn refusal(right: Right, who: Who) -> Option<StatusCode> {
    let least = match right {
        Right::Open => Who::Nobody,
        Right::SignedIn | Right::Account => Who::Stranger,
        Right::Read | Right::Content | Right::Sql => Who::Reader,
        Right::Run => Who::Runner,
        Right::Edit => Who::Editor,
        Right::Admin | Right::Accounts => Who::Admin,
    };
    match who {
        _ if who >= least => None,
        Who::Nobody => Some(StatusCode::UNAUTHORIZED),
        Who::Stranger if !matches!(right, Right::Admin | Right::Accounts) => Some(StatusCode::NOT_FOUND),
        _ => Some(StatusCode::FORBIDDEN),
    }
}

#[test]
fn every_route_lets_in_whoever_has_its_right_and_nobody_else() {
    let trial = Trial::new();
    for row in table() {
        for who in Who::ALL {
            let what = format!("{who:?}: {} {}", row.verb.name(), row.path);
            let response = trial.ask(who, row.verb.name(), &path_of(row, PROJECT));
            let is_in = response.extensions().get::<LetIn>().is_some();
            let expected = refusal(row.right, who);
            assert_eq!(is_in, expected.is_none(), "{what}: {}", response.status());
            if let Some(status) = expected {
                assert_eq!(response.status(), status, "{what}");
            }
            assert_ne!(response.status(), StatusCode::INTERNAL_SERVER_ERROR, "{what}");
        }
    }
}

#[test]
fn a_project_that_anyone_may_read_is_read_and_nothing_else() {
    let trial = Trial::new();
    let home = Home::open(trial.home.path()).unwrap();
    home.project("q").unwrap();
    home.accounts().set_public(PROJECT, true).unwrap();
    for row in table() {
        let what = format!("{} {}", row.verb.name(), row.path);
        let ask = |who, project| trial.ask(who, row.verb.name(), &path_of(row, project));
        let is_in = |response: &Response| response.extensions().get::<LetIn>().is_some();
        let nobody = ask(Who::Nobody, PROJECT);
        let is_open = row.right == Right::Open || row.for_guests;
        assert_eq!(is_in(&nobody), is_open, "nobody: {what}: {}", nobody.status());
        assert_ne!(nobody.status(), StatusCode::INTERNAL_SERVER_ERROR, "{what}");
        if row.has_project() {
            assert_eq!(ask(Who::Nobody, "q").status(), StatusCode::UNAUTHORIZED, "{what}");
            assert_eq!(ask(Who::Nobody, "nope").status(), StatusCode::UNAUTHORIZED, "{what}");
            // Somebody with an account reads it as one who was granted that.
            let reads = matches!(row.right, Right::Read | Right::Content | Right::Sql);
            assert_eq!(is_in(&ask(Who::Stranger, PROJECT)), reads, "stranger: {what}");
        }
    }
    home.accounts().set_public(PROJECT, false).unwrap();
    assert_eq!(trial.ask(Who::Nobody, "GET", "/p/p").status(), StatusCode::UNAUTHORIZED);
}

#[test]
fn a_project_one_may_not_know_looks_like_none() {
    let trial = Trial::new();
    for row in table().filter(|row| row.has_project()) {
        let told = |project| trial.read(trial.ask(Who::Stranger, row.verb.name(), &path_of(row, project)));
        let (status, body) = told("nope");
        assert_eq!(told(PROJECT), (status, body.replace("nope", PROJECT)), "{}", row.path);
        let (status, _) = trial.read(trial.ask(Who::Admin, row.verb.name(), &path_of(row, "no..%2Fsuch")));
        assert_eq!(status, StatusCode::NOT_FOUND, "{}", row.path);
    }
}

/// All files of a directory with their content, except shared memory and the counts that are kept
/// so that nobody waits for them twice: they can be made again.
fn files(dir: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("figures") {
            continue;
        }
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_none_or(|extension| extension != "db-shm") {
            let content = fs::read(&path).unwrap();
            // Whoever opens a database makes a log in which nothing is.
            if !content.is_empty() || path.extension().is_none_or(|extension| extension != "db-wal") {
                out.insert(path.display().to_string(), content);
            }
        }
    }
}

/// A path of the row to something that was collected, with what it takes to be answered.
fn real_path_of(row: &RouteRow, (page, url): (u64, &str)) -> String {
    let part = |part: &str| match part {
        "{p}" => PROJECT.to_owned(),
        "{n}" => "2".to_owned(),
        "{id}" if row.path.contains("/pages/") => page.to_string(),
        "{kind}" => "broken_link".to_owned(),
        "{w}" | "{word}" => "weavers".to_owned(),
        "{name}" if row.path.starts_with("/doc/") => format!("{PROJECT}.{page}"),
        "{name}" if row.path.starts_with("/log/") => format!("{PROJECT}.2"),
        "{name}" => "reader".to_owned(),
        part if part.starts_with('{') => "1".to_owned(),
        part => part.to_owned(),
    };
    let path = row.path.split('/').map(part).collect::<Vec<_>>().join("/");
    let query = match row.path.rsplit('/').next().unwrap_or_default() {
        "search" | "complete" => "?q=weavers".to_owned(),
        "sql" if row.path.starts_with("/p/") => "?q=SELECT+url+FROM+page".to_owned(),
        "page" => format!("?url={url}"),
        "graph" => "?around=1&hops=2".to_owned(),
        _ => String::new(),
    };
    path + &query
}

#[test]
fn reading_changes_nothing() {
    let trial = Trial::new();
    super::site::collect(trial.home.path());
    let (page, url) = super::site::changing_page(trial.home.path());
    let cookie = trial.session(Who::Admin).unwrap();
    let mut found = Vec::new();
    for row in table().filter(|row| row.verb == Verb::Get) {
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        files(trial.home.path(), &mut before);
        for accept in ["text/html", "application/json"] {
            let request = http::Request::get(real_path_of(row, (page, &url))).header("host", "localhost");
            let request = request.header("cookie", &cookie).header("accept", accept);
            let response = trial.send(request.body(axum::body::Body::empty()).unwrap());
            if response.status() == StatusCode::OK {
                found.push(row.path);
            }
            // A stream of events has no end to wait for.
            if response.headers().get("content-type").is_none_or(|kind| kind != "text/event-stream") {
                let _ = trial.read(response);
            }
        }
        files(trial.home.path(), &mut after);
        let changed: Vec<_> = after.iter().filter(|(name, content)| before.get(*name) != Some(content)).collect();
        let names: Vec<_> = changed.iter().map(|(name, _)| name).collect();
        assert!(changed.is_empty() && before.len() == after.len(), "{} changed {names:?}", row.path);
    }
    found.dedup();
    // Secrets, exports, calls from elsewhere, and what takes a graph.
    let missed: Vec<_> =
        table().filter(|row| row.verb == Verb::Get && !found.contains(&row.path)).map(|row| row.path).collect();
    assert!(missed.len() <= 13, "nothing was read at {missed:?}");
}
