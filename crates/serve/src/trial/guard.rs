//! Does the gate keep out what comes the wrong way?

use super::{Trial, Who};
use axum::body::Body;
use http::header::{AUTHORIZATION, COOKIE, HeaderName};
use http::{Request, StatusCode};
use orb_project::{Home, NewToken, TokenScope};

#[test]
fn another_name_is_not_answered_to() {
    let trial = Trial::new();
    for (host, status) in [("localhost:8787", StatusCode::OK), ("evil.test", StatusCode::MISDIRECTED_REQUEST)] {
        let request = Request::get("/healthz").header("host", host).body(Body::empty()).unwrap();
        assert_eq!(trial.send(request).status(), status, "{host}");
    }
    let without = trial.send(Request::get("/healthz").body(Body::empty()).unwrap());
    assert_eq!(without.status(), StatusCode::MISDIRECTED_REQUEST);
}

#[test]
fn pages_of_other_sites_cannot_change_anything() {
    let trial = Trial::new();
    let post = |name: &str, value: &str| {
        let request = Request::post("/logout").header("host", "localhost").header(name, value);
        let request = request.header(COOKIE, trial.session(Who::Reader).unwrap());
        trial.send(request.body(Body::empty()).unwrap()).status()
    };
    assert_eq!(post("sec-fetch-site", "cross-site"), StatusCode::FORBIDDEN);
    assert_eq!(post("origin", "http://evil.test"), StatusCode::FORBIDDEN);
    assert_eq!(post("sec-fetch-site", "same-origin"), StatusCode::SEE_OTHER);
    assert_eq!(post("origin", "http://localhost"), StatusCode::SEE_OTHER);
}

#[test]
fn every_answer_carries_the_security_headers() {
    let trial = Trial::new();
    let bad = Request::get("/").header("host", "evil.test").body(Body::empty()).unwrap();
    let responses = [
        trial.ask(Who::Admin, "GET", "/"),
        trial.ask(Who::Nobody, "GET", "/nowhere"),
        trial.send(bad),
        trial.ask(Who::Nobody, "POST", "/"),
    ];
    for response in responses {
        for name in ["content-security-policy", "x-content-type-options", "referrer-policy", "cache-control"] {
            assert!(response.headers().contains_key(name), "{name}: {}", response.status());
        }
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        let allows = HeaderName::from_static("access-control-allow-origin");
        assert!(!response.headers().contains_key(allows));
    }
}

#[test]
fn a_body_that_is_too_long_is_not_read() {
    let trial = Trial::new();
    for length in [true, false] {
        let request = Request::post("/login").header("host", "localhost");
        let request = if length { request.header("content-length", (2 << 20).to_string()) } else { request };
        let response = trial.send(request.body(Body::from(vec![b'x'; 2 << 20])).unwrap());
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
}

#[test]
fn somebody_with_a_browser_is_led_to_the_log_in_and_a_program_is_told() {
    let trial = Trial::new();
    let ask = |accept: &str| {
        let request = Request::get("/p/x?y=1").header("host", "localhost").header("accept", accept);
        let response = trial.send(request.body(Body::empty()).unwrap());
        let location = response.headers().get("location").map(|value| value.to_str().unwrap().to_owned());
        (response.status(), location)
    };
    let me = Request::get("/me?a=1&b=2").header("host", "localhost").header("accept", "text/html,*/*");
    let response = trial.send(me.body(Body::empty()).unwrap());
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    assert_eq!(response.headers()["location"], "/login?next=%2Fme%3Fa%3D1%26b%3D2");
    assert_eq!(ask("application/json").1, None);
    let (status, body) = trial.read(trial.ask(Who::Nobody, "GET", "/api/v1/projects"));
    let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, problem["type"].as_str()), (StatusCode::UNAUTHORIZED, Some("/problems/unauthenticated")));
    assert_eq!((problem["status"].as_u64(), problem["instance"].as_str()), (Some(401), Some("/api/v1/projects")));
}

#[test]
fn a_token_is_limited_to_its_scopes_and_projects() {
    let trial = Trial::new();
    let home = Home::open(trial.home.path()).unwrap();
    home.project("q").unwrap();
    let admin = home.accounts().user("admin").unwrap();
    let token = |scopes: &[TokenScope], projects: &[&str]| {
        let projects = projects.iter().map(|&p| p.to_owned()).collect();
        let wanted = NewToken { name: "t".into(), scopes: scopes.to_vec(), projects, until: None };
        home.accounts().make_token(admin.id, &wanted).unwrap().1
    };
    let ask = |token: &str, path: &str| {
        let request = Request::get(path).header("host", "localhost").header(AUTHORIZATION, format!("Bearer {token}"));
        trial.read(trial.send(request.body(Body::empty()).unwrap()))
    };
    let narrow = token(&[TokenScope::Read], &["q"]);
    assert_eq!(ask(&narrow, "/api/v1/projects/q").0, StatusCode::OK);
    assert_eq!(ask(&narrow, "/api/v1/projects/p").0, StatusCode::NOT_FOUND);
    let (_, list) = ask(&narrow, "/api/v1/projects");
    assert!(list.contains("\"project\":\"q\"") && !list.contains("\"project\":\"p\""), "{list}");
    assert_eq!(ask(&narrow, "/me").0, StatusCode::FORBIDDEN, "no token may touch an account");
    assert_eq!(ask(&token(&[TokenScope::Run], &[]), "/api/v1/projects/q").0, StatusCode::FORBIDDEN);
    assert_eq!(ask("orb_wrong", "/api/v1/projects").0, StatusCode::UNAUTHORIZED);
}

#[test]
fn a_list_is_read_part_by_part() {
    let trial = Trial::new();
    let home = Home::open(trial.home.path()).unwrap();
    ["a", "b", "c"].iter().for_each(|name| drop(home.project(name).unwrap()));
    let mut path = "/api/v1/projects?limit=3".to_owned();
    let mut seen = Vec::new();
    loop {
        let response = trial.ask(Who::Admin, "GET", &path);
        let link = response.headers().get("link").map(|link| link.to_str().unwrap().to_owned());
        let (_, body) = trial.read(response);
        let part: serde_json::Value = serde_json::from_str(&body).unwrap();
        seen.extend(part["items"].as_array().unwrap().iter().map(|row| row["project"].as_str().unwrap().to_owned()));
        match link {
            Some(link) => path = link.trim_start_matches('<').split('>').next().unwrap().to_owned(),
            None => break assert!(part["next"].is_null()),
        }
    }
    assert_eq!(seen, ["a", "b", "c", "p"]);
}
