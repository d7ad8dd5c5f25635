//! Is a project written once, run many times, and told where it is wrong?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::Script;
use harness::web::World;
use orb_testweb::Feature;
use std::fs;

#[test]
fn a_project_is_typed_once_and_runs_many_times() {
    let (server, home) = (Script::of_two_pages(), Home::new());
    let seed = format!("http://127.0.0.1:{}/", server.port());
    let made = home.orb(&["project", "new", PROJECT, "--seed", &seed, "--template", "docs", "--json"]);
    let file = home.project().join("project.toml");
    assert_eq!(made.expect(0).json()["file"].as_str(), file.to_str(), "{made}");
    let typed = fs::read_to_string(&file).unwrap();
    for run in 1..=2 {
        let crawled = home.orb(&["crawl", PROJECT, "--json", "--progress", "none"]);
        assert_eq!(crawled.expect(0).number("pages"), 2, "run {run}: {crawled}");
        assert_eq!(fs::read_to_string(&file).unwrap(), typed, "the comments are kept");
    }
    // A flag is saved, and everything else stays as written.
    home.orb(&["crawl", PROJECT, "--depth", "7", "--progress", "none"]).expect(0);
    let changed = fs::read_to_string(&file).unwrap();
    let but_depth = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("depth") && !line.starts_with("# depth"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(but_depth(&changed), but_depth(&typed), "{changed}");
    assert!(changed.lines().any(|line| line == "depth = 7"), "{changed}");
    let shown = home.orb(&["project", "show", PROJECT]);
    assert_eq!(shown.expect(0).text(), changed);
    let again = home.orb(&["project", "new", PROJECT]);
    assert!(again.complaint(1).contains("orb project edit p"), "{again}");
    let listed = home.orb(&["project", "list"]);
    assert_eq!(listed.expect(0).text(), "p\n");
    home.orb(&["project", "remove", PROJECT, "--yes"]).expect(0);
    assert!(!home.project().exists());
}

#[test]
fn a_project_file_that_a_person_wrote_into_the_home_is_taken_as_it_is() {
    let (server, home) = (Script::of_two_pages(), Home::new());
    let written = format!("seeds = ['http://127.0.0.1:{}/']\n[frontier]\ndelay = '0s' # hurry\n", server.port());
    let file = home.project().join("project.toml");
    fs::create_dir_all(home.project()).unwrap();
    fs::write(&file, &written).unwrap();
    let crawled = home.orb(&["crawl", PROJECT, "--json", "--progress", "none"]);
    assert_eq!(crawled.expect(0).number("pages"), 2, "{crawled}");
    // What orb has kept is told to be cut off, and may be written over by hand at any time.
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("delay = '0s' # hurry"), "{kept}");
    fs::write(&file, &kept[..kept.rfind("# end").unwrap()]).unwrap();
    let refused = home.orb(&["crawl", PROJECT, "--progress", "none"]);
    assert!(refused.complaint(1).contains("cut off"), "{refused}");
    fs::write(&file, written.replace("0s", "1ms")).unwrap();
    home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    fs::write(&file, format!("{kept}\n[fetch]\nconnections = 3\n")).unwrap();
    home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
}

#[test]
fn a_project_file_beside_the_home_is_written_once_and_can_be_run() {
    let (server, home) = (Script::of_two_pages(), Home::new());
    let file = home.beside("mine.toml");
    let at = file.to_str().unwrap();
    let seed = format!("http://127.0.0.1:{}/", server.port());
    home.orb(&["project", "new", "mine", "--seed", &seed, "--output", at]).expect(0);
    let again = home.orb(&["project", "new", "mine", "--output", at]);
    assert!(again.complaint(1).contains("is there already"), "{again}");
    let crawled = home.orb(&["crawl", at, "--delay", "0", "--json", "--progress", "none"]);
    assert_eq!((crawled.expect(0).number("pages"), &crawled.json()["project"]), (2, &"mine".into()), "{crawled}");
    for (name, seed) in [("../up", "http://a.test/"), ("fine", "http://[/")] {
        let refused = home.orb(&["project", "new", name, "--seed", seed]);
        assert!(matches!(refused.code, Some(1 | 2)) && refused.stderr.lines().count() == 1, "{refused}");
        assert!(!home.path().join("fine").exists());
    }
}

#[test]
fn an_edit_that_makes_no_sense_is_refused_with_its_line_and_not_lost() {
    let home = Home::new();
    home.orb(&["project", "new", PROJECT, "--seed", "http://a.test/"]).expect(0);
    let file = home.project().join("project.toml");
    let before = fs::read_to_string(&file).unwrap();
    let edit = |editor: &str| home.start(&["project", "edit", PROJECT], &[("VISUAL", ""), ("EDITOR", editor)]).finish();
    let line = before.lines().position(|line| line.starts_with("rules")).unwrap() + 1;
    let refused = edit("sed -i \"s/^rules.*/rules = [{ deny = '(' }]/\"");
    let said = refused.complaint(1);
    assert!(said.contains(&format!("edit.toml:{line}:19: the rule `(`")) && said.contains("resumes with"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    // The edit is not lost: the next one continues from it.
    let mended = edit("sed -i \"s/'('/'x'/\"");
    mended.expect(0);
    assert!(mended.stderr.contains("resuming the draft"), "{mended}");
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.contains("rules = [{ deny = 'x' }]") && after.contains("# Where to start"), "{after}");
    assert!(edit("true").expect(0).text().contains("nothing changed"));
    assert!(edit("false").complaint(1).contains("the editor false failed"));
    let renamed = edit("sed -i 's/^name = .*/name = \"other\"/'");
    assert!(renamed.complaint(1).contains("the project is called p, not other"), "{renamed}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_place_before_anything_is_fetched() {
    let home = Home::new();
    let file = home.beside("site.toml");
    for (text, said) in [
        ("seeds = ['http://a.test/']\n[scope]\nrules = [{ deny = '(' }]\n", "site.toml:3:19: the rule `(`"),
        (
            "seeds = ['http://a.test/']\n[scope]\nrules = [{ deny = 'x' }, { allow = 'x' }]\n",
            "site.toml:3:36: rule 1 says the opposite and decides: `x`",
        ),
        ("seeds = ['http://a.test/', 'http://[']\n", "site.toml:1:28: 'http://['"),
        (
            "seeds = ['http://a.test/']\n[outputs]\nwebhok = []\n",
            "site.toml:3:1: unknown key `webhok`; did you mean `webhook`?",
        ),
        (
            "seeds = ['http://a.test/']\n[[outputs.webhook]]\nurl = 'nowhere:'\n",
            "site.toml:3:7: 'nowhere:' is not a webhook URL",
        ),
        ("seeds = ['http://a.test/']\n[[outputs.webhook]]\nsecret = 'x'\n", "site.toml:2:1: missing field `url`"),
        ("seeds = 3\n", "site.toml:1:9: invalid type: integer `3`, expected a list of seeds"),
    ] {
        fs::write(&file, text).unwrap();
        let refused = home.orb(&["crawl", file.to_str().unwrap()]);
        assert!(refused.complaint(1).contains(said), "{said}\n{refused}");
    }
    // A file in the home, changed by hand.
    home.orb(&["project", "new", PROJECT, "--seed", "http://a.test/"]).expect(0);
    let kept = home.project().join("project.toml");
    let text = fs::read_to_string(&kept).unwrap().replace("rules = []", "rules = [{ deny = '(' }]");
    fs::write(&kept, &text).unwrap();
    let refused = home.orb(&["crawl", PROJECT]);
    let line = text.lines().position(|line| line.starts_with("rules")).unwrap() + 1;
    assert!(refused.complaint(1).contains(&format!("project.toml:{line}:19: the rule `(`")), "{refused}");
}

#[test]
fn a_held_project_waits_until_its_changes_are_acknowledged() {
    let world = World::with(&[Feature::Changes]);
    let home = Home::new();
    let file = world.project(&home, &["frontier.delay = '0s'", "track.hold_until_acknowledged = true"]);
    home.crawl(&[&file]);
    let track = || home.orb(&["track", PROJECT, "--json", "--progress", "none"]);
    for epoch in 1..=2 {
        world.server.web().set_epoch(epoch);
        assert_eq!(track().expect(0).number("run"), epoch + 1);
        let held = track();
        let (run, said) = (epoch + 1, held.complaint(1));
        assert!(said.contains(&format!("run {run} of project p has changes that nobody has acknowledged")), "{said}");
        home.orb(&["project", "ack", PROJECT, "--quiet"]).expect(0);
    }
    // If nothing changed there is nothing to acknowledge.
    for run in 4..=5 {
        assert_eq!(track().expect(0).number("run"), run);
    }
}
