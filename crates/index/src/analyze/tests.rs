#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::*;
use proptest::prelude::*;

fn cut(text: &str) -> String {
    words(text).into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_are_runs_of_letters_and_digits_in_lower_case() {
    assert_eq!(cut("Hello, World! It's 2026-11-15."), "hello world it s 2026 11 15");
    assert_eq!(cut(""), "");
    assert_eq!(cut(" \t… — ¿? "), "");
}

#[test]
fn identifiers_are_their_parts_in_a_row() {
    assert_eq!(cut("v.push_back(std::vector<int>{}); json.load(f)"), "v push back std vector int json load f");
    assert_eq!(cut("C++ and c#, F#; i++; operator++ C++17 c+ a#b"), "c++ and c# f# i++ operator c 17 c a b");
}

#[test]
fn accents_and_wide_forms_fold_to_plain_letters() {
    assert_eq!(
        cut("Müller Straße ŁÓDŹ Ægir cœur Þór Việt ＡＢＣ１２"),
        "muller strasse lodz aegir coeur thor viet abc12"
    );
    assert_eq!(cut("cafe\u{301} co\u{ad}operate ΣΊΣΥΦΟΣ сЪЁМ"), "cafe cooperate σίσυφοσ съём");
}

#[test]
fn scripts_without_parted_words_are_cut_into_pairs() {
    assert_eq!(cut("東京都"), "東京 京都 都");
    assert_eq!(cut("日本の首都。Python入門"), "日本 本の の首 首都 都 python 入門 門");
    assert_eq!(cut("한국어 말"), "한국 국어 어 말");
    assert_eq!(cut("猫"), "猫");
}

#[test]
fn indic_words_stay_whole() {
    assert_eq!(words("हिन्दी भाषा").len(), 2);
}

#[test]
fn a_word_stands_where_it_says() {
    let text = "ab Çd 東京 x";
    let cut: Vec<&str> = words(text).iter().map(|w| &text[w.from..w.to]).collect();
    assert_eq!(cut, ["ab", "Çd", "東京", "京", "x"]);
}

#[test]
fn an_endless_word_is_known_by_its_beginning() {
    let long = "a".repeat(1_000_000);
    assert_eq!(words(&long), [IndexToken { text: "a".repeat(LONGEST), from: 0, to: 1_000_000 }]);
    let wide = "é".repeat(100_000);
    assert!(words(&wide)[0].text.len() <= LONGEST);
}

#[test]
fn an_offset_of_a_text_is_found_among_its_tokens() {
    let text = "one two\nSchöne drei\n東京 fünf\nfive";
    let offsets: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at)).collect();
    let (cut, positions) = TokenizedText::with_positions(text, &[offsets, vec![text.len(), 9_999]].concat());
    assert_eq!(positions, [0, 2, 4, 7, 8, 8]);
    assert_eq!(cut.len(), 8);
}

#[test]
fn stems_stand_where_their_words_stood() {
    let cut = TokenizedText::of("Running dogs, running").stemmed(StemLanguage::English);
    assert_eq!(cut.words().collect::<Vec<_>>(), ["run", "dog", "run"]);
    let stems = Stems(vec![StemLanguage::English, StemLanguage::German]);
    assert_eq!(stems.forms("running"), ["running", "run"]);
    assert_eq!(stems.of(Some("en-GB")), Some(StemLanguage::English));
    assert_eq!(stems.of(Some("fr")), None);
}

proptest! {
    #[test]
    fn a_text_is_carried_word_by_word(text in "[a-zA-Zäöüß東京0-9_+#. -]{0,200}") {
        let cut = TokenizedText::of(&text);
        let expected: Vec<String> = words(&text).into_iter().map(|word| word.text).collect();
        prop_assert_eq!(cut.words().collect::<Vec<_>>(), expected.clone());
        let mut at = 0;
        cut.each(|word, first| {
            assert_eq!(word, expected[at].as_bytes());
            assert!(first.to_le_bytes().starts_with(&word[..word.len().min(8)]));
            at += 1;
        });
        prop_assert_eq!(at, expected.len());
    }

    #[test]
    fn any_text_is_cut_without_panic_and_in_order(text in "\\PC{0,200}") {
        let words = words(&text);
        for pair in words.windows(2) {
            prop_assert!(pair[0].from < pair[1].from);
        }
        for word in &words {
            prop_assert!(!word.text.is_empty() && word.text.len() <= LONGEST + 8);
            prop_assert!(text.get(word.from..word.to).is_some());
        }
    }

    #[test]
    fn a_word_cut_again_is_the_same_word(text in "[a-zA-Zäöüß0-9_+#. -]{0,80}") {
        for word in words(&text) {
            let again: Vec<String> = words(&word.text).into_iter().map(|w| w.text).collect();
            prop_assert_eq!(again, vec![word.text.clone()]);
        }
    }
}
