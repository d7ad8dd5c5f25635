//! Which words is a URL made of, and where are they?
//!
//! Session ids are whole words. They contain no URL delimiter, neither raw nor percent-encoded, not
//! even encoded repeatedly (`%252F`), as happens in URLs passed on in a parameter.

use std::ops::Range;

/// Where a word appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenPosition<'a> {
    /// A whole path segment: the number of segments before and after it, and the text of the
    /// preceding one.
    Segment { before: usize, behind: usize, after: &'a str },
    /// The value of the path parameter with this name.
    Parameter(&'a str),
    /// The value of the query parameter with this name; empty if it has none.
    Query(&'a str),
    /// Part of a larger value, after this name if an equals sign separates them.
    Within(&'a str),
}

/// A word of a URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct UrlToken<'a> {
    /// Its text.
    pub value: &'a str,
    /// Its offset in path and query.
    pub start: usize,
    /// Where it appears.
    pub spot: TokenPosition<'a>,
}

impl UrlToken<'_> {
    /// The range to remove with it: a parameter with its name, a segment with the slash after it.
    pub(super) fn cut(&self, tail: &str) -> Range<usize> {
        let end = self.start + self.value.len();
        let next = tail.as_bytes().get(end);
        match self.spot {
            TokenPosition::Segment { .. } => self.start..end + usize::from(next == Some(&b'/')),
            TokenPosition::Parameter(name) => self.start - name.len() - 2..end,
            TokenPosition::Query("") => self.start..end + usize::from(next == Some(&b'&')),
            TokenPosition::Query(name) => self.start - name.len() - 1..end + usize::from(next == Some(&b'&')),
            TokenPosition::Within(_) => self.start..end,
        }
    }
}

/// Removes these ranges, which are sorted, from path and query. A query that loses its end also
/// loses the delimiter before it.
pub(super) fn cut_out(tail: &str, cuts: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(tail.len());
    let mut copied = 0;
    for cut in cuts {
        out.push_str(&tail[copied.min(cut.start)..cut.start]);
        copied = copied.max(cut.end);
    }
    out.push_str(&tail[copied..]);
    if copied == tail.len() && memchr::memchr(b'?', tail.as_bytes()).is_some() && out.ends_with(['&', '?']) {
        out.pop();
    }
    out
}

/// Calls back for each word of path and query that has at least `least` bytes, in order.
pub(super) fn each<'a>(tail: &'a str, least: usize, mut then: impl FnMut(UrlToken<'a>)) {
    let least = least.max(1);
    let path_end = memchr::memchr(b'?', tail.as_bytes()).unwrap_or(tail.len());
    let path = &tail[..path_end];
    // Counted lazily: most paths have no segment that is long enough.
    let mut segments = None;
    let (mut start, mut previous) = (0, 0..0);
    for (index, segment) in path.as_bytes().split(|&byte| byte == b'/').enumerate() {
        let end = start + segment.len();
        if segment.len() >= least {
            let segments: usize = *segments.get_or_insert_with(|| slashes(path));
            let (before, behind) = (index.saturating_sub(1), segments.saturating_sub(index));
            let spot = TokenPosition::Segment { before, behind, after: &path[previous] };
            of_segment(&path[start..end], start, least, spot, &mut then);
        }
        previous = start..end;
        start = end + 1;
    }
    for part in tail.get(path_end + 1..).into_iter().flat_map(|query| query.split('&')) {
        if part.len() >= least {
            let (name, value) = part.split_once('=').unwrap_or(("", part));
            of_value(value, start + part.len() - value.len(), least, TokenPosition::Query(name), &mut then);
        }
        start += part.len() + 1;
    }
}

/// Number of slashes in a path, not counting trailing ones.
fn slashes(path: &str) -> usize {
    path.trim_end_matches('/').bytes().filter(|&byte| byte == b'/').count()
}

fn of_segment<'a>(
    segment: &'a str,
    start: usize,
    least: usize,
    spot: TokenPosition<'a>,
    then: &mut impl FnMut(UrlToken<'a>),
) {
    if memchr::memchr(b';', segment.as_bytes()).is_none() {
        return of_value(segment, start, least, spot, then);
    }
    let mut at = start;
    for (index, piece) in segment.split(';').enumerate() {
        match piece.split_once('=').filter(|_| index > 0) {
            Some((name, value)) => of_value(value, at + name.len() + 1, least, TokenPosition::Parameter(name), then),
            None if index == 0 => of_value(piece, at, least, spot, then),
            None => of_value(piece, at, least, TokenPosition::Within(""), then),
        }
        at += piece.len() + 1;
    }
}

/// A value that is a single word keeps its spot. The words of any other value are within it.
fn of_value<'a>(
    value: &'a str,
    start: usize,
    least: usize,
    spot: TokenPosition<'a>,
    then: &mut impl FnMut(UrlToken<'a>),
) {
    if value.len() < least {
        return;
    }
    if value.bytes().all(is_of_word) {
        return then(UrlToken { value, start, spot });
    }
    let bytes = value.as_bytes();
    let (mut at, mut name, mut named) = (0, "", false);
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|b| is_of_word(**b)).count();
        let word = value.get(at..end).unwrap_or_default();
        if word.len() >= least {
            then(UrlToken {
                value: word,
                start: start + at,
                spot: TokenPosition::Within(if named { name } else { "" }),
            });
        }
        let (next, equals) = separator(bytes, end);
        if !word.is_empty() || !equals {
            name = word;
        }
        named = equals;
        at = next;
    }
}

/// End of the delimiter at this offset, and whether it is an equals sign. The delimiter may be
/// percent-encoded repeatedly.
fn separator(bytes: &[u8], at: usize) -> (usize, bool) {
    if bytes.get(at) != Some(&b'%') {
        return (at + 1, bytes.get(at) == Some(&b'='));
    }
    let mut code = at + 1;
    while bytes[code..].starts_with(b"25") && bytes.len() >= code + 4 {
        code += 2;
    }
    let digits = bytes.get(code..code + 2).unwrap_or_default();
    (code + digits.len(), digits.eq_ignore_ascii_case(b"3D"))
}

/// Whether a byte may be part of an id: RFC 3986's unreserved characters.
const fn is_of_word(byte: u8) -> bool {
    OF_WORD[byte as usize]
}

static OF_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'-' | b'_' | b'.' | b'~' | b'!');
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tail: &str) -> Vec<(&str, TokenPosition<'_>)> {
        let mut out = Vec::new();
        each(tail, 2, |t| {
            assert_eq!(&tail[t.start..t.start + t.value.len()], t.value);
            out.push((t.value, t.spot));
        });
        out
    }

    #[test]
    fn words_are_told_with_the_place_where_they_stand() {
        assert_eq!(
            told("/aa/bb;sid=cc;dd/ee.html?ff=gg&hh&i=jj"),
            [
                ("aa", TokenPosition::Segment { before: 0, behind: 2, after: "" }),
                ("bb", TokenPosition::Segment { before: 1, behind: 1, after: "aa" }),
                ("cc", TokenPosition::Parameter("sid")),
                ("dd", TokenPosition::Within("")),
                ("ee.html", TokenPosition::Segment { before: 2, behind: 0, after: "bb;sid=cc;dd" }),
                ("gg", TokenPosition::Query("ff")),
                ("hh", TokenPosition::Query("")),
                ("jj", TokenPosition::Query("i")),
            ]
        );
    }

    #[test]
    fn an_escaped_address_is_taken_to_pieces_however_often_it_was_escaped() {
        assert_eq!(
            told("/?to=%2Fgp%2Fref%3Dfeat%2F002-93%3F%255Fenc%3DUTF8%26node%253D1722&x=1"),
            [
                ("gp", TokenPosition::Within("")),
                ("ref", TokenPosition::Within("")),
                ("feat", TokenPosition::Within("ref")),
                ("002-93", TokenPosition::Within("")),
                ("enc", TokenPosition::Within("")),
                ("UTF8", TokenPosition::Within("enc")),
                ("node", TokenPosition::Within("")),
                ("1722", TokenPosition::Within("node")),
            ]
        );
    }

    #[test]
    fn a_slash_at_the_end_is_no_further_segment() {
        let spot = |tail| told(tail).pop().map(|(_, spot)| spot);
        assert_eq!(spot("/aa/bb"), spot("/aa/bb/"));
    }

    #[test]
    fn escapes_that_end_too_early_are_no_danger() {
        for tail in ["/?a=%", "/?a=%2", "/?a=%25", "/?a=%25252", "/%25%25%3", "é%éé=é", "", "?", "/?=%3D%3D=="] {
            told(tail);
        }
    }
}
