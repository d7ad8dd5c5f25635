//! Do the screens of the people who look after a server do what they say: users, exports, the map,
//! the queue, the machine?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::Home;
use harness::served::{HttpReply, Served, add_user};

/// The cookie of somebody who has logged in.
fn cookie(served: &Served, name: &str) -> String {
    let reply = served.post("/login", &[], &format!("name={name}&password=a+password"));
    reply.cookie().unwrap_or_else(|| panic!("{reply:?}")).to_owned()
}

/// Somebody who asks.
struct Visitor<'s> {
    served: &'s Served,
    cookie: String,
}

impl<'s> Visitor<'s> {
    fn new(served: &'s Served, name: &str) -> Self {
        Self { served, cookie: cookie(served, name) }
    }

    fn get(&self, path: &str) -> HttpReply {
        self.served.get(path, &[("Cookie", &self.cookie), ("Accept", "text/html")])
    }

    /// A page, which must be there.
    fn page(&self, path: &str) -> String {
        let reply = self.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/html; charset=utf-8")), "{reply:?}");
        reply.body
    }

    fn json(&self, path: &str) -> serde_json::Value {
        self.served.get(path, &[("Cookie", &self.cookie), ("Accept", "application/json")]).json()
    }

    fn post(&self, path: &str, form: &str) -> HttpReply {
        self.served.post(path, &[("Cookie", &self.cookie)], form)
    }
}

/// A home with projects `p` and `q`, an administrator, and somebody who may do nothing yet.
fn staffed() -> Home {
    let home = Home::new();
    for project in ["p", "q"] {
        home.orb(&["project", "new", project, "--seed", "http://a.test/"]).expect(0);
    }
    add_user(&home, "ann", &["--admin"]);
    add_user(&home, "bob", &["--email", "bob@a.test"]);
    home
}

#[test]
fn an_administrator_adds_users_and_says_what_they_may_do() {
    let home = staffed();
    let served = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&served, "ann");
    assert!(ann.page("/").contains("href=\"/users\""), "the list of users is not linked to");
    let refused = ann.post("/users", "name=Eve+%3Cb%3E&password=long+enough");
    assert!(refused.status == 422 && refused.body.contains("is not a user") && !refused.body.contains("<b>&"));
    assert!(ann.post("/users", "name=eve&password=short").body.contains("at least 8 characters"));
    let added = ann.post("/users", "name=eve&password=a+password&full_name=%3Cscript%3E&email=eve%40a.test");
    assert_eq!((added.status, added.header("location")), (303, Some("/users/eve?said=added")));
    let page = ann.page("/users");
    assert!(page.contains("&#60;script&#62;") && !page.contains("<script>"), "{page}");
    assert_eq!(ann.post("/users/eve/grants", "p.p=read&p.q=run&p.nowhere=edit").status, 303);
    assert_eq!(ann.post("/users/eve/grants", "p.p=none").status, 303);
    assert_eq!(ann.post("/users/eve/grants", "p.p=everything").status, 400);
    let shown = ann.json("/users/eve");
    assert_eq!(shown["grants"], serde_json::json!({"q": "run"}), "{shown}");
    let eve = Visitor::new(&served, "eve");
    assert_eq!((eve.get("/users").status, eve.get("/p/q").status, eve.get("/p/p").status), (403, 200, 404));
    assert!(!eve.page("/").contains("href=\"/users\""));
    // A forgotten password is set by somebody else and ends the sessions.
    assert_eq!(ann.post("/users/eve/password", "password=another+one").status, 303);
    assert_eq!(eve.get("/").status, 303);
    assert_eq!(ann.post("/users/ann/password", "password=another+one").status, 409, "without the old one");
    // Tokens are listed and revoked, of the user in the address alone.
    let made = home.orb(&["user", "token", "eve", "--scope", "read", "--json"]).json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let id = ann.json("/users/eve")["tokens"][0]["id"].to_string();
    assert_eq!(served.get("/api/v1/projects/q", &[("Authorization", &bearer)]).status, 200);
    assert_eq!(ann.post(&format!("/users/bob/tokens/{id}/revoke"), "").status, 404);
    assert_eq!(ann.post(&format!("/users/eve/tokens/{id}/revoke"), "").status, 303);
    assert_eq!(served.get("/api/v1/projects/q", &[("Authorization", &bearer)]).status, 401);
    assert_eq!(ann.post("/users/eve/remove", "").header("location"), Some("/users?removed=eve"));
    assert_eq!(ann.get("/users/eve").status, 404);
    // What was done is written down with who did it.
    let last = ann.json("/users")["last"].clone();
    assert_eq!((&last[0]["user"], &last[0]["what"]), (&"ann".into(), &"removed user eve".into()), "{last}");
    let noted = last.to_string();
    for what in ["user eve may run on project q", "changed the password of eve", "revoked token", "added user eve"] {
        assert!(noted.contains(what), "{what}: {noted}");
    }
}

#[test]
fn nobody_takes_the_last_administrator_away() {
    let home = staffed();
    let served = Served::start(&home, &["--no-schedule"]);
    let ann = Visitor::new(&served, "ann");
    let refused = ann.post("/users/ann/admin", "admin=0");
    assert!(refused.status == 422 && refused.body.contains("last administrator"), "{refused:?}");
    assert_eq!(ann.post("/users/ann/remove", "").status, 409);
    let told = home.orb(&["user", "remove", "ann"]);
    assert!(told.complaint(1).contains("last administrator"), "{told}");
    assert_eq!(ann.post("/users/bob/admin", "admin=1").status, 303);
    let bob = Visitor::new(&served, "bob");
    assert_eq!(ann.post("/users/ann/admin", "admin=0").header("location"), Some("/"));
    assert_eq!((ann.get("/users").status, bob.get("/users").status), (403, 200));
    assert_eq!(bob.post("/users/bob/admin", "admin=0").status, 422);
    assert_eq!(bob.post("/users/ann/remove", "").status, 303);
    assert_eq!(ann.get("/").status, 303, "the session outlives its user");
}
