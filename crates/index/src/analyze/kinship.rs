//! Which words belong together although no rule says so?
//!
//! Pure tables for English: forms that no ending tells (`caught` of `catch`), and words that people
//! use for the same thing. Somebody who does not know a site asks in other words than it uses:
//! *folder* where it says *directory*. Only words that mean the same in texts of any kind are in
//! the tables, and none that is mostly a name.

/// Irregular forms, each line one word.
static FORMS: &[&[&str]] = &[
    &["analysis", "analyses"],
    &["axis", "axes"],
    &["begin", "began", "begun"],
    &["bind", "bound"],
    &["break", "broke", "broken"],
    &["bring", "brought"],
    &["build", "built"],
    &["buy", "bought"],
    &["catch", "caught"],
    &["child", "children"],
    &["choose", "chose", "chosen"],
    &["draw", "drew", "drawn"],
    &["drive", "drove", "driven"],
    &["find", "found"],
    &["forget", "forgot", "forgotten"],
    &["freeze", "froze", "frozen"],
    &["give", "gave", "given"],
    &["grow", "grew", "grown"],
    &["hide", "hid", "hidden"],
    &["hold", "held"],
    &["index", "indices"],
    &["keep", "kept"],
    &["know", "knew", "known"],
    &["life", "lives"],
    &["lose", "lost"],
    &["make", "made"],
    &["man", "men"],
    &["matrix", "matrices"],
    &["mouse", "mice"],
    &["pay", "paid"],
    &["person", "people"],
    &["run", "ran"],
    &["sell", "sold"],
    &["send", "sent"],
    &["speak", "spoke", "spoken"],
    &["spend", "spent"],
    &["take", "took", "taken"],
    &["teach", "taught"],
    &["tell", "told"],
    &["think", "thought"],
    &["throw", "threw", "thrown"],
    &["understand", "understood"],
    &["vertex", "vertices"],
    &["win", "won"],
    &["woman", "women"],
    &["write", "wrote", "written"],
];

/// Words for the same thing, each line one thing.
static SAME: &[&[&str]] = &[
    &["add", "append", "insert"],
    &["allow", "permit"],
    &["argument", "parameter"],
    &["begin", "start"],
    &["big", "large"],
    &["biggest", "greatest", "largest", "maximum"],
    &["broken", "corrupt", "damaged"],
    &["call", "invoke"],
    &["cancel", "kill", "terminate"],
    &["car", "automobile"],
    &["catch", "handle"],
    &["change", "modify"],
    &["check", "test", "verify"],
    &["choose", "select"],
    &["combine", "merge"],
    &["compute", "calculate"],
    &["concatenate", "join"],
    &["convert", "transform"],
    &["copy", "duplicate"],
    &["create", "make"],
    &["delete", "remove", "erase"],
    &["directory", "folder"],
    &["display", "show", "print"],
    &["doctor", "physician"],
    &["email", "mail"],
    &["empty", "blank"],
    &["end", "finish"],
    &["equal", "identical"],
    &["error", "exception"],
    &["execute", "run"],
    &["exit", "quit"],
    &["fast", "quick"],
    &["film", "movie"],
    &["find", "search"],
    &["forbid", "prevent", "prohibit"],
    &["function", "method"],
    &["image", "picture", "photo"],
    &["int", "integer"],
    &["iterate", "loop"],
    &["least", "minimum", "smallest"],
    &["length", "size"],
    &["multiple", "several"],
    &["obtain", "retrieve"],
    &["output", "print"],
    &["price", "cost"],
    &["raise", "throw"],
    &["replace", "substitute"],
    &["revert", "undo"],
    &["save", "store"],
    &["sleep", "wait"],
    &["split", "separate"],
    &["stop", "terminate"],
    &["string", "text"],
    &["sum", "total"],
];

/// Endings that are spelt in two ways: British and American.
static SPELLINGS: &[(&str, &str)] = &[
    ("cence", "cense"),
    ("isation", "ization"),
    ("ise", "ize"),
    ("ised", "ized"),
    ("iser", "izer"),
    ("ising", "izing"),
    ("our", "or"),
    ("oured", "ored"),
    ("ours", "ors"),
    ("tre", "ter"),
    ("yse", "yze"),
    ("ysed", "yzed"),
    ("yser", "yzer"),
    ("ysing", "yzing"),
];

/// Shorter words are different words: *four* is not *for*.
const SHORTEST_SPELT: usize = 5;

/// The other irregular forms of a word in a language.
pub(crate) fn irregular_forms<'w>(word: &'w str, lang: &str) -> impl Iterator<Item = &'static str> + use<'w> {
    others(FORMS, word, lang)
}

/// The other spelling of a word in a language, if it has one: British for American, and American
/// for British. Not every one it tells is a word.
pub(crate) fn other_spellings(word: &str, lang: &str) -> impl Iterator<Item = String> {
    let table = if lang == "en" && word.len() >= SHORTEST_SPELT { SPELLINGS } else { &[] };
    let both = table.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
    both.filter_map(|(from, to)| Some(format!("{}{to}", word.strip_suffix(from)?)))
}

/// Other words for the same thing in a language.
pub(crate) fn words_for_the_same<'w>(word: &'w str, lang: &str) -> impl Iterator<Item = &'static str> + use<'w> {
    others(SAME, word, lang)
}

fn others<'w>(
    table: &'static [&'static [&'static str]],
    word: &'w str,
    lang: &str,
) -> impl Iterator<Item = &'static str> + use<'w> {
    let table = if lang == "en" { table } else { &[] };
    let lines = table.iter().filter(move |line| line.contains(&word));
    lines.flat_map(|line| line.iter().copied()).filter(move |other| *other != word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_related_in_their_language_only() {
        assert_eq!(irregular_forms("caught", "en").collect::<Vec<_>>(), ["catch"]);
        assert_eq!(words_for_the_same("print", "en").collect::<Vec<_>>(), ["display", "show", "output"]);
        assert_eq!(words_for_the_same("print", "de").count() + irregular_forms("caught", "de").count(), 0);
        assert_eq!(words_for_the_same("zebra", "en").count(), 0);
    }

    #[test]
    fn a_word_may_be_spelt_in_two_ways() {
        let spelt = |word: &str, lang: &str| other_spellings(word, lang).collect::<Vec<_>>();
        assert_eq!(spelt("colour", "en"), ["color"]);
        assert_eq!(spelt("initialized", "en"), ["initialised"]);
        assert!(spelt("four", "en").is_empty() && spelt("colour", "de").is_empty());
    }

    #[test]
    fn the_tables_are_in_order_and_no_word_is_alone() {
        for table in [FORMS, SAME] {
            assert!(table.iter().all(|line| line.len() > 1));
            assert!(table.is_sorted_by_key(|line| line[0]));
        }
    }
}
