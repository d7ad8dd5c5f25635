//! Which rule matches a path best?
//!
//! The second half of [`super::Robots`]. Files of half a megabyte come from strangers and are
//! consulted for every link, so both kinds of pattern are matched in bounded time: plain ones by a
//! binary search and a walk over their own prefixes, those with `*` or `$` segment by segment from
//! the left. The leftmost match of each segment is always sufficient, because `*` matches any
//! string; hence no backtracking.

use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Maximum wildcard patterns per side; see [`Side::new`].
const MAX_WILD: usize = 4_096;

const NONE: u32 = u32::MAX;

/// Which percent escapes are decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Those of `-` `.` `_` `~`.
    Marks,
    /// Those of letters and digits too: everything that RFC 3986 calls unreserved.
    Unreserved,
}

impl Escapes {
    const fn decodes(self, byte: u8) -> bool {
        matches!(byte, b'-' | b'.' | b'_' | b'~') || (matches!(self, Self::Unreserved) && byte.is_ascii_alphanumeric())
    }
}

/// A pattern with its line number.
#[derive(Clone, Debug)]
pub(super) struct PathRule {
    pub(super) text: Box<[u8]>,
    pub(super) line: u32,
    /// The longest other plain pattern that is a prefix of this one.
    parent: u32,
}

/// All patterns of `Allow`, or all of `Disallow`.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// Without wildcards, sorted.
    plain: Vec<PathRule>,
    /// With wildcards, longest first.
    wild: Vec<PathRule>,
}

impl Side {
    /// Sorts normalised patterns. Beyond [`MAX_WILD`] wildcard patterns, a `strict` side truncates
    /// them before the first wildcard, which disallows more, and the other side drops them, which
    /// allows less.
    pub(super) fn new(patterns: Vec<(Vec<u8>, u32)>, strict: bool) -> Self {
        let mut side = Self::default();
        for (mut text, line) in patterns {
            let star = memchr(b'*', &text);
            let is_wild = star.is_some() || text.last() == Some(&b'$');
            if is_wild && side.wild.len() < MAX_WILD {
                side.wild.push(PathRule { text: text.into(), line, parent: NONE });
                continue;
            }
            if is_wild {
                if !strict {
                    continue;
                }
                text.truncate(star.unwrap_or(text.len() - 1));
            }
            if !text.is_empty() {
                side.plain.push(PathRule { text: text.into(), line, parent: NONE });
            }
        }
        side.wild.sort_by(|a, b| b.text.len().cmp(&a.text.len()).then(a.line.cmp(&b.line)));
        side.plain.sort_by(|a, b| a.text.cmp(&b.text).then(a.line.cmp(&b.line)));
        side.plain.dedup_by(|later, first| later.text == first.text);
        side.link_parents();
        side
    }

    fn link_parents(&mut self) {
        let mut open: Vec<u32> = Vec::new();
        for i in 0..self.plain.len() {
            while let Some(&last) = open.last() {
                if self.plain[i].text.starts_with(&self.plain[last as usize].text) {
                    break;
                }
                open.pop();
            }
            self.plain[i].parent = open.last().copied().unwrap_or(NONE);
            open.push(i as u32);
        }
    }

    /// The longest matching pattern.
    pub(super) fn best(&self, path: &[u8]) -> Option<&PathRule> {
        let plain = self.best_plain(path);
        let length = plain.map_or(0, |r| r.text.len());
        let longer = self.wild.iter().take_while(|r| r.text.len() > length);
        longer.into_iter().find(|r| fits(path, &r.text)).or(plain)
    }

    /// Every string that sorts between a prefix of the path and the path itself starts with that
    /// prefix. So the pattern is the path's predecessor or one of the predecessor's own prefixes.
    fn best_plain(&self, path: &[u8]) -> Option<&PathRule> {
        let after = self.plain.partition_point(|r| *r.text <= *path);
        let mut i = u32::try_from(after.checked_sub(1)?).ok()?;
        loop {
            let rule = self.plain.get(i as usize)?;
            if path.starts_with(&rule.text) {
                return Some(rule);
            }
            i = rule.parent;
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.plain.iter().chain(&self.wild).map(|r| size_of::<PathRule>() + r.text.len()).sum()
    }
}

/// Whether a pattern with `*` and a final `$` matches the path from its beginning.
fn fits(path: &[u8], pattern: &[u8]) -> bool {
    let (pattern, anchored) = match pattern.split_last() {
        Some((b'$', front)) => (front, true),
        _ => (pattern, false),
    };
    let mut pieces = pattern.split(|b| *b == b'*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return !anchored || rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if anchored && pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match memmem::find(rest, piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// A pattern in the spelling of canonical URLs: escapes in upper case or decoded, bytes that are
/// never bare in a URL escaped, and so is a `$` that is not final.
pub(super) fn normalise(value: &[u8], escapes: Escapes) -> Vec<u8> {
    let (front, closing) = match value.split_last() {
        Some((b'$', front)) => (front, Some(b'$')),
        _ => (value, None),
    };
    let mut out = respelt(front, escapes, |byte| is_bare(byte) || byte == b'*');
    out.extend(closing);
    out
}

/// A path in the same spelling, where `*` and `$` are literal and so are escaped (RFC 9309, 2.2.3);
/// borrowed if nothing changes, as for most canonical URLs. For exact comparison, a path without
/// any escapes stays as it is: nothing that allows matches it, as in Google's parser.
pub(super) fn unescape(path: &[u8], escapes: Escapes) -> Cow<'_, [u8]> {
    let is_bare = |byte: u8| is_bare(byte) || (escapes == Escapes::Marks && !byte.is_ascii());
    let changes = |i: usize| escaped(path[i], &path[i + 1..]).is_some_and(|plain| escapes.decodes(plain));
    if path.iter().all(|b| is_bare(*b)) && !memchr::memchr_iter(b'%', path).any(changes) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(respelt(path, escapes, is_bare))
}

/// Bytes that are always literal.
const fn is_bare(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b' ' | b'"' | b'<' | b'>' | b'*' | b'$')
}

fn respelt(text: &[u8], escapes: Escapes, bare: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match escaped(byte, tail) {
            Some(plain) => {
                rest = &tail[2..];
                push(&mut out, plain, escapes.decodes(plain));
            }
            None => push(&mut out, byte, bare(byte)),
        }
    }
    out
}

/// An `Allow` of `index.htm` or `index.html` also allows the directory: the pattern for that.
pub(super) fn directory_of_index(value: &[u8]) -> Option<Vec<u8>> {
    let slash = memchr::memrchr(b'/', value)?;
    value[slash..].starts_with(b"/index.htm").then(|| [&value[..=slash], b"$"].concat())
}

/// The byte encoded by `%XX`.
fn escaped(byte: u8, tail: &[u8]) -> Option<u8> {
    let digit = |i: usize| tail.get(i).and_then(|b| char::from(*b).to_digit(16));
    if byte != b'%' {
        return None;
    }
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

fn push(out: &mut Vec<u8>, byte: u8, bare: bool) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if bare {
        out.push(byte);
    } else {
        out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, by exhaustive search.
    fn fits_by_search(path: &[u8], pattern: &[u8]) -> bool {
        match pattern.split_first() {
            None => true,
            Some((b'$', [])) => path.is_empty(),
            Some((b'*', rest)) => (0..=path.len()).any(|i| fits_by_search(&path[i..], rest)),
            Some((c, rest)) => path.first() == Some(c) && fits_by_search(&path[1..], rest),
        }
    }

    proptest! {
        #[test]
        fn matching_piece_by_piece_agrees_with_trying_everything(path in "/[ab]{0,8}", pattern in "/?[ab*$]{0,7}") {
            prop_assert_eq!(fits(path.as_bytes(), pattern.as_bytes()), fits_by_search(path.as_bytes(), pattern.as_bytes()));
        }

        #[test]
        fn the_best_pattern_is_the_longest_that_fits(
            path in "/[ab]{0,6}",
            patterns in prop::collection::vec("/[ab*$]{0,4}", 0..12),
        ) {
            let side = Side::new(patterns.iter().map(|p| (p.clone().into_bytes(), 1)).collect(), true);
            let longest = patterns.iter().filter(|p| fits_by_search(path.as_bytes(), p.as_bytes())).map(String::len).max();
            prop_assert_eq!(side.best(path.as_bytes()).map(|r| r.text.len()), longest);
        }
    }

    #[test]
    fn too_many_wildcards_are_widened_where_they_forbid_and_dropped_where_they_allow() {
        let many = |n: usize| (0..n).map(|i| (format!("/a{i}/*.x").into_bytes(), 1)).collect::<Vec<_>>();
        let (strict, lenient) = (Side::new(many(MAX_WILD + 1), true), Side::new(many(MAX_WILD + 1), false));
        let last = format!("/a{MAX_WILD}/y");
        assert!(strict.best(last.as_bytes()).is_some());
        assert!(lenient.best(last.as_bytes()).is_none());
        assert!(strict.best(b"/a1/y").is_none());
    }
}
