//! Where does raw text end?
//!
//! The content of `<script>`, `<style>`, `<title>` and the like is not markup. It extends to the
//! end tag of the same name (HTML, 13.2.5.2 to 13.2.5.4). Scripts are harder: after `<!--` they may
//! contain a nested `<script>` whose end tag does not end the outer one (13.2.5.15 to 13.2.5.31).

use super::scan::is_space;
use memchr::{memchr, memchr2};

/// The kinds of content without markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Raw {
    /// `<title>`, `<textarea>`: character references are expanded (RCDATA).
    Referenced,
    /// `<style>`, `<xmp>`, `<iframe>`, `<noembed>` (RAWTEXT).
    Literal,
    /// `<script>`.
    Script,
    /// `<plaintext>`: extends to the end of the document.
    Endless,
}

/// Offset of the end tag that closes the raw text starting at `from`, or the end of the source.
pub(crate) fn end(src: &[u8], from: usize, kind: Raw, name: &[u8]) -> usize {
    match kind {
        Raw::Referenced | Raw::Literal => end_of_element(src, from, name),
        Raw::Script => end_of_script(src, from, name),
        Raw::Endless => src.len(),
    }
}

fn end_of_element(src: &[u8], mut from: usize, name: &[u8]) -> usize {
    while let Some(i) = memchr(b'<', src.get(from..).unwrap_or(&[])).map(|i| from + i) {
        if is_tag(src, i, b"/", name) {
            return i;
        }
        from = i + 1;
    }
    src.len()
}

/// Whether `<` + `prefix` + `name` and a byte that ends a name occur at `at`.
fn is_tag(src: &[u8], at: usize, prefix: &[u8], name: &[u8]) -> bool {
    let start = at + 1 + prefix.len();
    let end = start + name.len();
    src.get(at + 1..start) == Some(prefix)
        && src.get(start..end).is_some_and(|n| n.eq_ignore_ascii_case(name))
        && src.get(end).is_some_and(|&b| is_space(b) || b == b'/' || b == b'>')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptEscape {
    /// Plain script.
    No,
    /// After `<!--`.
    Once,
    /// After `<!--` and `<script`.
    Twice,
}

fn end_of_script(src: &[u8], mut from: usize, name: &[u8]) -> usize {
    let mut escape = ScriptEscape::No;
    loop {
        let rest = src.get(from..).unwrap_or(&[]);
        let found = if escape == ScriptEscape::No { memchr(b'<', rest) } else { memchr2(b'<', b'>', rest) };
        let Some(i) = found.map(|i| from + i) else { return src.len() };
        from = i + 1;
        let ends_inner = escape == ScriptEscape::Twice && is_tag(src, i, b"/", b"script");
        if src.get(i) == Some(&b'>') {
            if src.get(i.saturating_sub(2)..i) == Some(b"--") {
                escape = ScriptEscape::No;
            }
        } else if escape != ScriptEscape::Twice && is_tag(src, i, b"/", name) {
            return i;
        } else if ends_inner {
            escape = ScriptEscape::Once;
        } else if escape == ScriptEscape::No && src.get(i..i + 4) == Some(b"<!--") {
            escape = ScriptEscape::Once;
            from = i + 4;
        } else if escape == ScriptEscape::Once && is_tag(src, i, b"", b"script") {
            escape = ScriptEscape::Twice;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(src: &str) -> &str {
        src.get(..end(src.as_bytes(), 0, Raw::Script, b"script")).unwrap_or("")
    }

    #[test]
    fn a_script_ends_at_its_end_tag_whatever_stands_in_strings() {
        assert_eq!(content("a='<b>'</script>x"), "a='<b>'");
        assert_eq!(content("a</scripty></SCRIPT\n>x"), "a</scripty>");
        assert_eq!(content("a</script"), "a</script");
    }

    #[test]
    fn a_script_within_a_comment_in_a_script_does_not_end_it() {
        assert_eq!(content("<!--<script></script>--></script>x"), "<!--<script></script>-->");
        assert_eq!(content("<!--</script>-->"), "<!--");
        assert_eq!(content("<!--><script></script>"), "<!--><script>");
        assert_eq!(content("<!-- <script> -->'</script>'</script>"), "<!-- <script> -->'");
        assert_eq!(content("<!-- <script> </script> </script>"), "<!-- <script> </script> ");
    }

    #[test]
    fn other_raw_text_knows_no_comments() {
        let src = b"<!-- </style> -->";
        assert_eq!(end(src, 0, Raw::Literal, b"style"), 5);
        assert_eq!(end(src, 0, Raw::Endless, b"plaintext"), src.len());
    }
}
