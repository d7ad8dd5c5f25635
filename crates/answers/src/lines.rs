//! How does a number or a foreign text stand in a line?

use std::borrow::Cow;

/// A line without control characters: a page must not control a terminal.
pub fn harmless(line: &str) -> Cow<'_, str> {
    if !line.contains(char::is_control) {
        return line.into();
    }
    line.chars().map(|c| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// The first `max` characters, with an ellipsis if truncated.
pub fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// An integer with thousands separators.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_a_line() {
        assert_eq!(harmless("a\u{1b}[2J\u{9b}1mb\r\n"), "a\\u001b[2J\\u009b1mb\\u000d\\u000a");
        assert_eq!(harmless("plain ä"), "plain ä");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 12, 1_234, 1_234_567].map(grouped), ["0", "12", "1,234", "1,234,567"]);
    }

    #[test]
    fn a_clipped_text_says_so() {
        assert_eq!([clip("äöü", 3), clip("äöü", 2)], ["äöü", "äö…"]);
    }
}
