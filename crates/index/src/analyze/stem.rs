//! Which words are forms of the same word?
//!
//! The Snowball stemmers, for the languages a project names. A page in such a language is indexed
//! by its stems only. A query searches for the word and its stems in all of these languages, since
//! a query does not say which language it is in.

use serde::{Deserialize, Serialize};
use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, TokenFilter as _};

macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// A language with a stemmer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum StemLanguage { $($(#[$doc])* #[serde(rename = $code)] $name,)* }

        impl StemLanguage {
            /// Its code, as in `lang`.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// The language with this code, if it has a stemmer.
            pub(crate) fn of(code: &str) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            fn snowball(self) -> Language {
                match self { $(Self::$name => Language::$name,)* }
            }
        }
    };
}

languages! {
    /// العربية
    Arabic = "ar",
    /// dansk
    Danish = "da",
    /// Nederlands
    Dutch = "nl",
    /// English
    English = "en",
    /// suomi
    Finnish = "fi",
    /// français
    French = "fr",
    /// Deutsch
    German = "de",
    /// ελληνικά
    Greek = "el",
    /// magyar
    Hungarian = "hu",
    /// italiano
    Italian = "it",
    /// norsk
    Norwegian = "no",
    /// português
    Portuguese = "pt",
    /// română
    Romanian = "ro",
    /// русский
    Russian = "ru",
    /// español
    Spanish = "es",
    /// svenska
    Swedish = "sv",
    /// தமிழ்
    Tamil = "ta",
    /// Türkçe
    Turkish = "tr",
}

impl StemLanguage {
    /// The stems of words, one for each.
    pub(crate) fn stems<'a>(self, words: impl Iterator<Item = &'a str>) -> Vec<String> {
        stems(self, words)
    }
}

/// The languages whose words are stemmed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stems(pub Vec<StemLanguage>);

impl Stems {
    /// The language of a page, if its words are to be stemmed.
    pub(crate) fn of(&self, lang: Option<&str>) -> Option<StemLanguage> {
        let lang = lang?;
        let primary = lang.split(['-', '_']).next().unwrap_or(lang);
        self.0.iter().copied().find(|language| language.code().eq_ignore_ascii_case(primary))
    }

    /// The distinct forms under which a query's word may be indexed: itself and its stems.
    pub(crate) fn forms(&self, word: &str) -> Vec<String> {
        let mut forms = vec![word.to_owned()];
        for language in &self.0 {
            let stem = stems(*language, std::iter::once(word)).pop();
            forms.extend(stem.filter(|stem| !stem.is_empty() && !forms.contains(stem)));
        }
        forms
    }
}

/// The stems of words, one for each.
pub(super) fn stems<'a>(language: StemLanguage, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut analyzer = TextAnalyzer::from(Stemmer::new(language.snowball()).transform(RawTokenizer::default()));
    words
        .map(|word| {
            let mut stem = String::new();
            analyzer.token_stream(word).process(&mut |token| stem.push_str(&token.text));
            stem
        })
        .collect()
}
