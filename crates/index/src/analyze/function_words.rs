//! Which words only hold others together?
//!
//! Articles, prepositions, conjunctions and the like stand on every page of their language and say
//! nothing of any, so that a snippet is not chosen by them and does not mark them. The lists are
//! short on purpose: what could be a name or a thing in its language is not in them. Words are as
//! [`super::words`] cuts them: in lower case and without accents.

/// The language and its function words.
static WORDS: &[(&str, &[&str])] = &[
    (
        "en",
        &[
            "a", "an", "and", "are", "as", "at", "be", "been", "by", "could", "did", "do", "does", "for", "from",
            "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my",
            "not", "of", "on", "or", "our", "she", "should", "so", "than", "that", "the", "their", "them", "then",
            "there", "these", "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where",
            "which", "who", "whose", "why", "with", "would", "you", "your",
        ],
    ),
    (
        "de",
        &[
            "als", "am", "an", "auf", "aus", "bei", "das", "dem", "den", "der", "des", "die", "durch", "ein", "eine",
            "einem", "einen", "einer", "eines", "er", "es", "fur", "ich", "im", "in", "ist", "mit", "oder", "sich",
            "sie", "sind", "um", "und", "uber", "vom", "von", "war", "was", "wer", "wie", "wo", "zu", "zum", "zur",
        ],
    ),
    (
        "fr",
        &[
            "a", "au", "aux", "avec", "ce", "ces", "cette", "comment", "d", "dans", "de", "des", "du", "elle", "en",
            "est", "et", "il", "je", "l", "la", "le", "les", "ou", "par", "pour", "qu", "que", "qui", "sa", "se",
            "ses", "son", "sont", "sur", "un", "une",
        ],
    ),
    (
        "es",
        &[
            "a", "al", "como", "con", "de", "del", "e", "el", "en", "es", "la", "las", "lo", "los", "o", "para", "por",
            "que", "se", "su", "sus", "un", "una", "y",
        ],
    ),
    (
        "it",
        &[
            "a", "al", "alla", "che", "come", "con", "da", "dal", "de", "dei", "del", "della", "di", "e", "gli", "i",
            "il", "in", "la", "le", "lo", "nel", "nella", "o", "per", "si", "su", "un", "una",
        ],
    ),
    (
        "nl",
        &[
            "aan", "als", "bij", "dat", "de", "den", "der", "die", "dit", "door", "een", "en", "er", "het", "hoe",
            "in", "is", "met", "naar", "of", "om", "op", "te", "tot", "uit", "van", "voor", "wat", "zijn",
        ],
    ),
    (
        "pt",
        &[
            "a", "ao", "aos", "as", "com", "como", "da", "das", "de", "do", "dos", "e", "em", "na", "nas", "no", "nos",
            "o", "os", "para", "por", "que", "se", "um", "uma",
        ],
    ),
];

/// Words that begin a question, and verbs that only ask for an answer, by language: in "how do I
/// get the size of a file" *get* says little, in "get request" it says much.
static QUESTIONS: &[(&str, &[&str], &[&str])] = &[(
    "en",
    &[
        "am", "are", "can", "could", "did", "does", "how", "i", "is", "may", "should", "what", "when", "where",
        "which", "who", "why", "will",
    ],
    &[
        "able",
        "actually",
        "any",
        "anything",
        "best",
        "can",
        "difference",
        "find",
        "get",
        "getting",
        "happen",
        "happens",
        "know",
        "make",
        "many",
        "mean",
        "means",
        "much",
        "need",
        "possible",
        "see",
        "some",
        "somebody",
        "someone",
        "something",
        "thing",
        "things",
        "try",
        "trying",
        "use",
        "using",
        "want",
        "way",
        "will",
        "work",
        "works",
    ],
)];

/// How contracted words end, by language: with something that says nothing.
static CONTRACTIONS: &[(&str, &[&str])] = &[("en", &["'s", "'re", "'ve", "'ll", "'d", "'m", "n't"])];

/// What is left of some words that change when they are contracted: of `can't`, of `won't`.
static IRREGULAR: &[(&str, &str)] = &[("ca", "can"), ("wo", "will")];

/// A word without the one that is contracted with it: `what` for `what's`, `do` for `don't`.
pub(crate) fn without_contraction<'t>(text: &'t str, lang: &str) -> &'t str {
    let endings = CONTRACTIONS.iter().filter(|(code, _)| *code == lang).flat_map(|(_, endings)| *endings);
    let apart = |ending: &&str| {
        let word = text.trim_end_matches(['?', '!', '.', ',']);
        let at = word.char_indices().rev().nth(ending.len() - 1)?.0;
        let (before, end) = word.split_at(at);
        let is_same = end.replace('’', "'").eq_ignore_ascii_case(ending);
        (is_same && before.chars().all(char::is_alphabetic) && !before.is_empty()).then_some(before)
    };
    let full = endings.copied().find_map(|ending| apart(&ending)).unwrap_or(text);
    IRREGULAR
        .iter()
        .find(|(before, _)| full.eq_ignore_ascii_case(before) && full != text)
        .map_or(full, |(_, word)| word)
}

/// Whether a word begins a question in a language.
pub(crate) fn begins_question(word: &str, lang: &str) -> bool {
    QUESTIONS.iter().any(|(code, begins, _)| *code == lang && begins.contains(&word))
}

/// Whether a word says little within a question.
pub(crate) fn is_light_in_question(word: &str, lang: &str) -> bool {
    QUESTIONS.iter().any(|(code, _, light)| *code == lang && light.contains(&word))
}

/// Whether a word is a function word in a language, given as a page gives it (`en`, `de-AT`); in
/// English where it does not.
pub(crate) fn is_function_word(word: &str, lang: Option<&str>) -> bool {
    let lang = lang.unwrap_or("en");
    let primary = lang.split(['-', '_']).next().unwrap_or(lang);
    let of = WORDS.iter().find(|(code, _)| code.eq_ignore_ascii_case(primary));
    of.is_some_and(|(_, words)| words.contains(&word))
}
