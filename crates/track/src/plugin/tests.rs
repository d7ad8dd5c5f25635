use super::*;
use std::time::Instant;

/// A Python program that does this for every question `q`.
fn python(body: &str) -> Program {
    python_within(body, Duration::from_secs(10))
}

fn python_within(body: &str, timeout: Duration) -> Program {
    let script = format!(
        "import json, os, sys, time\nstart = os.getpid()\ndef say(text):\n    sys.stdout.write(text + '\\n')\n    sys.stdout.flush()\n\
        for line in sys.stdin:\n    q = json.loads(line)\n{}\n",
        body.lines().map(|l| format!("    {l}\n")).collect::<String>()
    );
    Program::new(&["python3".to_owned(), "-c".to_owned(), script], timeout)
}

fn asked(program: &Program, old: &str, new: &str) -> Result<ProgramAnswer, String> {
    let (old, new) = (ShownContent::Text(old), ShownContent::Text(new));
    program.ask(&ProgramQuestion { url: "http://h.test/", mime: "text/html", by: "text", old, new })
}

const HONEST: &str = "say(json.dumps({'id': q['id'], 'same': q['old'] == q['new'], 'detail': str(start)}))";

#[test]
fn a_program_is_started_once_and_asked_about_every_page() {
    let program = python(HONEST);
    let first = asked(&program, "a", "a").unwrap();
    let second = asked(&program, "a", "b\n\"c\" é").unwrap();
    assert!(first.same && !second.same);
    assert_eq!(first.detail, second.detail, "another process");
}

#[test]
fn large_pages_go_through() {
    let program = python(HONEST);
    let page = "word ".repeat(400_000);
    assert!(asked(&program, &page, &page).unwrap().same);
}

#[test]
fn whatever_it_does_wrong_is_said_and_the_next_page_is_asked_of_a_new_one() {
    for (wrong, why) in [
        ("sys.exit(3)", "ended (exit status: 3)"),
        ("raise KeyError('what is this')", "KeyError: 'what is this'"),
        ("os.kill(start, 9)", "signal: 9"),
        ("os.close(1); time.sleep(60)", "it closed its output"),
        ("say('same')", "answered 'same'"),
        ("say(json.dumps({'id': q['id'] + 1, 'same': True}))", "answered with id"),
        ("say(json.dumps({'id': q['id']}))", "missing field `same`"),
        ("os.write(1, b'\\xff\\xfe\\n')", "not UTF-8"),
        ("sys.stdout.write('x' * 3000000); sys.stdout.flush()", "more than 1 MB"),
        ("sys.stderr.write('y' * 9000000); sys.exit(1)", "ended (exit status: 1)"),
    ] {
        let program = python(&format!("if q['old'] == 'bad':\n    {wrong}\n{HONEST}"));
        assert!(asked(&program, "a", "a").unwrap().same);
        let said = asked(&program, "bad", "x").unwrap_err();
        assert!(
            said.starts_with("the program python3") && said.contains(why) && !said.contains('\n'),
            "{wrong}: {said}"
        );
        assert!(said.len() < 3_000, "{}", said.len());
        assert!(asked(&program, "a", "a").unwrap().same, "{wrong}");
    }
}

#[test]
fn a_program_that_hangs_is_killed_with_what_it_started() {
    let body = format!(
        "if q['old'] == 'bad':\n    if os.fork() == 0:\n        time.sleep(600)\n    time.sleep(600)\n{HONEST}"
    );
    let program = python_within(&body, Duration::from_secs(3));
    assert!(asked(&program, "a", "a").unwrap().same);
    let began = Instant::now();
    let said = asked(&program, "bad", "x").unwrap_err();
    assert!(said.contains("did not answer within 3s"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(asked(&program, "a", "a").unwrap().same);
}

#[test]
fn a_program_that_does_not_read_is_killed_too() {
    let script = "import time\ntime.sleep(600)".to_owned();
    let program = Program::new(&["python3".into(), "-c".into(), script], Duration::from_millis(500));
    let page = "word ".repeat(400_000);
    assert!(asked(&program, &page, "x").unwrap_err().contains("did not answer"));
}

#[test]
fn one_that_says_more_than_it_was_asked_is_started_anew() {
    let program = python(&format!("{HONEST}\nsay('and another thing')\nsay('and more')"));
    let mut seen = std::collections::HashSet::new();
    for _ in 0..3 {
        // Output beyond the answer may arrive a moment later, and then it is taken as the answer to
        // the next question.
        if let Ok(answer) = asked(&program, "a", "a") {
            assert!(answer.same);
            seen.insert(answer.detail);
        }
    }
    assert!(!seen.is_empty());
}

#[test]
fn one_that_only_fails_is_given_up() {
    let program = python("sys.exit(1)");
    let said: Vec<String> = (0..7).map(|_| asked(&program, "a", "b").unwrap_err()).collect();
    assert!(said[4].contains("ended"), "{}", said[4]);
    assert!(said[5].contains("failed 5 times in a row"), "{}", said[5]);
    let missing = Program::new(&["/nowhere/compare".to_owned()], Duration::from_secs(1));
    assert!(asked(&missing, "a", "b").unwrap_err().contains("cannot be started: No such file"));
}

#[test]
fn the_example_finds_a_changed_price() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/compare_prices.py");
    let program = Program::new(&["python3".to_owned(), script.to_owned()], Duration::from_secs(10));
    assert!(asked(&program, "Tea, 20 EUR, was € 3.50.", "Fine tea: 20 EUR, was € 3.50!").unwrap().same);
    let answer = asked(&program, "Tea, 20 EUR", "Tea, 25 EUR").unwrap();
    assert_eq!((answer.same, answer.detail.as_str()), (false, "prices gone: 20; new: 25"));
}
