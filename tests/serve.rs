//! Is a home served to those who may see it, and to nobody else?
//!
//! Which right every route takes is tested in `orb_serve` itself, over its table of routes. Here
//! the program runs as it would for a user.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::judge::prometheus;
use harness::orb::Home;
use harness::served::{Served, add_user};
use harness::tls::server_files;
use rustix::process::Signal;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

/// A home with projects `p` and `q`, an administrator, and somebody who may read `p`.
fn inhabited() -> Home {
    let home = Home::new();
    for project in ["p", "q"] {
        home.orb(&["project", "new", project, "--seed", "http://a.test/"]).expect(0);
    }
    add_user(&home, "ann", &["--admin"]);
    add_user(&home, "bob", &["--email", "bob@a.test"]);
    home.orb(&["user", "grant", "bob", "p", "read"]).expect(0);
    home
}

/// Logs in and returns the cookie.
fn log_in(served: &Served, name: &str) -> String {
    let reply = served.post("/login", &[], &format!("name={name}&password=a+password&next=/me"));
    assert_eq!((reply.status, reply.header("location")), (303, Some("/me")), "{reply:?}");
    let set = reply.header("set-cookie").unwrap();
    assert!(set.contains("; HttpOnly") && set.contains("; SameSite=Lax"), "{set}");
    reply.cookie().unwrap().to_owned()
}

#[test]
fn the_first_start_prints_a_link_that_makes_one_account() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let link = served.first.clone().unwrap();
    assert!(served.get(&link, &[]).body.contains("The first account"));
    assert_eq!(served.get("/first/0000", &[]).status, 404);
    let short = served.post(&link, &[], "name=ann&password=short");
    assert!(short.status == 422 && short.body.contains("at least 8 characters"), "{short:?}");
    let made = served.post(&link, &[], "name=ann&password=long+enough");
    assert_eq!((made.status, made.header("location")), (303, Some("/")), "{made:?}");
    let page = served.get("/", &[("Cookie", made.cookie().unwrap())]);
    assert!(page.status == 200 && page.body.contains("Nothing has been collected yet"), "{page:?}");
    assert_eq!(served.get(&link, &[]).status, 404);
    assert_eq!(served.post(&link, &[], "name=eve&password=long+enough").status, 404);
    assert_eq!(served.stop(Signal::TERM), Some(130));
    assert_eq!(Served::start(&home, &[]).first, None);
    let users = home.orb(&["user", "list", "--json"]).json();
    assert_eq!((users[0]["name"].as_str(), users.as_array().unwrap().len()), (Some("ann"), 1));
}

#[test]
fn without_an_account_only_this_machine_is_served() {
    let home = Home::new();
    let refused = home.orb(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(refused.complaint(1).contains("orb user add"), "{refused}");
    home.orb(&["serve", "--listen", "nowhere"]).complaint(2);
}

#[test]
fn people_log_in_see_what_they_may_and_log_out() {
    let home = inhabited();
    let served = Served::start(&home, &[]);
    let nobody = served.get("/", &[("Accept", "text/html")]);
    assert_eq!((nobody.status, nobody.header("location")), (303, Some("/login")));
    let cookie = log_in(&served, "bob");
    let bob = [("Cookie", cookie.as_str())];
    let page = served.get("/", &bob);
    assert!(page.body.contains("<b>p</b>") && !page.body.contains("<b>q</b>"), "{}", page.body);
    // A proxy in front may have passwords of its own, which browsers send with every request.
    let through = [("Cookie", cookie.as_str()), ("Authorization", "Basic Ym9iOng=")];
    assert_eq!((served.get("/", &through).status, served.get("/", &through[1..]).status), (200, 401));
    let as_json = served.get("/", &[("Cookie", &cookie), ("Accept", "application/json")]).json();
    assert_eq!((as_json[0]["project"].as_str(), as_json.as_array().unwrap().len()), (Some("p"), 1));
    // Another session of one's own is listed, and ended without the secret of either.
    let elsewhere = log_in(&served, "bob");
    let me = served.get("/me", &bob).body;
    let ended =
        me.split("action=\"").find_map(|part| part.split('"').next().filter(|at| at.starts_with("/me/sessions/")));
    let ended = ended.expect("the other session is listed").to_owned();
    assert!(me.contains("this one") && me.matches("/me/sessions/").count() == 1, "{me}");
    let ann = log_in(&served, "ann");
    assert_eq!(served.post(&ended, &[("Cookie", &ann)], "").status, 404, "a session of somebody else");
    assert_eq!(served.post(&ended, &bob, "").status, 303);
    assert_eq!(served.get("/me", &[("Cookie", &elsewhere)]).status, 401);
    assert_eq!(served.get("/me", &bob).status, 200);
    assert!(served.get("/", &[("Cookie", &ann)]).body.contains("<b>q</b>"));
    // Every asset that a page names is there, and may be kept for ever.
    for asset in page.body.split('"').filter(|part| part.starts_with("/assets/")) {
        let reply = served.get(asset, &[]);
        assert!(reply.status == 200 && reply.header("cache-control").unwrap().contains("immutable"), "{asset}");
    }
    let elsewhere = [("Cookie", cookie.as_str()), ("Origin", "http://evil.test")];
    assert_eq!(served.post("/logout", &elsewhere, "").status, 403);
    assert_eq!(served.post("/logout", &bob, "").status, 303);
    assert_eq!(served.get("/me", &bob).status, 401);
}

#[test]
fn wrong_passwords_make_one_wait() {
    let home = inhabited();
    let served = Served::start(&home, &[]);
    let try_in = || served.post("/login", &[], "name=bob&password=wrong");
    // Every wait is twice as long as the one before, so a slow machine cannot outwait them all.
    let replies: Vec<_> = (0..12).map(|_| try_in()).collect();
    assert!(replies[..5].iter().all(|reply| reply.status == 403), "{replies:?}");
    let late = replies.iter().find(|reply| reply.status == 429).expect("nobody had to wait");
    assert!(late.header("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    let right = served.post("/login", &[], "name=bob&password=a+password");
    assert_eq!(right.status, 429, "the right password is not even looked at");
}

#[test]
fn one_changes_the_own_password_with_the_old_one() {
    let home = inhabited();
    let served = Served::start(&home, &[]);
    let cookie = log_in(&served, "bob");
    let bob = [("Cookie", cookie.as_str())];
    assert_eq!(served.post("/me/password", &bob, "old=wrong&new=another+one").status, 403);
    assert_eq!(served.post("/me/password", &bob, "old=a+password&new=short").status, 422);
    assert_eq!(served.post("/me/password", &bob, "old=a+password&new=another+one").status, 303);
    assert_eq!(served.get("/me", &bob).status, 401, "the session goes on");
    assert_eq!(served.post("/login", &[], "name=bob&password=another+one").status, 303);
}

#[test]
fn programs_come_with_tokens() {
    let home = inhabited();
    let served = Served::start(&home, &[]);
    let made = home.orb(&["user", "token", "bob", "--scope", "read", "--days", "7", "--json"]).json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let with = [("Authorization", bearer.as_str())];
    assert_eq!(served.get("/api/v1/projects/p", &with).json()["project"], "p");
    let hidden = served.get("/api/v1/projects/q", &with);
    assert_eq!((hidden.status, hidden.header("content-type")), (404, Some("application/problem+json")));
    let families = prometheus(&served.get("/metrics", &with).body, &home.beside("metrics.txt"));
    assert!(families.iter().any(|family| family.name == "orb_project_running"));
    assert_eq!(served.get("/metrics", &[]).status, 401);
    // Made in the browser, it is shown once and can be revoked.
    let cookie = log_in(&served, "bob");
    let bob = [("Cookie", cookie.as_str())];
    let page = served.post("/me/tokens", &bob, "name=%3Cscript%3E&scope=read&scope=sql&days=1");
    let text = page.body.split("<code class=\"break\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert!(text.starts_with("orb_") && !page.body.contains("<script>"), "{}", page.body);
    let web = format!("Bearer {text}");
    assert_eq!(served.get("/api/v1/projects/p", &[("Authorization", &web)]).status, 200);
    let listed = home.orb(&["user", "token", "bob", "--list", "--json"]).json();
    assert_eq!(listed[0]["scopes"], serde_json::json!(["read", "sql"]));
    let revoke = format!("/me/tokens/{}/revoke", listed[0]["id"]);
    let ann = log_in(&served, "ann");
    assert_eq!(served.post(&revoke, &[("Cookie", &ann)], "").status, 404, "somebody else's token");
    assert_eq!(served.post(&revoke, &bob, "").status, 200);
    assert_eq!(served.get("/api/v1/projects/p", &[("Authorization", &web)]).status, 401);
    home.orb(&["user", "remove", "bob"]).expect(0);
    assert_eq!(served.get("/api/v1/projects/p", &with).status, 401, "the token outlives its user");
}

#[test]
fn only_our_own_names_are_answered_to() {
    let home = inhabited();
    let served = Served::start(&home, &["--host", "orb.test"]);
    assert_eq!(served.get("/healthz", &[("Host", "orb.test")]).body, "ok\n");
    assert_eq!(served.get("/healthz", &[("Host", "evil.test")]).status, 421);
}

#[test]
fn a_client_that_dawdles_is_cut_off() {
    let home = inhabited();
    let served = Served::start(&home, &["--patience", "200ms"]);
    for head in ["", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "] {
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        // Without a deadline on the server's side this would never return.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!String::from_utf8_lossy(&rest).contains("200 OK"), "{head}");
    }
    assert_eq!(served.get("/healthz", &[]).status, 200);
}

#[test]
fn over_tls_both_versions_of_http_are_spoken() {
    let home = inhabited();
    let (certificate, key, issuer) = server_files(&home.beside("tls"));
    let served = Served::start(&home, &["--tls-cert", &certificate, "--tls-key", &key]);
    for (flag, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let mut curl = Command::new("curl");
        curl.args([
            "--silent",
            "--show-error",
            "--cacert",
            &issuer,
            flag,
            "--include",
            "--write-out",
            "%{http_version}",
        ]);
        curl.args(["--data", "name=ann&password=a+password", &format!("https://{}/login", served.address)]);
        let output = curl.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap().to_lowercase();
        assert!(text.contains(" 303") && text.ends_with(version), "{text} {}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("set-cookie: __host-orb=") && text.contains("; secure"), "{text}");
    }
    home.orb(&["serve", "--tls-cert", &key, "--tls-key", &certificate]).complaint(1);
}
