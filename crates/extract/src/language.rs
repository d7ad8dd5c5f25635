//! Which language is it written in?
//!
//! Only for pages that do not declare one. whichlang's linear model over character n-grams is fast
//! and accurate, but knows sixteen languages and always answers with one of them. So the letters
//! are checked first: a text with letters that none of the sixteen uses goes to whatlang's
//! trigrams, which know seventy languages. So does a text in Latin letters that is not English,
//! because a language without letters of its own (Slovenian, Finnish) would pass for one of the
//! sixteen; there only a confident answer counts. Texts that are too short get no answer.

use whichlang::Lang;

/// How much of the text is examined, in bytes.
const SAMPLE: usize = 1_024;
/// Texts with fewer letters are too short.
const MIN_LETTERS: u32 = 40;
/// One foreign letter in this many rules out whichlang's languages.
const STRANGE: u32 = 100;
/// Minimum confidence of whatlang if whichlang cannot know the language.
const CONFIDENCE: f64 = 0.5;
/// Minimum confidence of whatlang to overrule whichlang.
const CERTAINTY: f64 = 0.99;

/// The language of a text as an ISO 639-1 code; `None` if it is too short to tell.
pub fn language(text: &str) -> Option<&'static str> {
    let mut end = SAMPLE.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = text.get(..end)?;
    let (mut letters, mut strange) = (0, 0);
    for c in sample.chars().filter(|c| c.is_alphabetic()) {
        letters += if c >= '\u{2E80}' { 3 } else { 1 };
        strange += u32::from(!c.is_ascii() && is_strange(c));
    }
    if letters < MIN_LETTERS {
        return None;
    }
    if strange * STRANGE >= letters {
        return beyond(sample, CONFIDENCE);
    }
    let first = whichlang::detect_language(sample);
    let doubtful =
        matches!(first, Lang::Deu | Lang::Fra | Lang::Ita | Lang::Nld | Lang::Por | Lang::Spa | Lang::Swe | Lang::Tur);
    let second = if doubtful { beyond(sample, CERTAINTY) } else { None };
    Some(second.unwrap_or_else(|| known(first)))
}

/// whatlang's answer, if it is confident enough.
fn beyond(sample: &str, confidence: f64) -> Option<&'static str> {
    let found = whatlang::detect(sample).filter(|i| i.confidence() >= confidence)?;
    two_letters(found.lang().code())
}

/// Whether none of whichlang's languages uses this letter, or hardly ever.
fn is_strange(c: char) -> bool {
    match u32::from(c) {
        0xC6 | 0xE6 | 0xD8 | 0xF8 | 0xD0 | 0xF0 | 0xDE | 0xFE => true,
        0x80..0x100 => false,
        0x100..0x250 => !"ĂăĐđĨĩŨũƠơƯưŒœŞşĞğİı".contains(c),
        0x400..0x530 => !matches!(c, 'А'..='щ' | 'ы'..='я' | 'Ё' | 'ё'),
        0x600..0x700 => "پچژگکیےٹڈ".contains(c),
        0x900..0x980 | 0x1E00..0x1F00 => false,
        0x250..0x1100 | 0x1200..0x2000 => true,
        _ => false,
    }
}

fn known(language: Lang) -> &'static str {
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

/// The languages whatlang knows, by their ISO 639-3 and 639-1 codes.
const CODES: &[(&str, &str)] = &[
    ("afr", "af"),
    ("aka", "ak"),
    ("amh", "am"),
    ("ara", "ar"),
    ("aze", "az"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("cym", "cy"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("guj", "gu"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("ind", "id"),
    ("ita", "it"),
    ("jav", "jv"),
    ("jpn", "ja"),
    ("kan", "kn"),
    ("kat", "ka"),
    ("khm", "km"),
    ("kor", "ko"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("mkd", "mk"),
    ("mya", "my"),
    ("nep", "ne"),
    ("nld", "nl"),
    ("nob", "nb"),
    ("ori", "or"),
    ("pan", "pa"),
    ("pes", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("sin", "si"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("sna", "sn"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tel", "te"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tuk", "tk"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
    ("yid", "yi"),
    ("zul", "zu"),
];

fn two_letters(code: &str) -> Option<&'static str> {
    CODES.iter().find(|(three, _)| *three == code).map(|&(_, two)| two)
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
            ("Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.", "vi"),
            ("Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.", "tr"),
        ] {
            assert_eq!(language(text), Some(code));
        }
    }

    #[test]
    fn languages_beyond_the_sixteen_are_told_too() {
        for (text, code) in [
            (
                "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice. Obdarjeni so z razumom in vestjo in bi morali ravnati drug z drugim kakor bratje.",
                "sl",
            ),
            (
                "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto.",
                "fi",
            ),
            (
                "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem.",
                "pl",
            ),
            (
                "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím.",
                "cs",
            ),
            (
                "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю.",
                "uk",
            ),
            ("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.", "el"),
            ("כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.", "he"),
            (
                "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek ésszel és lelkiismerettel bírnak.",
                "hu",
            ),
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

    #[test]
    fn every_language_that_can_be_found_has_a_code() {
        for lang in whatlang::Lang::all() {
            assert!(two_letters(lang.code()).is_some(), "{}", lang.code());
        }
    }
}
