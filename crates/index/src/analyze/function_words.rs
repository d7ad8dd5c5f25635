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
    &["how", "what", "where", "which", "who", "why", "when", "can", "does", "is"],
    &[
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
        "mean",
        "means",
        "need",
        "possible",
        "some",
        "use",
        "using",
        "want",
        "way",
    ],
)];

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
