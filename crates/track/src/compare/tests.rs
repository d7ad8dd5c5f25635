use super::*;
use std::slice::from_ref;
use xxhash_rust::xxh3::xxh3_64;

/// A page whose lines are its blocks; those that begin with `#` are its main content, and those
/// that begin with `~` lie around it.
struct Plain<'a>(&'a str, &'a str);

impl Views for Plain<'_> {
    fn bytes(&self) -> &[u8] {
        self.1.as_bytes()
    }

    fn mime(&self) -> &str {
        self.0
    }

    fn is_text(&self) -> bool {
        self.0.starts_with("text/")
    }

    fn passage(&self, part: &ComparedPart<'_>) -> Passage {
        let lines = self.1.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
        let wanted = |l: &String| {
            !l.is_empty()
                && (!part.main || l.starts_with('#'))
                && (part.include.is_empty() || part.include.iter().any(|i| l.contains(i)))
                && !part.exclude.iter().any(|e| l.contains(e))
        };
        let block = |l: String| Block { around: part.mark_around && l.starts_with('~'), ..Block::line(l, &"p".into()) };
        let blocks: Vec<Block> = lines.filter(wanted).map(block).collect();
        Passage { matched: part.include.is_empty() || !blocks.is_empty(), blocks, note: None }
    }

    fn simhash(&self, text: &str) -> u64 {
        // One bit per word, so that distances are predictable.
        text.split_whitespace().fold(0, |bits, word| bits | 1 << (xxh3_64(word.as_bytes()) % 64))
    }
}

fn comparison(rules: &[CompareRule]) -> Comparison {
    Comparison::new(rules, AroundRule::Ignore).unwrap()
}

#[track_caller]
fn judged(rules: &[CompareRule], old: &str, new: &str) -> CompareJudgement {
    let new = Plain("text/html", new);
    comparison(rules).judge("http://h.test/news/1", &Plain("text/html", old), &new, Some(&new), &Noise::new())
}

fn is_changed(judgement: &CompareJudgement) -> bool {
    matches!(judgement, CompareJudgement::Changed { .. })
}

fn texts(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

#[test]
fn without_a_rule_the_text_of_texts_and_the_bytes_of_others_are_compared() {
    assert_eq!(judged(&[], "a  b\n\nc", "a b\nc"), CompareJudgement::Same);
    let CompareJudgement::Changed { detail } = judged(&[], "a b\nc", "a b\nd") else { panic!("the same") };
    assert_eq!(detail, "1 changed; p: \"c\" became \"d\"");
    let none = comparison(&[]);
    let judge = |old: Plain<'_>, new: Plain<'_>| none.judge("http://h.test/", &old, &new, None, &Noise::new());
    let said = judge(Plain("image/png", "a  b"), Plain("image/png", "a b"));
    assert_eq!(said, CompareJudgement::Changed { detail: "4 bytes became 3".into() });
    let said = judge(Plain("image/png", "ab"), Plain("image/png", "ac"));
    assert_eq!(said, CompareJudgement::Changed { detail: "the bytes differ from number 1 on".into() });
    let said = judge(Plain("text/html", "ab"), Plain("image/png", "ab"));
    assert_eq!(said, CompareJudgement::Same, "the same bytes say the same, whatever they are called");
    assert_eq!(judge(Plain("text/html", "a"), Plain("text/html", "b")), CompareJudgement::AskAgain);
}

#[test]
fn the_first_rule_whose_pattern_fits_decides() {
    let news = CompareRule { matches: Some("/news/".into()), by: Some(CompareBy::Main), ..CompareRule::default() };
    let bytes = CompareRule { by: Some(CompareBy::Bytes), ..CompareRule::default() };
    assert_eq!(judged(&[news.clone(), bytes.clone()], "# main\nx", "# main\ny"), CompareJudgement::Same);
    assert!(is_changed(&judged(&[bytes, news.clone()], "# main\nx", "# main\ny")));
    let elsewhere = CompareRule { matches: Some("/olds/".into()), ..news };
    assert!(is_changed(&judged(&[elsewhere], "# main\nx", "# main\ny")));
}

#[test]
fn parts_are_chosen_and_left_out_and_a_choice_of_nothing_is_told() {
    let select = CompareRule { by: Some(CompareBy::Selector), include: texts("news"), ..CompareRule::default() };
    assert_eq!(judged(from_ref(&select), "news a\nx", "news a\ny"), CompareJudgement::Same);
    assert!(is_changed(&judged(from_ref(&select), "news a\nx", "news b\nx")));
    let gone = judged(from_ref(&select), "news a", "other");
    assert_eq!(gone, CompareJudgement::Changed { detail: "nothing matches news any more".into() });
    let CompareJudgement::Failed(why) = judged(from_ref(&select), "x", "y") else { panic!() };
    assert_eq!(why, "[[track.compare]] number 1: nothing on the page matches include = news");
    let without = CompareRule { exclude: texts("views"), ..CompareRule::default() };
    assert_eq!(judged(&[without], "a\n10 views", "a\n11 views"), CompareJudgement::Same);
}

#[test]
fn what_is_ignored_makes_no_difference_and_the_rest_of_its_block_does() {
    let rule = CompareRule { ignore: vec![r"\d+ views".into(), "^Ad:.*".into()], ..CompareRule::default() };
    assert_eq!(judged(from_ref(&rule), "It has 10 views now", "It has 1234 views now"), CompareJudgement::Same);
    assert_eq!(judged(from_ref(&rule), "a\nAd: x\nb", "a\nb"), CompareJudgement::Same);
    assert!(is_changed(&judged(&[rule], "It has 10 views now", "It had 10 views now")));
}

#[test]
fn texts_that_are_similar_enough_are_the_same() {
    let rule = |similarity| CompareRule { similarity: Some(similarity), ..CompareRule::default() };
    let (old, new) = ("a b c d e", "a b c d f");
    assert!(is_changed(&judged(&[rule(0)], old, new)));
    assert_eq!(judged(&[rule(2)], old, new), CompareJudgement::Same);
}

#[test]
fn a_program_decides_and_its_failure_is_said_of_the_page() {
    let script = "import json,sys\nfor l in sys.stdin:\n    q = json.loads(l)\n    assert 'boom' not in q['new']\n    \
        print(json.dumps({'id': q['id'], 'same': len(q['old']) == len(q['new']), 'detail': q['by'] + ' ' + q['new']}), flush=True)";
    let program = vec!["python3".to_owned(), "-c".to_owned(), script.to_owned()];
    let rule = CompareRule { program, ..CompareRule::default() };
    assert_eq!(judged(from_ref(&rule), "aa", "bb"), CompareJudgement::Same);
    assert_eq!(judged(from_ref(&rule), "aa", "bbb"), CompareJudgement::Changed { detail: "text bbb".into() });
    let bytes = CompareRule { by: Some(CompareBy::Bytes), ..rule.clone() };
    assert_eq!(judged(&[bytes], "aa", "bbbb"), CompareJudgement::Changed { detail: "bytes YmJiYg==".into() });
    let CompareJudgement::Failed(why) = judged(&[rule], "aa", "boom") else { panic!("not failed") };
    assert!(why.contains("AssertionError"), "{why}");
}

#[test]
fn a_page_taught_twice_needs_no_second_look_later() {
    let noise = Noise::new();
    let all = comparison(&[]);
    for n in 0..20 {
        let (one, other) = (format!("Page {n}\nVisits: {n}1"), format!("Page {n}\nVisits: {n}2"));
        all.learn(&format!("http://h.test/{n}"), &Plain("text/html", &one), &Plain("text/html", &other), &noise);
    }
    assert!(!noise.is_young() && noise.learnt() == 20);
    let (old, new) = (Plain("text/html", "Other\nVisits: 3"), Plain("text/html", "Other\nVisits: 17"));
    assert_eq!(all.judge("http://h.test/other", &old, &new, None, &noise), CompareJudgement::Same);
}

#[test]
fn an_answer_that_is_its_own_second_decides_and_teaches_nothing() {
    let noise = Noise::new();
    let (old, new, broken) = (Plain("text/html", "a"), Plain("text/html", "b"), Plain("image/png", "c"));
    for again in [&new, &broken] {
        let said = comparison(&[]).judge("http://h.test/", &old, &new, Some(again), &noise);
        assert!(is_changed(&said), "{said:?}");
    }
    assert_eq!(noise.learnt(), 0);
}

#[test]
fn what_changed_around_the_main_content_is_a_change_only_where_somebody_said_so() {
    let (old, new) = ("a b\n~ ad one", "a b\n~ ad two");
    let around = CompareJudgement::Around { detail: "1 changed; p: \"~ ad one\" became \"~ ad two\"".into() };
    assert_eq!(judged(&[], old, new), around);
    let ignore = CompareRule { ignore: texts("a"), ..CompareRule::default() };
    assert!(matches!(judged(&[ignore], old, new), CompareJudgement::Around { .. }));
    let detail = |said| if let CompareJudgement::Changed { detail } = said { detail } else { panic!("{said:?}") };
    // The detail of a change is about the change.
    assert_eq!(detail(judged(&[], "a b\n~ ad one", "a c\n~ ad two")), "1 changed; p: \"a b\" became \"a c\"");
    let rules = [
        CompareRule { by: Some(CompareBy::Text), ..CompareRule::default() },
        CompareRule { include: texts("a"), ..CompareRule::default() },
        CompareRule { similarity: Some(0), ..CompareRule::default() },
    ];
    for rule in rules {
        assert!(is_changed(&judged(from_ref(&rule), old, new)), "{rule:?}");
    }
    let (old, new) = (Plain("text/html", old), Plain("text/html", new));
    let strict = Comparison::new(&[], AroundRule::Change).unwrap();
    assert!(is_changed(&strict.judge("http://h.test/", &old, &new, Some(&new), &Noise::new())));
    assert_eq!(strict.judge("http://h.test/", &old, &new, None, &Noise::new()), CompareJudgement::AskAgain);
}
