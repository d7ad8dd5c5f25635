//! How is text escaped for HTML and XML?

/// The reference that stands for a character of which markup is made; `None` for every other.
/// Text escaped by it can neither start a tag nor leave an attribute's value in double quotes.
pub fn markup_reference(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        _ => return None,
    })
}

/// Text with such references. Every other character goes to `plain`, which appends it or what the
/// format has in its place: formats differ in the control characters they can represent.
pub fn escape_markup(text: &str, mut plain: impl FnMut(char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match markup_reference(c) {
            Some(reference) => out.push_str(reference),
            None => plain(c, &mut out),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_text() {
        let out = escape_markup("a<b> & \"c\"\u{1} ü", |c, out| out.push(if c.is_control() { ' ' } else { c }));
        assert_eq!(out, "a&lt;b&gt; &amp; &quot;c&quot;  ü");
    }
}
