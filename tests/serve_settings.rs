//! Are settings, rules, steps and comparisons changed from the web as they are meant to be, also
//! while a run goes on?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::Home;
use harness::served::{HttpReply, Served, add_user};
use serde_json::{Value, json};

/// A home with a project `p` that starts here, served to somebody who may edit it.
struct Editing {
    home: Home,
    served: Served,
    cookie: String,
}

impl Editing {
    fn of(home: Home) -> Self {
        add_user(&home, "bob", &[]);
        home.orb(&["user", "grant", "bob", "p", "edit"]).expect(0);
        let served = Served::start(&home, &["--no-schedule"]);
        let reply = served.post("/login", &[], "name=bob&password=a+password");
        let cookie = reply.cookie().unwrap_or_else(|| panic!("{reply:?}")).to_owned();
        Self { home, served, cookie }
    }

    fn new(seed: &str) -> Self {
        let home = Home::new();
        home.orb(&["project", "new", "p", "--seed", seed]).expect(0);
        Self::of(home)
    }

    /// The project's file.
    fn file(&self) -> String {
        std::fs::read_to_string(self.home.path().join("p/project.toml")).unwrap()
    }

    fn get(&self, path: &str, accept: &str) -> HttpReply {
        self.served.get(path, &[("Cookie", &self.cookie), ("Accept", accept)])
    }

    /// The settings by the API, and their version.
    fn settings(&self) -> (Value, String) {
        let reply = self.get("/api/v1/projects/p/settings", "application/json");
        assert_eq!(reply.status, 200, "{reply:?}");
        (reply.json(), reply.header("etag").unwrap().to_owned())
    }

    /// Replaces the settings by the API.
    fn put(&self, kind: &str, version: Option<&str>, body: &str) -> HttpReply {
        let mut fields = vec![("Cookie", self.cookie.as_str()), ("Content-Type", kind)];
        fields.extend(version.map(|version| ("If-Match", version)));
        self.served.send("PUT /api/v1/projects/p/settings", &fields, body)
    }
}

#[test]
fn a_program_replaces_the_version_it_has_read_and_no_other() {
    let web = Editing::new("http://a.test/");
    let (settings, version) = web.settings();
    let file = web.get("/api/v1/projects/p/settings", "application/toml");
    assert_eq!((file.body.as_str(), file.header("etag")), (web.file().as_str(), Some(version.as_str())));
    assert_eq!(settings["seeds"], json!(["http://a.test/"]));
    let text = format!("# Ours.\n{}", file.body);
    let without = web.put("application/toml", None, &text);
    assert_eq!((without.status, &without.json()["type"]), (428, &"/problems/version-wanted".into()));
    let saved = web.put("application/toml", Some(&version), &text);
    assert_eq!(saved.status, 200, "{saved:?}");
    let now = saved.header("etag").unwrap();
    assert!(now != version && web.file().contains("# Ours.\n"));
    let stale = web.put("application/toml", Some(&version), &text);
    assert_eq!((stale.status, &stale.json()["type"]), (412, &"/problems/stale".into()));
    // What people have written stays where nothing else is said.
    let mut wanted = settings;
    wanted["frontier"]["depth"] = 3.into();
    assert_eq!(web.put("application/json", Some(now), &wanted.to_string()).status, 200);
    assert!(web.file().contains("# Ours.\n") && web.file().contains("depth = 3"), "{}", web.file());
    assert_eq!(web.settings().0["frontier"]["depth"], 3);
    assert_eq!(web.put("text/plain", Some("*"), "seeds = []").status, 415);
}

#[test]
fn a_program_is_told_where_settings_are_wrong_and_what_is_the_operators() {
    let web = Editing::new("http://a.test/");
    let before = web.file();
    let (_, version) = web.settings();
    for (added, place, key) in [
        ("[[scope.rules]]\ndeny = '('\n", (Some(2), Some(8)), "scope.rules[0].deny"),
        ("[outputs]\njsonl = '/tmp/x'\n", (Some(2), Some(9)), "outputs.jsonl"),
        ("[[track.compare]]\nprogram = ['sh']\n", (Some(1), Some(1)), "track.compare"),
    ] {
        let lines = before.lines().count() as u64;
        let refused = web.put("application/toml", Some(&version), &format!("{before}{added}"));
        assert_eq!(refused.status, 422, "{refused:?}");
        let problem = refused.json();
        let fault = &problem["errors"][0];
        assert_eq!(fault["key"], key, "{problem}");
        let told = (fault["line"].as_u64().map(|line| line - lines), fault["column"].as_u64());
        assert_eq!(told, place, "{problem}");
    }
    let misspelt = web.put("application/toml", Some(&version), "[frontier]\ndealy = '1s'\n").json();
    let expected = json!([{"line": 2, "column": 1, "key": null, "message": "unknown key `dealy`; did you mean `delay`?"}]);
    assert_eq!(misspelt["errors"], expected);
    let (mut settings, _) = web.settings();
    settings["fetch"]["proxy"] = "http://10.0.0.1:3128".into();
    let refused = web.put("application/json", Some(&version), &settings.to_string()).json();
    assert_eq!((&refused["status"], &refused["errors"][0]["key"]), (&422.into(), &"fetch.proxy".into()), "{refused}");
    assert!(refused["errors"][0].get("line").is_none(), "{refused}");
    assert_eq!(web.file(), before);
}
