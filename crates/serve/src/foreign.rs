//! How does something from the web stand on a page of ours?
//!
//! As text, which templates escape. A URL becomes a link only if it is `http` or `https`, since
//! browsers run others.

/// The URL as something to click on; `None` if it is not one of the web.
pub(crate) fn outward(url: &str) -> Option<&str> {
    let scheme = url.split_once("://")?.0;
    (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")).then_some(url)
}

/// A piece of a text, and whether it is marked.
pub(crate) struct MarkedPiece {
    pub(crate) text: String,
    pub(crate) is_marked: bool,
}

/// A text in pieces, those in these ranges of characters marked.
pub(crate) fn pieces(text: &str, marks: &[(usize, usize)]) -> Vec<MarkedPiece> {
    let mut out: Vec<MarkedPiece> = Vec::new();
    for (place, character) in text.chars().enumerate() {
        let is_marked = marks.iter().any(|(from, to)| (*from..*to).contains(&place));
        match out.last_mut().filter(|last| last.is_marked == is_marked) {
            Some(last) => last.text.push(character),
            None => out.push(MarkedPiece { text: character.into(), is_marked }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_is_linked_to() {
        let hostile =
            ["javascript:alert(1)", "javascript://a/%0aalert(1)", "data:text/html,x", "file:///etc/passwd", "//a"];
        assert_eq!(hostile.map(outward), [None; 5]);
        assert_eq!(outward("HTTPS://a.test/"), Some("HTTPS://a.test/"));
    }

    #[test]
    fn marks_count_characters() {
        let cut = pieces("ä<b> ü", &[(1, 4)]);
        let cut: Vec<_> = cut.iter().map(|piece| (piece.text.as_str(), piece.is_marked)).collect();
        assert_eq!(cut, [("ä", false), ("<b>", true), (" ü", false)]);
    }
}
