#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::*;
use orb_page::Moment;
use proptest::prelude::*;

/// A parsed query with explicit brackets.
fn shown(node: &Node) -> String {
    let list = |nodes: &[Node]| nodes.iter().map(shown).collect::<Vec<_>>().join(" ");
    match node {
        Node::And(nodes) => format!("(and {})", list(nodes)),
        Node::Or(nodes) => format!("(or {})", list(nodes)),
        Node::Not(node) => format!("(not {})", shown(node)),
        Node::All => "*".to_owned(),
        Node::Filter(filter) => format!("{filter:?}"),
        Node::Leaf(leaf) => {
            let part = leaf.part.map(|part| format!("{}:", part.name())).unwrap_or_default();
            let text = match leaf.how {
                How::Exactly => leaf.text.clone(),
                How::Phrase => format!("\"{}\"", leaf.text),
                How::Beginning => format!("{}*", leaf.text),
                How::Nearly(n) => format!("{}~{n}", leaf.text),
            };
            part + &text
        }
    }
}

fn understood(query: &str) -> String {
    parse(query, Moment(0)).map_or_else(|e| e.to_string(), |node| shown(&node))
}

#[test]
fn words_side_by_side_are_all_wanted() {
    assert_eq!(understood("json load file"), "(and json load file)");
    assert_eq!(understood("a AND b OR c d"), "(or (and a b) (and c d))");
    assert_eq!(understood("a (b OR c) -dd NOT e"), "(and a (or b c) (not dd) (not e))");
    assert_eq!(understood("\"to be\" or"), "(and \"to be\" or)");
    assert_eq!(understood("vec* vectr~ abcdefg~ colour~1"), "(and vec* vectr~1 abcdefg~2 colour~1)");
    assert_eq!(understood("* -aa"), "(and * (not aa))");
}

#[test]
fn code_and_addresses_are_words() {
    assert_eq!(understood("std::vector push_back()"), "(and std::vector push_back())");
    assert_eq!(understood("print(\"x\") (f(x))"), "(and print(\"x\") f(x))");
    assert_eq!(understood("http://a.org/b?c=d"), "http://a.org/b?c=d");
    assert_eq!(understood("12:30 c++ a-b - x"), "(and 12:30 c++ a-b x)");
    assert_eq!(understood("git commit --amend -- x"), "(and git commit --amend x)");
    assert_eq!(understood("dpkg -S file -x"), "(and dpkg -S file -x)");
    assert_eq!(understood("int main(int argc, char argv) (b)"), "(and int main(int argc, char argv) b)");
    assert_eq!(
        understood("(print(a, (-b)) OR f(\"c d\", e)) g"),
        "(and (or (and print(a, (-b))) (and f(\"c d\", e))) g)"
    );
}

#[test]
fn messages_are_words() {
    assert_eq!(understood("fatal: not here"), "(and fatal: not here)");
    assert_eq!(understood("localhost:8080 error:"), "(and localhost:8080 error:)");
}

#[test]
fn fields_narrow_where_to_look() {
    assert_eq!(understood("title:vector inurl:cpp"), "(and title:vector url:cpp)");
    assert_eq!(understood("title:\"a b\" TITLE:(c OR body:d)"), "(and title:\"a b\" (or title:c body:d))");
    assert_eq!(
        understood("site:A.org lang:en_US filetype:.PDF x"),
        "(and Tag(\"site=a.org\") Tag(\"lang=en-us\") Tag(\"type=pdf\") x)"
    );
    assert_eq!(understood("since:1970-01-02 until:1970"), "(and Since(86400000) Until(31536000000))");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (query, told) in [
        ("", "1: there is no word to look for"),
        ("  ... !", "1: there is no word to look for"),
        ("a \"b c", "3: this quotation mark is never closed"),
        ("a (b", "3: this bracket is never closed"),
        ("a) b", "2: this bracket was never opened"),
        ("a AND", "3: something must follow AND"),
        ("OR a", "1: something must stand before OR"),
        ("a OR", "3: something must follow OR"),
        ("a NOT", "3: something must follow NOT"),
        ("-aa", "1: it only says what to leave out; say what to look for, too, or * for every page"),
        ("b titel:a", "3: there is no field titel:, did you mean title:?"),
        ("sites:x", "1: there is no field sites:, did you mean site:?"),
        ("title: a", "1: what to look for must follow title: at once"),
        ("since:soon", "7: 'soon' is not a date; write it like 2026-11-15, 2026-11, 2026, or 7d for a week ago"),
    ] {
        assert_eq!(understood(query), format!("the query, at character {told}"), "{query}");
    }
    let other = understood("isbn:knuth");
    assert!(other.contains("only title: headings:") && other.contains("in quotation marks"), "{other}");
    assert!(understood(&"(".repeat(3_000)).contains("more than 200"));
    assert!(understood(&"-+".repeat(50)).contains("nested more than 30 deep"));
    assert!(understood(&"a".repeat(5_000)).contains("5000 characters"));
}

proptest! {
    #[test]
    fn any_text_is_understood_or_refused(query in "\\PC{0,120}") {
        let _ = parse(&query, Moment(0));
    }

    #[test]
    fn any_signs_are_understood_or_refused(query in "([a-c]|AND|OR|NOT|title:|since:|[-+()\"*~ ]){0,60}") {
        let _ = parse(&query, Moment(0));
    }
}
