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
        Right::Admin => Who::Admin,
    };
    match who {
        _ if who >= least => None,
        Who::Nobody => Some(StatusCode::UNAUTHORIZED),
        Who::Stranger if right != Right::Admin => Some(StatusCode::NOT_FOUND),
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

/// All files of a directory with their content, except shared memory.
fn files(dir: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_none_or(|extension| extension != "db-shm") {
            out.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
}

#[test]
fn reading_changes_nothing() {
    let trial = Trial::new();
    let cookie = trial.session(Who::Admin).unwrap();
    for row in table().filter(|row| row.verb == Verb::Get) {
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        files(trial.home.path(), &mut before);
        for accept in ["text/html", "application/json"] {
            let request = http::Request::get(path_of(row, PROJECT)).header("host", "localhost");
            let request = request.header("cookie", &cookie).header("accept", accept);
            let response = trial.send(request.body(axum::body::Body::empty()).unwrap());
            // A stream of events has no end to wait for.
            if response.headers().get("content-type").is_none_or(|kind| kind != "text/event-stream") {
                let _ = trial.read(response);
            }
        }
        files(trial.home.path(), &mut after);
        let changed: Vec<_> = after.iter().filter(|(name, content)| before.get(*name) != Some(content)).collect();
        assert!(changed.is_empty() && before.len() == after.len(), "{} changed {:?}", row.path, changed.len());
    }
}
