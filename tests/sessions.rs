//! Are pages known by what they are, whatever session id stands in their URLs?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::Home;
use harness::root;
use serde_json::Value;

/// What `inspect sessions` says of recorded lists.
fn inspected(home: &Home, lists: &[&str]) -> Value {
    let dir = root().join("crates/urls/tests/data/sessions");
    let files: Vec<String> = lists.iter().map(|list| dir.join(list).to_str().unwrap().to_owned()).collect();
    let mut args = vec!["inspect", "sessions", "--json"];
    args.extend(files.iter().map(String::as_str));
    home.orb(&args).expect(0).json()
}

fn values(report: &Value) -> Vec<&str> {
    report["ids"].as_array().unwrap().iter().map(|id| id["value"].as_str().unwrap()).collect()
}

#[test]
fn session_ids_of_recorded_lists_are_told_with_their_places() {
    let home = Home::new();
    let one = inspected(&home, &["amazon-old.txt"]);
    assert_eq!(values(&one), ["002-9355727-0611208"]);
    assert_eq!(one["ids"][0]["place"], "path segment");
    assert_eq!((one["ids"][0]["host"].as_str(), one["ids"][0]["links"].as_u64()), (Some("www.amazon.com"), Some(14)));
    assert_eq!(one["urls"].as_array().unwrap().len(), 17);
    let both = inspected(&home, &["amazon-old.txt", "amazon-new.txt"]);
    assert_eq!(
        values(&both),
        ["002-9355727-0611208", "1PS2V6KKYBZ34F3RK1PJ", "104-5791018-2027935", "15BNH99VVKBB0CDBQGQN"]
    );
    let urls = both["urls"].as_array().unwrap();
    let identities = |session: u64| -> Vec<&Value> {
        let of = urls
            .iter()
            .filter(|url| url["session"] == session && url["url"].as_str().unwrap().contains("www.amazon.com"));
        of.map(|url| &url["identity"]).collect()
    };
    let same = identities(1).into_iter().zip(identities(2)).filter(|(old, new)| old == new).count();
    assert_eq!(same, 13, "all but the tenth, which is another page: {both}");
}

#[test]
fn a_list_without_session_ids_and_lines_that_are_no_urls_are_said() {
    let home = Home::new();
    let file = home.beside("list");
    std::fs::write(&file, "http://x.example/a?id=12\n\n# a comment\nhttp://x.example/b?id=13\nmailto:a@b\n").unwrap();
    let told = home.orb(&["inspect", "sessions", file.to_str().unwrap()]);
    let text = told.expect(0).text();
    assert!(text.contains("no session ids") && text.contains("'mailto:a@b'"), "{text}");
    let missing = home.orb(&["inspect", "sessions", "not-there"]);
    assert!(missing.complaint(1).contains("cannot read not-there"), "{missing}");
}

#[test]
fn urls_that_share_an_id_say_so_beside_the_ids_known_by_name() {
    let home = Home::new();
    let urls = ["http://x.example/a?zq=4f8ab91c77de20aa3bc1", "http://x.example/b?zq=4f8ab91c77de20aa3bc1&PHPSESSID=7"];
    let told = home.orb(&["inspect", "url", "--json", urls[0], urls[1]]).expect(0).json();
    assert_eq!(told[0]["sessions"][0]["name"], "zq");
    let names: Vec<_> = told[1]["sessions"].as_array().unwrap().iter().map(|id| id["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["PHPSESSID", "zq"]);
}
