//! Do two texts differ only in how often something was seen, or in how long ago it was?
//!
//! Such a line may stand within an article ("By Ann, 513 views, 3 comments, 2 hours ago"). It
//! differs from day to day and not from one response to the next, so a second response does not
//! show it, and its place does not either. What does is the word beside the number. Any other
//! number is content: a price, a date, a result.

/// Texts are not longer than this, in bytes, and have no more other words: "the fair drew 500
/// visitors" is news.
const LONGEST: usize = 300;
const MOST_WORDS: usize = 8;

/// Words for what is counted, in lower case.
const COUNTED: &[&str] = &[
    "view",
    "views",
    "visit",
    "visits",
    "visitor",
    "visitors",
    "hits",
    "clicks",
    "reads",
    "readers",
    "comment",
    "comments",
    "reply",
    "replies",
    "like",
    "likes",
    "follower",
    "followers",
    "subscribers",
    "favorites",
    "favourites",
    "reactions",
    "online",
    "plays",
    "aufruf",
    "aufrufe",
    "besucher",
    "besuche",
    "zugriffe",
    "klicks",
    "leser",
    "kommentar",
    "kommentare",
    "antworten",
    "vue",
    "vues",
    "visite",
    "visites",
    "visiteurs",
    "commentaire",
    "commentaires",
    "vistas",
    "visita",
    "visitas",
    "comentario",
    "comentarios",
    "comentário",
    "comentários",
    "lecturas",
    "visualizzazioni",
    "visualizações",
    "visitatori",
    "commento",
    "commenti",
    "letture",
    "weergaven",
    "bezoekers",
    "reacties",
    "visningar",
    "kommentarer",
    "wyświetleń",
    "odsłon",
    "komentarzy",
    "komentarze",
    "просмотр",
    "просмотра",
    "просмотров",
    "комментарий",
    "комментария",
    "комментариев",
    "次",
    "浏览",
    "阅读",
    "评论",
    "閲覧",
];
/// Units of time.
const UNITS: &[&str] = &[
    "second", "seconds", "sec", "minute", "minutes", "min", "mins", "hour", "hours", "day", "days", "week", "weeks",
    "month", "months", "year", "years", "sekunden", "minuten", "stunde", "stunden", "tag", "tagen", "woche", "wochen",
    "monat", "monaten", "jahr", "jahren", "heure", "heures", "jour", "jours", "semaine", "semaines", "mois", "hora",
    "horas", "minuto", "minutos", "día", "días", "semana", "semanas", "mes", "meses",
];
/// Words that make a time of it that has passed: behind the unit, or before the number.
const PASSED: &[&str] = &["ago", "atrás"];
const SINCE: &[&str] = &["vor", "a", "hace", "há"];

/// A part of a text, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CounterToken<'a> {
    Number(&'a str),
    Counted,
    Unit,
    Word(&'a str),
    Sign(&'a str),
}

/// Words in the names of elements that hold nothing but such a number, and words that make others
/// of it: a `product-view` or `vote` may hold anything, a `view-count` does not.
const NAMES: &[&str] = &["views", "hits", "visits", "visitors", "likes", "followers", "comments"];
const KINDS: &[&str] = &["view", "vote", "votes", "like", "hit", "visit", "comment", "share", "follower", "reader"];
const COUNTS: &[&str] = &["count", "counts", "counter", "number", "num", "total"];

/// Whether two texts that stand at this place differ in counters alone.
pub(super) fn is_counter(place: &str, old: &str, new: &str) -> bool {
    if old.len() > LONGEST || new.len() > LONGEST || old == new {
        return false;
    }
    let (old, new) = (tokens(old), tokens(new));
    let pairs = || old.iter().zip(&new);
    if let ([CounterToken::Number(_)], [CounterToken::Number(_)]) = (&*old, &*new) {
        return holds_counter(place);
    }
    old.len() == new.len()
        && !is_sentence(&new)
        && pairs().all(|(a, b)| a == b || matches!((a, b), (CounterToken::Number(_), CounterToken::Number(_))))
        && pairs().enumerate().all(|(at, (a, b))| a == b || (counts(&old, at) && counts(&new, at)))
}

/// Whether a line says something, rather than what is known about the text beside it.
fn is_sentence(tokens: &[CounterToken<'_>]) -> bool {
    let words = tokens.iter().filter(|token| matches!(token, CounterToken::Word(_))).count();
    words > MOST_WORDS || matches!(tokens.last(), Some(CounterToken::Sign("." | "!" | "?" | "。")))
}

/// Whether a number that stands alone counts something, by the names of its element.
fn holds_counter(place: &str) -> bool {
    let place = place.to_lowercase();
    let has = |words: &[&str]| place.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word));
    has(NAMES) || (has(KINDS) && has(COUNTS))
}

/// Whether the number at this place counts something, or the time since.
fn counts(tokens: &[CounterToken<'_>], at: usize) -> bool {
    let here = |i: Option<usize>| i.and_then(|i| tokens.get(i)).copied();
    let (before, next) = (here(at.checked_sub(1)), here(at.checked_add(1)));
    let is_word = |token: Option<CounterToken<'_>>, words: &[&str]| matches!(token, Some(CounterToken::Word(word)) if words.contains(&word.to_lowercase().as_str()));
    let is_label = || match before {
        Some(CounterToken::Sign(":" | "：" | "(")) => here(at.checked_sub(2)) == Some(CounterToken::Counted),
        before => before == Some(CounterToken::Counted) && !matches!(next, Some(CounterToken::Word(_))),
    };
    let has_passed =
        || next == Some(CounterToken::Unit) && (is_word(here(at.checked_add(2)), PASSED) || is_word(before, SINCE));
    next == Some(CounterToken::Counted) || is_label() || has_passed()
}

/// Numbers, with the points and commas in them, words, and signs.
fn tokens(text: &str) -> Vec<CounterToken<'_>> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_digit = |c: char| c.is_ascii_digit();
        let end = |is_end: &dyn Fn(char) -> bool| rest.find(|c: char| is_end(c)).unwrap_or(rest.len());
        let length = match first {
            c if is_digit(c) => {
                let number = rest.get(..end(&|c| !is_digit(c) && !matches!(c, '.' | ','))).unwrap_or("");
                number.trim_end_matches(['.', ',']).len()
            }
            c if c.is_alphabetic() => end(&|c| !c.is_alphabetic()),
            c => c.len_utf8(),
        };
        let (part, after) = rest.split_at_checked(length.max(1)).unwrap_or((rest, ""));
        let low = part.to_lowercase();
        out.push(match first {
            c if is_digit(c) => CounterToken::Number(part),
            _ if COUNTED.contains(&low.as_str()) => CounterToken::Counted,
            _ if UNITS.contains(&low.as_str()) => CounterToken::Unit,
            c if c.is_alphabetic() => CounterToken::Word(part),
            _ => CounterToken::Sign(part),
        });
        rest = after.trim_start();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beside_words_for_counting_are_counters() {
        for (old, new) in [
            ("By Ann Lee 513 views 0 comments", "By Ann Lee 1,526 views 1 comment"),
            ("Views: 99", "Views: 100"),
            ("Aufrufe: 99 | Kommentare: 1", "Aufrufe: 100 | Kommentare: 2"),
            ("Posted 3 hours ago", "Posted 1 day ago"),
            ("vor 3 Stunden", "vor 1 Tag"),
            ("Comments (3)", "Comments (4)"),
            ("阅读 31 次", "阅读 42 次"),
        ] {
            assert!(is_counter("div.meta", old, new), "{old} / {new}");
        }
        for place in ["div.vote-count", "span.views", "div#comments_total span"] {
            assert!(is_counter(place, "12", "13"), "{place}");
        }
        for place in ["span.price", "div.product-view span", "td.overview", "div.reviews", "td.votes", "p"] {
            assert!(!is_counter(place, "12", "13"), "{place}");
        }
    }

    #[test]
    fn all_other_numbers_are_content() {
        for (old, new) in [
            ("Lamp 12,99 €", "Lamp 12,49 €"),
            ("By Ann Lee 513 views", "By Bob Lee 526 views"),
            ("It was 3 days", "It was 4 days"),
            ("The fair drew 500 visitors.", "The fair drew 700 visitors."),
            ("Sleeps 4 guests", "Sleeps 6 guests"),
            ("Outstanding: 1,000 shares", "Outstanding: 1,200 shares"),
            ("12 dead", "13 dead"),
            ("On page 4 views differ", "On page 5 visits differ greatly"),
            ("Return within 14 days", "Return within 30 days"),
            ("3 views", "3 views"),
            ("Version 1.2", "Version 1.3"),
            ("Comments", "3 Comments"),
            ("12", "13"),
        ] {
            assert!(!is_counter("div.meta", old, new), "{old} / {new}");
        }
    }
}
