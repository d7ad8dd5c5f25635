//! Do we parse URLs as browsers do?
//!
//! The web-related cases of the WHATWG URL test suite (`data/whatwg.tsv`). A browser's output for
//! an input must lead to the same address as the input itself, and what a browser refuses must be
//! refused.

#![allow(clippy::unwrap_used, reason = "the table is ours, and a fault in it should stop the test")]

use orb_urls::{Address, Canonicaliser, Refused, Rules};

/// With all optional rules off, only the fragment, escapes and the trailing dot of a host name
/// differ from a browser's URL.
const AS_BROWSERS: Rules = Rules {
    lowercase: false,
    strip_userinfo: false,
    strip_www: false,
    strip_session_ids: false,
    learn_sessions: false,
    tidy_query: false,
    sort_query: false,
};

struct Case {
    base: Option<String>,
    input: String,
    href: Option<String>,
}

fn cases() -> Vec<Case> {
    let case = |line: &str| {
        let mut parts = line.split('\t').map(|part| serde_json::from_str::<Option<String>>(part).unwrap());
        let mut next = || parts.next().unwrap();
        Case { base: next(), input: next().unwrap(), href: next() }
    };
    include_str!("data/whatwg.tsv").lines().map(case).collect()
}

fn read(canonicaliser: &Canonicaliser, case: &Case) -> Result<Address, Refused> {
    match &case.base {
        Some(base) => canonicaliser.resolve(&canonicaliser.parse(base).unwrap(), &case.input),
        None => canonicaliser.parse(&case.input),
    }
}

#[test]
fn an_input_leads_to_the_address_a_browser_goes_to() {
    let mut wrong = Vec::new();
    for rules in [AS_BROWSERS, Rules::default()] {
        let canonicaliser = Canonicaliser::new(rules);
        for case in cases() {
            let ours = read(&canonicaliser, &case).map(Address::into_string);
            let theirs = case.href.as_deref().map(|href| canonicaliser.parse(href).map(Address::into_string));
            // A page of the web names no file of this machine to us.
            let is_file = case.base.is_some() && case.href.as_deref().is_some_and(|href| href.starts_with("file:"));
            let agree = match (&ours, &theirs) {
                (ours, _) if is_file => ours.is_err(),
                (Err(_), None | Some(Err(_))) => true,
                (Ok(ours), Some(Ok(theirs))) => ours == theirs,
                _ => false,
            };
            if !agree {
                wrong.push(format!("{:?} on {:?}: {ours:?}, not {theirs:?}", case.input, case.base));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Inputs whose escapes we spell differently from browsers, which keep them as written.
const ESCAPES: &[(&str, &str)] = &[
    ("http://example.org/a%2fc", "http://example.org/a%2Fc"),
    ("http://example.org/a/%2f/c", "http://example.org/a/%2F/c"),
    ("http://example.com/foo/%2e%2", "http://example.com/foo/.%2"),
    ("http://example.com/%2e.bar", "http://example.com/..bar"),
    ("http://example.com/foo%41%7a", "http://example.com/fooAz"),
    ("http://example.com/foo%00%51", "http://example.com/foo%00Q"),
    ("http://example.com/%3A%3a%3C%3c", "http://example.com/%3A%3A%3C%3C"),
    ("http://www/foo%2Ehtml", "http://www/foo.html"),
];

#[test]
fn with_our_rules_off_addresses_are_spelt_as_browsers_spell_them() {
    let canonicaliser = Canonicaliser::new(AS_BROWSERS);
    let mut same = 0;
    for case in cases() {
        let (Ok(ours), Some(href)) = (read(&canonicaliser, &case), &case.href) else { continue };
        // To a file system several slashes are one.
        if ours.as_str().starts_with("file:") {
            continue;
        }
        let href = href.split('#').next().unwrap_or_default();
        let expected = ESCAPES.iter().find(|(theirs, _)| *theirs == href).map_or(href, |(_, ours)| ours);
        assert_eq!(ours.as_str(), expected, "{:?} on {:?}", case.input, case.base);
        same += usize::from(expected == href);
    }
    assert!(same > 200, "only {same}");
}
