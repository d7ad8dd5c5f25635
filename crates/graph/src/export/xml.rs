//! How is text escaped for XML?
//!
//! XML 1.0 cannot represent most control characters: they become U+FFFD.

use orb_page::markup_reference;
use std::fmt;

/// Text escaped for element content and attribute values.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plain = 0;
        for (at, c) in self.0.char_indices() {
            let instead = match c {
                '\t' => "&#9;",
                '\n' => "&#10;",
                '\r' => "&#13;",
                '\0'..' ' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}",
                c => match markup_reference(c) {
                    Some(reference) => reference,
                    None => continue,
                },
            };
            f.write_str(&self.0[plain..at])?;
            f.write_str(instead)?;
            plain = at + c.len_utf8();
        }
        f.write_str(&self.0[plain..])
    }
}

/// A number in XML Schema notation.
pub(super) struct Real(pub(super) f64);

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            x if x.is_nan() => f.write_str("NaN"),
            x if x.is_infinite() => f.write_str(if x > 0.0 { "INF" } else { "-INF" }),
            // In decimal notation, a tiny number would have hundreds of zeros.
            x if x != 0.0 && x.abs() < 1e-5 => write!(f, "{x:e}"),
            x => write!(f, "{x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_text() {
        assert_eq!(Escaped("a<b> & \"c\"\u{1}\n").to_string(), "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}&#10;");
        assert_eq!(Escaped("plain ü").to_string(), "plain ü");
        assert_eq!([0.25, 0.0, 1e-300, 3.0].map(|x| Real(x).to_string()), ["0.25", "0", "1e-300", "3"]);
    }
}
