//! Is every consumer told what changed, exactly once, completely and in order?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::history::{Told, later_run};
use harness::orb::{Home, PROJECT};
use harness::script::{Heard, Script, absent, reply};
use harness::web::World;
use harness::{judge, until};
use orb_testweb::Feature;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A small site, crawled, with these outputs.
fn crawled(outputs: &str) -> (Script, Home) {
    let server = Script::serve(|heard| match heard.target.as_str() {
        "/robots.txt" => absent(),
        "/" => html("Front", "<a href='/a'>a</a> <a href='/b'>b</a> <a href='/c'>c</a>"),
        other => html(&format!("Page <{other}> & \"more\""), &format!("words of {other}")),
    });
    let home = Home::new();
    let file = home.beside("p.toml");
    let seed = format!("seeds = ['http://127.0.0.1:{}/']\nfrontier.delay = '0s'\n", server.port());
    fs::write(&file, seed + outputs).unwrap();
    home.crawl(&[file.to_str().unwrap()]);
    (server, home)
}

fn html(title: &str, body: &str) -> Vec<u8> {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    reply("200 OK", "Content-Type: text/html\r\n", &format!("<!doctype html><title>{title}</title><p>{body}</p>"))
}

fn url(server: &Script, path: &str) -> String {
    format!("http://127.0.0.1:{}{path}", server.port())
}

/// Two later runs: new, updated and gone; then back again.
fn two_runs(server: &Script, home: &Home) {
    let (a, b, c, d) = (url(server, "/a"), url(server, "/b"), url(server, "/c"), url(server, "/d"));
    let said = [
        Told { like: &a, ..Told::new(&d, "NEW") },
        Told { like: &b, detail: Some("1 line of 3 differs"), ..Told::new(&a, "UPD") },
        Told { moved: Some(&d), ..Told::new(&c, "MIS") },
    ];
    assert_eq!(later_run(home, &said), 2);
    assert_eq!(later_run(home, &[Told::new(&c, "NEW"), Told { detail: Some("500"), ..Told::new(&b, "ERR") }]), 3);
}

/// The JSON lines of a text.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_feed_goes_on_from_any_cursor_over_several_runs() {
    let (server, home) = crawled("");
    let none = home.orb(&["changes", PROJECT]);
    assert_eq!(none.expect(0).text(), "{\"next\":0,\"count\":0}\n");
    two_runs(&server, &home);
    let all = home.orb(&["changes", PROJECT]);
    let all = lines(all.expect(0).text());
    let flags: Vec<&str> = all.iter().filter_map(|line| line["flag"].as_str()).collect();
    assert_eq!(flags, ["NEW", "UPD", "MIS", "NEW", "ERR"]);
    assert_eq!(all.last().unwrap()["next"], 5);
    let changed = &all[1];
    assert_eq!((&changed["url"], &changed["run"]), (&url(&server, "/a").into(), &2.into()), "{changed}");
    assert_eq!(changed["detail"], "1 line of 3 differs");
    assert_ne!(changed["digest"], changed["digest_before"]);
    assert_eq!((&all[2]["title"], &all[2]["moved_to"]), (&"Page </c> & \"more\"".into(), &url(&server, "/d").into()));
    // Read page by page, the result is the same.
    let (mut pieces, mut cursor) = (Vec::new(), 0);
    loop {
        let piece = home.orb(&["changes", PROJECT, "--after", &cursor.to_string(), "--limit", "2"]);
        let piece = lines(piece.expect(0).text());
        let (end, changes) = piece.split_last().unwrap();
        if changes.is_empty() {
            break;
        }
        cursor = end["next"].as_u64().unwrap();
        assert_eq!(Some(cursor), changes.last().unwrap()["seq"].as_u64());
        pieces.extend_from_slice(changes);
    }
    assert_eq!(pieces, all[..5]);
    let updated = home.orb(&["changes", PROJECT, "--flag", "upd", "--json"]);
    assert_eq!(updated.expect(0).json(), Value::from(vec![changed.clone()]));
    let beyond = home.orb(&["changes", PROJECT, "--after", &u64::MAX.to_string()]);
    assert_eq!(lines(beyond.expect(0).text()).len(), 1, "{beyond}");
    let wrong = home.orb(&["changes", PROJECT, "--flag", "OLD"]);
    assert!(wrong.expect(2).stderr.contains("NEW, SAM, UPD, MIS and ERR"), "{wrong}");
}

#[test]
fn who_follows_is_told_when_it_happens() {
    let (server, home) = crawled("");
    let following = home.start(&["changes", PROJECT, "--follow", "--limit", "3"], &[]);
    two_runs(&server, &home);
    let told = following.finish();
    assert_eq!(lines(told.expect(0).text()).len(), 4, "{told}");
}

#[test]
fn the_file_of_lines_never_holds_a_change_twice() {
    let (server, home) = crawled("[outputs]\njsonl = 'out/changes.jsonl'\n");
    let file = home.project().join("out/changes.jsonl");
    let deliver = || home.orb(&["deliver", PROJECT, "--json"]);
    let told = |finished: &harness::orb::Finished| finished.json()["outputs"][0]["told"].as_u64();
    two_runs(&server, &home);
    let first = deliver();
    assert_eq!(told(first.expect(0)), Some(5), "{first}");
    let whole = fs::read_to_string(&file).unwrap();
    assert_eq!(lines(&whole).len(), 5);
    assert_eq!(told(deliver().expect(0)), Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    // A crash after the lines and before the cursor, and one in the middle of a line.
    let marks = home.project().join("outputs.json");
    for cut in [whole.len(), whole.len() - 7] {
        fs::remove_file(&marks).unwrap();
        fs::write(&file, &whole[..cut]).unwrap();
        deliver().expect(0);
        assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    }
    later_run(&home, &[Told::new(&url(&server, "/b"), "UPD")]);
    for point in ["report-written", "report-kept"] {
        let killed = home.start(&["deliver", PROJECT], &[("ORB_FAIL", point)]).finish();
        assert_eq!(killed.code, None, "{killed}");
        assert_eq!(lines(&fs::read_to_string(&file).unwrap()).len(), 6, "{point}");
        fs::remove_file(&marks).unwrap();
    }
    assert_eq!(told(deliver().expect(0)), Some(6), "of which the file holds all");
    assert!(fs::read_to_string(&marks).unwrap().contains("\"out/changes.jsonl\""), "as the project file has it");
    assert_eq!(lines(&fs::read_to_string(&file).unwrap()).len(), 6);
    // Foreign files are left alone.
    fs::write(&file, "dear diary\n").unwrap();
    let refused = deliver();
    assert!(refused.expect(1).stderr.contains("its last line is not a change"), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "dear diary\n");
}

#[test]
fn the_atom_feed_is_valid_bounded_and_keeps_its_ids() {
    let (server, home) = crawled("[outputs]\natom = 'changes.xml'\natom_entries = 4\n");
    let file = home.project().join("changes.xml");
    two_runs(&server, &home);
    home.orb(&["deliver", PROJECT]).expect(0);
    let first = judge::read_feed(&file);
    assert_eq!(first.len(), 4, "{first:?}");
    assert_eq!(first[0].1, "Unavailable: Page </b> & \"more\"");
    later_run(&home, &[Told::new(&url(&server, "/b"), "UPD")]);
    home.orb(&["deliver", PROJECT]).expect(0);
    let second = judge::read_feed(&file);
    assert_eq!((second.len(), &second[1..]), (4, &first[..3]));
}

/// The front matter of a Markdown file, and its text.
fn markdown(dir: &Path, ending: &str) -> (String, String) {
    let mut found = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let path = found.find(|path| path.to_str().unwrap().ends_with(ending)).unwrap_or_else(|| panic!("no {ending}"));
    let text = fs::read_to_string(path).unwrap();
    let (head, words) = text.strip_prefix("---\n").unwrap().split_once("---\n").unwrap();
    (head.to_owned(), words.trim().to_owned())
}

#[test]
fn changed_pages_are_kept_as_markdown_and_those_gone_are_marked() {
    let (server, home) = crawled("[outputs]\nmarkdown = 'pages'\n");
    two_runs(&server, &home);
    home.orb(&["deliver", PROJECT]).expect(0);
    let dir = home.project().join(format!("pages/127.0.0.1_{}", server.port()));
    let (head, words) = markdown(&dir, "-a.md");
    assert_eq!(words, "words of /b");
    for line in [
        &format!("url: \"{}\"\n", url(&server, "/a")),
        "flag: \"UPD\"\n",
        "run: 2\n",
        "title: \"Page </b>",
        "digest: \"",
    ] {
        assert!(head.contains(line), "no {line}: {head}");
    }
    let (head, _) = markdown(&dir, "-c.md");
    assert!(head.contains("flag: \"NEW\"\n") && !head.contains("gone: "), "it came back: {head}");
    later_run(&home, &[Told { moved: Some("http://b.test/"), ..Told::new(&url(&server, "/a"), "MIS") }]);
    home.orb(&["deliver", PROJECT]).expect(0);
    let (head, words) = markdown(&dir, "-a.md");
    assert_eq!(words, "words of /b");
    assert!(head.contains("gone: \"2026-") && head.contains("moved_to: \"http://b.test/\""), "{head}");
    // The same file names as in an export, so that one continues the other.
    let exported = home.beside("exported");
    home.orb(&["export", PROJECT, "markdown", "-o", exported.to_str().unwrap(), "--quiet"]).expect(0);
    markdown(&exported.join(format!("127.0.0.1_{}", server.port())), "-c.md");
}

/// A receiver that fails this many times before it accepts.
fn receiver(failures: usize, status: &'static str) -> (Script, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(failures));
    let counter = Arc::clone(&left);
    let server = Script::serve(move |_| {
        let fails = counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        reply(if fails { status } else { "204 No Content" }, "", "")
    });
    (server, left)
}

/// The changes that a receiver got, with the id of the delivery.
fn heard(receiver: &Script) -> Vec<(String, Vec<u64>)> {
    let read = |heard: &Heard| {
        let body: Value = serde_json::from_slice(&heard.body).unwrap();
        let seqs = body["changes"].as_array().unwrap().iter().map(|change| change["seq"].as_u64().unwrap()).collect();
        (heard.field("webhook-id").unwrap().to_owned(), seqs)
    };
    receiver.heard().iter().map(read).collect()
}

#[test]
fn a_webhook_is_told_signed_batch_by_batch() {
    let (hook, _) = receiver(0, "");
    let settings = format!(
        "[[outputs.webhook]]\nurl = 'http://127.0.0.1:{}/hook?x=1'\nsecret_env = 'ORB_TEST_SECRET'\nbatch = 2\nflags = ['NEW', 'UPD', 'MIS', 'ERR']\n",
        hook.port()
    );
    let (server, home) = crawled(&settings);
    two_runs(&server, &home);
    let unset = home.orb(&["deliver", PROJECT]);
    assert!(unset.expect(1).stderr.contains("the variable ORB_TEST_SECRET"), "{unset}");
    assert!(hook.heard().is_empty());
    let deliver = || home.start(&["deliver", PROJECT], &[("ORB_TEST_SECRET", "whsec_c2VjcmV0")]).finish();
    assert!(deliver().expect(0).text().contains(": 5 changes"));
    let told = heard(&hook);
    assert_eq!(told.iter().map(|(_, seqs)| seqs.clone()).collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![5]]);
    for request in hook.heard() {
        assert_eq!(request.lines[0], "POST /hook?x=1 HTTP/1.1");
        assert_eq!(request.field("content-type"), Some("application/json"));
        let (id, time) = (request.field("webhook-id").unwrap(), request.field("webhook-timestamp").unwrap());
        let signed = judge::webhook_signature("secret", id, time, &request.body);
        assert_eq!(request.field("webhook-signature"), Some(format!("v1,{signed}").as_str()));
    }
    assert!(deliver().expect(0).text().contains(": 0 changes"));
    assert_eq!(heard(&hook).len(), 3);
}

#[test]
fn a_webhook_is_told_how_runs_end_and_can_be_tried() {
    let (hook, _) = receiver(0, "");
    let url = format!("http://127.0.0.1:{}/", hook.port());
    let (server, home) = crawled(&format!(
        "[[outputs.webhook]]\nurl = '{url}'\nretries = 0\nevents = ['run.finished', 'run.failed']\nsecret = 'whsec_c2VjcmV0'\n"
    ));
    let told = |n: usize| -> Value { serde_json::from_slice(&hook.heard()[n].body).unwrap() };
    let first = told(0);
    assert_eq!((&first["type"], &first["run"], &first["kind"]), (&"run.finished".into(), &1.into(), &"crawl".into()));
    assert_eq!((&first["state"], &first["pages"], &first["project"]), (&"done".into(), &4.into(), &PROJECT.into()));
    assert_eq!(first["id"], hook.heard()[0].field("webhook-id").unwrap());
    assert!(hook.heard()[0].field("webhook-signature").is_some());
    home.orb(&["track", PROJECT, "--delay", "0"]).expect(0);
    assert_eq!((&told(1)["type"], &told(1)["kind"]), (&"run.finished".into(), &"track".into()));
    home.orb(&["deliver", PROJECT]).expect(0);
    assert_eq!(hook.heard().len(), 2, "changes are not for it");
    // A step that does not go well ends the run.
    let file = home.project().join("project.toml");
    let step = format!(
        "[[steps]]\nname = 'in'\nstart = ['http://127.0.0.1:{}/']\nexpect = 'nothing like it'\n",
        server.port()
    );
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("steps = []\n", "") + &step).unwrap();
    let failed = home.orb(&["track", PROJECT, "--delay", "0"]);
    let why = failed.complaint(1);
    let last = told(2);
    assert_eq!((&last["type"], &last["kind"]), (&"run.failed".into(), &"track".into()), "{last}");
    assert!(
        last["why"].as_str().is_some_and(|said| why.contains("nothing like it") && said.contains("nothing like it")),
        "{last} {why}"
    );
    home.orb(&["deliver", PROJECT, "--try"]).expect(0);
    assert_eq!(told(3)["type"], "test");
    let gone = fs::read_to_string(&file).unwrap().replace(&url, "http://127.0.0.1:1/");
    fs::write(&file, gone).unwrap();
    assert!(home.orb(&["deliver", PROJECT, "--try"]).complaint(1).contains("did not take the test"));
}

#[test]
fn a_receiver_that_fails_is_told_again_under_the_same_name_and_nothing_is_left_out() {
    let (hook, left) = receiver(1, "503 Busy");
    let (server, home) = crawled(&format!(
        "[[outputs.webhook]]\nurl = 'http://127.0.0.1:{}/'\nretries = 1\n[outputs]\njsonl = 'c.jsonl'\n",
        hook.port()
    ));
    two_runs(&server, &home);
    home.orb(&["deliver", PROJECT]).expect(0);
    let told = heard(&hook);
    assert_eq!((told.len(), &told[0]), (2, &told[1]));
    assert_eq!(told[0].1, [1, 2, 3, 4]);
    // A receiver with a longer outage blocks nobody, and gets the same changes next time.
    later_run(&home, &[Told::new(&url(&server, "/a"), "UPD")]);
    left.store(9, Ordering::SeqCst);
    let failed = home.orb(&["deliver", PROJECT, "--json"]);
    assert!(failed.expect(1).stderr.contains("1 changes not delivered: it answered 503"), "{failed}");
    assert_eq!(lines(&fs::read_to_string(home.project().join("c.jsonl")).unwrap()).len(), 6);
    left.store(0, Ordering::SeqCst);
    later_run(&home, &[Told::new(&url(&server, "/b"), "UPD")]);
    home.orb(&["deliver", PROJECT]).expect(0);
    let told = heard(&hook);
    assert_eq!(told[2..].iter().map(|(_, seqs)| seqs.as_slice()).collect::<Vec<_>>(), [[6], [6], [6], [7]]);
    assert!(told[2].0 == told[3].0 && told[3].0 == told[4].0 && told[4].0 != told[5].0, "{told:?}");
    // A permanent rejection is not retried at once.
    left.store(9, Ordering::SeqCst);
    let (before, _) = (heard(&hook).len(), later_run(&home, &[Told::new(&url(&server, "/b"), "UPD")]));
    home.orb(&["deliver", PROJECT]).expect(1);
    assert_eq!(heard(&hook).len(), before + 2);
    until("the failures are used up", || left.load(Ordering::SeqCst) <= 9);
}

#[test]
fn a_receiver_that_is_not_there_is_named_and_what_it_missed_is_said() {
    let (server, home) = crawled("[[outputs.webhook]]\nurl = 'http://127.0.0.1:1/'\nretries = 0\ntimeout = '5s'\n");
    two_runs(&server, &home);
    let failed = home.orb(&["deliver", PROJECT]);
    let said = failed.complaint(1);
    assert!(said.contains("http://127.0.0.1:1/: 4 changes not delivered") && said.contains("orb deliver p"), "{said}");
    let nothing = Home::new();
    nothing.orb(&["project", "new", PROJECT]).expect(0);
    assert!(nothing.orb(&["deliver", PROJECT]).complaint(1).contains("has no outputs"));
}

#[test]
fn outputs_are_told_after_a_run_and_a_dead_receiver_fails_none() {
    let world = World::with(&[Feature::Changes]);
    let (hook, _) = receiver(0, "");
    let home = Home::new();
    let hooks = format!(
        "outputs.webhook = [{{ url = 'http://127.0.0.1:{}/' }}, {{ url = 'http://127.0.0.1:1/', retries = 0 }}]",
        hook.port()
    );
    let more =
        ["frontier.delay = '0s'", "outputs.jsonl = 'c.jsonl'", "outputs.atom = 'c.xml'", "outputs.markdown = 'md'"];
    let file = world.project(&home, &[&more[..], &[&hooks]].concat());
    home.crawl(&[&file]);
    assert!(!home.project().join("c.jsonl").exists(), "a first run has no changes");
    world.server.web().set_epoch(1);
    let tracked = home.orb(&["track", PROJECT, "--json", "--progress", "none"]);
    let flags = tracked.expect(0).json()["flags"].clone();
    let count = |names: &[&str]| names.iter().map(|name| flags[name].as_u64().unwrap()).sum::<u64>();
    assert!(tracked.stderr.contains("http://127.0.0.1:1/") && tracked.stderr.contains("not delivered"), "{tracked}");
    let told = lines(&fs::read_to_string(home.project().join("c.jsonl")).unwrap());
    assert_eq!(told.len() as u64, count(&["NEW", "UPD", "MIS", "ERR"]), "{tracked}");
    assert_eq!(judge::read_feed(&home.project().join("c.xml")).len(), told.len());
    assert_eq!(heard(&hook)[0].1.len() as u64, count(&["NEW", "UPD", "MIS"]));
    let moved = told.iter().find(|line| line["url"].as_str().unwrap().ends_with("moves-at-1.html")).unwrap();
    assert!(moved["moved_to"].as_str().unwrap().ends_with("/changes/moved.html"), "{moved}");
    let host = fs::read_dir(home.project().join("md")).unwrap().next().unwrap().unwrap().path();
    assert!(markdown(&host, "-changes-always-1-html.md").0.contains("flag: \"UPD\""));
    for gone in ["-changes-vanishes-at-1-html.md", "-changes-moves-at-1-html.md"] {
        let (head, words) = markdown(&host, gone);
        assert!(head.contains("gone: \"") && !words.is_empty(), "{gone}: {head}");
    }
    assert!(!lines(home.orb(&["changes", PROJECT]).expect(0).text()).is_empty());
    // The next run continues where this one ended.
    world.server.web().set_epoch(2);
    home.orb(&["track", PROJECT, "--quiet", "--progress", "none"]).expect(0);
    let seqs: Vec<u64> = lines(&fs::read_to_string(home.project().join("c.jsonl")).unwrap())
        .iter()
        .map(|line| line["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]) && seqs.len() > told.len(), "{seqs:?}");
}
