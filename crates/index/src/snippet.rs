//! Which lines of a page show that it matches?
//!
//! The window of about [`WIDTH`] characters with the most query terms, each counted once at full
//! weight and repetitions at little, found in one pass over the text. Tokens are compared in their
//! indexed form, so `Straße` is highlighted for `strasse`. Function words such as `to` and `a`
//! count only within a phrase, or if the query has nothing else.

use crate::analyze::{Cutter, Stems, is_function_word, up_to, words};
use crate::query::{How, Node};
use std::collections::HashMap;
use std::ops::Range;

/// Approximate maximum length of a snippet in characters.
const WIDTH: usize = 240;

/// What many generators put behind a heading as a link to it.
const PILCROW: char = '¶';

/// How much of a text is examined, in bytes.
const LOOKED_AT: usize = 1_000_000;

/// Finds query terms in texts.
#[derive(Clone, Debug, Default)]
pub struct Marker {
    wanted: Vec<WantedTerm>,
    /// For each, the word if it may be a function word that is not highlighted.
    loose: Vec<Option<String>>,
}

#[derive(Clone, Debug, PartialEq)]
enum WantedTerm {
    /// A word, or what begins with one of its stems.
    Word(Vec<String>),
    /// One of these words.
    Any(Vec<String>),
    Beginning(String),
    Nearly(Vec<char>, usize),
}

/// An excerpt of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The excerpt, with white space collapsed.
    pub text: String,
    /// Character ranges of the query terms in it.
    pub marks: Vec<(usize, usize)>,
}

/// An occurrence of a query term: its range, and which term.
struct TermMatch {
    from: usize,
    to: usize,
    which: usize,
}

impl Marker {
    /// A marker for the terms of a query, some of which have other forms.
    pub(crate) fn of(node: &Node, stems: &Stems, forms: &HashMap<String, Vec<(String, f32)>>) -> Self {
        let mut marker = Self::default();
        marker.gather(node, stems, forms);
        marker
    }

    fn gather(&mut self, node: &Node, stems: &Stems, forms: &HashMap<String, Vec<(String, f32)>>) {
        match node {
            Node::And(nodes) | Node::Or(nodes) => nodes.iter().for_each(|node| self.gather(node, stems, forms)),
            Node::Leaf(leaf) => {
                let cut = words(&leaf.text);
                let is_single = cut.len() == 1;
                for word in cut {
                    let loose = (leaf.how == How::Exactly).then(|| word.text.clone());
                    let others = forms.get(&word.text).filter(|others| is_single && !others.is_empty());
                    let wanted = match (leaf.how, others) {
                        (How::Exactly, Some(others)) => {
                            let others = others.iter().map(|(form, _)| form.clone());
                            WantedTerm::Any(std::iter::once(word.text).chain(others).collect())
                        }
                        _ => wanted_term(leaf.how, word.text, stems),
                    };
                    match self.wanted.iter().position(|known| *known == wanted) {
                        Some(known) if leaf.how == How::Phrase => self.loose[known] = None,
                        Some(_) => {}
                        None => {
                            self.wanted.push(wanted);
                            self.loose.push(loose);
                        }
                    }
                }
            }
            Node::Not(_) | Node::All | Node::Filter(_) => {}
        }
    }

    /// The excerpt that shows the query best; the beginning of the text if nothing matches. `lang`
    /// is the language of the text, if known.
    pub fn snippet(&self, text: &str, lang: Option<&str>) -> Snippet {
        let text = up_to(text, LOOKED_AT);
        let mut found = self.find(text);
        let counts = self.counting(lang);
        found.retain(|one| counts[one.which]);
        let (from, to) = window(text, &best(&found, self.wanted.len()));
        cut(text, from, to, &found)
    }

    fn find(&self, text: &str) -> Vec<TermMatch> {
        let begins = self.beginnings();
        let (mut out, mut at, mut word) = (Vec::new(), 0, String::new());
        while let Some(piece) = promising(text, at, &begins) {
            at = piece.end;
            let mut cutter = Cutter::new(&text[piece.clone()]);
            while let Some((from, to)) = cutter.next_into(&mut word) {
                let which = self.wanted.iter().position(|wanted| wanted.is(&word));
                out.extend(which.map(|which| TermMatch { from: piece.start + from, to: piece.start + to, which }));
                word.clear();
            }
        }
        out
    }

    /// Which query terms count in a language: all but its function words, or all if there are no
    /// others.
    fn counting(&self, lang: Option<&str>) -> Vec<bool> {
        let counts = |loose: &Option<String>| !loose.as_deref().is_some_and(|word| is_function_word(word, lang));
        let counting: Vec<bool> = self.loose.iter().map(counts).collect();
        if counting.contains(&true) { counting } else { vec![true; counting.len()] }
    }

    /// The ASCII bytes with which a query term can begin in a text.
    fn beginnings(&self) -> [bool; 256] {
        let mut begins = [false; 256];
        let mut mark = |word: &str| {
            if let Some(first) = word.bytes().next() {
                begins[usize::from(first)] = true;
                begins[usize::from(first.to_ascii_uppercase())] = true;
            }
        };
        for wanted in &self.wanted {
            match wanted {
                WantedTerm::Word(forms) | WantedTerm::Any(forms) => forms.iter().for_each(|form| mark(form)),
                WantedTerm::Beginning(start) => mark(start),
                WantedTerm::Nearly(..) => return [true; 256],
            }
        }
        begins
    }
}

/// How a word of a query is found in a text.
fn wanted_term(how: How, word: String, stems: &Stems) -> WantedTerm {
    match how {
        How::Exactly | How::Phrase => WantedTerm::Word(stems.forms(&word)),
        How::Beginning => WantedTerm::Beginning(word),
        How::Nearly(distance) => WantedTerm::Nearly(word.chars().collect(), usize::from(distance)),
    }
}

/// The next run of a text between ASCII separators that may contain a term with one of these first
/// bytes. For most languages the first letter is enough to reject a run. Runs with non-ASCII
/// letters, or with the symbols of `c++` and `c#`, are always examined.
fn promising(text: &str, mut from: usize, begins: &[bool; 256]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let kind = |at: usize| bytes.get(at).map_or(ByteClass::Parting, |byte| KINDS[usize::from(*byte)]);
    while from < bytes.len() {
        let (mut to, mut odd) = (from, false);
        while kind(to) != ByteClass::Parting {
            odd |= kind(to) == ByteClass::Other;
            to += 1;
        }
        if odd || (to > from && begins[usize::from(bytes[from])]) {
            return Some(from..to);
        }
        from = to + 1;
    }
    None
}

/// What a byte says about its run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Parting,
    Plain,
    Other,
}

const KINDS: [ByteClass; 256] = {
    let mut kinds = [ByteClass::Parting; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => ByteClass::Plain,
            b'+' | b'#' | 0x80.. => ByteClass::Other,
            _ => ByteClass::Parting,
        };
        byte += 1;
    }
    kinds
};

impl WantedTerm {
    fn is(&self, word: &str) -> bool {
        match self {
            // A page shows words, not their stems: a word that starts with the stem is close
            // enough.
            Self::Word(forms) => match forms.as_slice() {
                [one] => one == word,
                forms => forms.iter().any(|form| word == form || (form.len() > 3 && word.starts_with(form.as_str()))),
            },
            Self::Any(forms) => forms.iter().any(|form| form == word),
            Self::Beginning(start) => word.starts_with(start.as_str()),
            Self::Nearly(wanted, distance) => is_near(wanted, word, *distance),
        }
    }
}

/// Whether two words are within this edit distance.
fn is_near(wanted: &[char], word: &str, distance: usize) -> bool {
    let word: Vec<char> = word.chars().take(crate::analyze::LONGEST).collect();
    if wanted.len().abs_diff(word.len()) > distance {
        return false;
    }
    let mut row: Vec<usize> = (0..=word.len()).collect();
    let mut before = row.clone();
    for (i, a) in wanted.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in word.iter().enumerate() {
            let mut best = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == word[j - 1] && wanted[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().is_some_and(|d| *d <= distance)
}

/// The byte range in which the matches are densest.
fn best(found: &[TermMatch], kinds: usize) -> Option<(usize, usize)> {
    let (mut counts, mut first, mut best) = (vec![0u32; kinds], 0, None);
    let mut top = 0;
    for last in found {
        counts[last.which] += 1;
        while last.to - found[first].from > WIDTH {
            counts[found[first].which] -= 1;
            first += 1;
        }
        let worth: u32 = counts.iter().map(|count| if *count > 0 { 20 + (*count).min(4) } else { 0 }).sum();
        if worth > top {
            (top, best) = (worth, Some((found[first].from, last.to)));
        }
    }
    best
}

/// The window around it, cut between words.
fn window(text: &str, best: &Option<(usize, usize)>) -> (usize, usize) {
    let (first, last) = best.unwrap_or((0, 0));
    let room = WIDTH.saturating_sub(last - first);
    let mut from = up_to(text, first.saturating_sub(room / 3)).len();
    // Prefer the beginning of a line that is near.
    let near = &text[from..first];
    from += near.rfind('\n').map_or_else(|| near.find(' ').filter(|_| from > 0).map_or(0, |at| at + 1), |at| at + 1);
    let mut to = up_to(text, (from + WIDTH).max(last)).len();
    if to < text.len() {
        to = text[last.max(from)..to].rfind([' ', '\n']).map_or(to, |at| last.max(from) + at);
    }
    (from, to)
}

/// Builds an excerpt with its highlights, collapsing white space.
fn cut(text: &str, from: usize, to: usize, found: &[TermMatch]) -> Snippet {
    let mut out = Snippet::default();
    let mut length = 0;
    let mut push = |out: &mut Snippet, c: char| {
        out.text.push(c);
        length += 1;
        length
    };
    if from > 0 {
        push(&mut out, '…');
    }
    let mut inside = found.iter().filter(|one| one.from >= from && one.to <= to).peekable();
    let mut open = None;
    let mut count = usize::from(from > 0);
    for (at, c) in text[from..to].char_indices().map(|(at, c)| (from + at, c)) {
        if inside.peek().is_some_and(|one| one.to <= at) {
            inside.next();
            if let Some(begin) = open.take() {
                out.marks.push((begin, count));
            }
        }
        if open.is_none() && inside.peek().is_some_and(|one| one.from <= at) {
            open = Some(count);
        }
        match c.is_whitespace() {
            true if out.text.ends_with(' ') || out.text.is_empty() => {}
            true => count = push(&mut out, ' '),
            // The sign of a heading's link to itself is no part of what it says.
            false if c == PILCROW && ends_line(&text[at + PILCROW.len_utf8()..]) => {}
            false => count = push(&mut out, c),
        }
    }
    if let Some(begin) = open {
        out.marks.push((begin, count));
    }
    if to < text.len() {
        out.text.push('…');
    }
    out
}

fn ends_line(rest: &str) -> bool {
    rest.trim_start_matches(' ').chars().next().is_none_or(|c| c == '\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse;
    use orb_page::Moment;

    fn shown(query: &str, text: &str) -> String {
        let node = parse(query, Moment(0)).unwrap();
        let snippet = Marker::of(&node, &Stems::default(), &HashMap::new()).snippet(text, None);
        let mut out = String::new();
        for (at, c) in snippet.text.chars().enumerate() {
            if snippet.marks.iter().any(|(from, _)| *from == at) {
                out.push('[');
            }
            out.push(c);
            if snippet.marks.iter().any(|(_, to)| *to == at + 1) {
                out.push(']');
            }
        }
        out
    }

    #[test]
    fn words_are_marked_as_they_stand_in_the_text() {
        assert_eq!(shown("json load", "How to  load\nJSON files"), "How to [load] [JSON] files");
        assert_eq!(shown("strasse", "Die Straße lang"), "Die [Straße] lang");
        assert_eq!(shown("vec* lod~", "a Vector, lode"), "a [Vector], [lode]");
        assert_eq!(shown("東京", "これは東京都です"), "これは[東京]都です");
        assert_eq!(shown("nothing", "Some text"), "Some text");
        assert_eq!(shown("x", ""), "");
    }

    #[test]
    fn function_words_are_marked_in_phrases_and_where_there_is_nothing_else() {
        let text = "How to open a file: to be or not";
        assert_eq!(shown("how to open a file", text), "How to [open] a [file]: to be or not");
        assert_eq!(shown("\"to open\"", text), "How [to] [open] a file: [to] be or not");
        assert_eq!(shown("to be", text), "How [to] open a file: [to] [be] or not");
        let german = |lang| {
            let marker = Marker::of(&parse("die hard", Moment(0)).unwrap(), &Stems::default(), &HashMap::new());
            marker.snippet("die hard", lang).marks.len()
        };
        assert_eq!((german(None), german(Some("en-GB")), german(Some("de"))), (2, 2, 1));
    }

    #[test]
    fn the_stretch_with_the_most_words_is_shown() {
        let text = format!("{} alpha {} alpha beta end {}", "x ".repeat(300), "y ".repeat(300), "z ".repeat(300));
        let piece = shown("alpha beta", &text);
        assert!(piece.contains("[alpha] [beta] end") && piece.starts_with('…') && piece.ends_with('…'), "{piece}");
        assert!(piece.chars().count() < WIDTH + 20, "{piece}");
    }

    #[test]
    fn no_word_is_overlooked() {
        let text = "a C++ b+c c#: über-Xylo l'été xylo東京c++ ﬁn Xylo\u{301}ß 7x _x 東x +x c+++ xx";
        for query in ["x", "xx", "xylo", "c", "c++", "c#", "uber", "ete", "l", "東京", "7x", "fin", "x*", "xlo~", "b"]
        {
            let node = parse(query, Moment(0)).unwrap();
            let marker = Marker::of(&node, &Stems::default(), &HashMap::new());
            let found: Vec<(usize, usize)> = marker.find(text).iter().map(|one| (one.from, one.to)).collect();
            let cut = words(text).into_iter().filter(|word| marker.wanted.iter().any(|wanted| wanted.is(&word.text)));
            assert_eq!(found, cut.map(|word| (word.from, word.to)).collect::<Vec<_>>(), "{query}");
        }
    }

    #[test]
    fn the_sign_of_a_permalink_is_left_out() {
        assert_eq!(shown("alpha", "Alpha beta¶\nthe ¶ sign of alpha¶"), "[Alpha] beta the ¶ sign of [alpha]");
    }

    #[test]
    fn any_text_is_cut_without_panic() {
        for text in ["é".repeat(1_000), "東京".repeat(1_000), "a\n\n".repeat(500), "é x ".repeat(700)] {
            for query in ["x", "é", "東京", "a*"] {
                let piece = shown(query, &text);
                assert!(piece.chars().count() < 3 * WIDTH, "{}", piece.len());
            }
        }
    }
}
