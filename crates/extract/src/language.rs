//! In which language is it written?
//!
//! Asked only of pages that do not say: whichlang's linear model over character n-grams, on the beginning of the text. It knows
//! sixteen languages and always answers with one of them, so a text too short to tell gets no answer.

use whichlang::Lang;

/// How much of the text is looked at, in bytes.
const SAMPLE: usize = 1_024;
/// A text with fewer letters than this does not tell.
const MIN_LETTERS: usize = 40;

/// The language of a text by its ISO 639-1 code; `None` where it is too short to tell.
pub fn language(text: &str) -> Option<&'static str> {
    let mut end = SAMPLE.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = text.get(..end)?;
    let letters: usize =
        sample.chars().filter(|c| c.is_alphabetic()).map(|c| if c >= '\u{2E80}' { 3 } else { 1 }).sum();
    (letters >= MIN_LETTERS).then(|| code(whichlang::detect_language(sample)))
}

fn code(language: Lang) -> &'static str {
    match language {
        Lang::Ara => "ar",
        Lang::Cmn => "zh",
        Lang::Deu => "de",
        Lang::Eng => "en",
        Lang::Fra => "fr",
        Lang::Hin => "hi",
        Lang::Ita => "it",
        Lang::Jpn => "ja",
        Lang::Kor => "ko",
        Lang::Nld => "nl",
        Lang::Por => "pt",
        Lang::Rus => "ru",
        Lang::Spa => "es",
        Lang::Swe => "sv",
        Lang::Tur => "tr",
        Lang::Vie => "vi",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for (text, code) in [
            ("All human beings are born free and equal in dignity and rights.", "en"),
            ("Alle Menschen sind frei und gleich an Würde und Rechten geboren.", "de"),
            ("Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.", "it"),
            ("Все люди рождаются свободными и равными в своём достоинстве и правах.", "ru"),
            ("すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。", "ja"),
        ] {
            assert_eq!(language(text), Some(code));
        }
    }

    #[test]
    fn a_short_text_does_not_tell() {
        assert_eq!(language("OK"), None);
        assert_eq!(language(""), None);
        assert_eq!(language(&"1234567890 ".repeat(100)), None);
    }
}
