//! How are percent escapes written?
//!
//! RFC 3986, sections 6.2.2.1 and 6.2.2.2: hexadecimal digits are upper case, and unreserved
//! characters (letters, digits, `-._~`) are not escaped. Everything else stays: to a server `%2F`
//! is not `/`, and `%26` is not `&`.
//!
//! A percent sign that starts no escape stays too, and so do the characters right after it.
//! Decoding them could create an escape where there was none: `%%34%31` must not become `%41`.

/// The text with normalised escapes, or `None` if it already is normal. Looks at ASCII only.
pub(super) fn normalised(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let first = memchr::memchr_iter(b'%', bytes).find(|&at| escape(bytes, at).is_some_and(|e| !e.is_normal()))?;
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut stray = last_stray(bytes, first);
    let mut copied = first;
    for at in memchr::memchr_iter(b'%', &bytes[first..]).map(|i| i + first) {
        out.push_str(&text[copied..at]);
        copied = at;
        match escape(bytes, at) {
            None => stray = Some(out.len()),
            Some(found) => {
                let guarded = stray.is_some_and(|s| out.len() - s < 3);
                if is_unreserved(found.value) && !guarded {
                    out.push(char::from(found.value));
                } else {
                    out.push('%');
                    out.extend(found.digits.map(|d| char::from(d.to_ascii_uppercase())));
                }
                copied = at + 3;
            }
        }
    }
    out.push_str(&text[copied..]);
    (out != text).then_some(out)
}

/// The text in lower case except for its escapes, or `None` if it already is.
pub(super) fn lowercase(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut escaped = 0_u8;
    for (at, c) in text.char_indices() {
        if c == '%' && escape(bytes, at).is_some() {
            escaped = 3;
        }
        out.push(if escaped > 0 { c } else { c.to_ascii_lowercase() });
        escaped = escaped.saturating_sub(1);
    }
    (out != text).then_some(out)
}

/// One escape: its two digits as written and the byte they encode.
struct PercentEscape {
    digits: [u8; 2],
    value: u8,
}

impl PercentEscape {
    fn is_normal(&self) -> bool {
        !is_unreserved(self.value) && !self.digits.iter().any(u8::is_ascii_lowercase)
    }
}

fn escape(bytes: &[u8], at: usize) -> Option<PercentEscape> {
    let digits = [*bytes.get(at + 1)?, *bytes.get(at + 2)?];
    let [high, low] = digits.map(|d| char::from(d).to_digit(16));
    let value = u8::try_from(high? * 16 + low?).ok()?;
    Some(PercentEscape { digits, value })
}

fn last_stray(bytes: &[u8], before: usize) -> Option<usize> {
    (before.saturating_sub(2)..before).rev().find(|&at| bytes[at] == b'%' && escape(bytes, at).is_none())
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn norm(text: &str) -> String {
        normalised(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn digits_are_upper_case_and_needless_escapes_are_gone() {
        assert_eq!(norm("/%7euser/%c3%a4?q=%2f%26%41"), "/~user/%C3%A4?q=%2F%26A");
        assert_eq!(norm("/%2D%2E%5F%7E"), "/-._~");
        assert_eq!(normalised("/plain"), None);
        assert_eq!(normalised("/%C3%A4%20"), None);
    }

    #[test]
    fn nothing_is_decoded_twice() {
        assert_eq!(normalised("/%2541"), None);
        assert_eq!(normalised("/%252e"), None);
    }

    #[test]
    fn a_stray_percent_sign_never_grows_into_an_escape() {
        for text in ["%%341", "%4%31", "%", "%4", "100%", "%z%41"] {
            assert_eq!(norm(text), text);
        }
        assert_eq!(norm("%%34%31"), "%%341");
        assert_eq!(norm("%zz%41"), "%zzA");
    }

    #[test]
    fn lower_case_leaves_escapes_alone() {
        assert_eq!(lowercase("/A%C3%84/B?Q=%2F%").as_deref(), Some("/a%C3%84/b?q=%2F%"));
        assert_eq!(lowercase("/a%C3"), None);
    }

    proptest! {
        #[test]
        fn what_is_normal_stays_so(text in "[%0-9a-fA-F./?&;=~-]{0,40}") {
            let once = norm(&text);
            prop_assert_eq!(normalised(&once), None);
        }

        #[test]
        fn the_bytes_meant_stay_the_same(text in "[%0-9a-fzA-F]{0,40}") {
            prop_assert_eq!(decoded(&text), decoded(&norm(&text)));
        }
    }

    fn decoded(text: &str) -> Vec<u8> {
        let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
        while at < bytes.len() {
            let found = if bytes[at] == b'%' { escape(bytes, at) } else { None };
            out.push(found.as_ref().map_or(bytes[at], |e| e.value));
            at += if found.is_some() { 3 } else { 1 };
        }
        out
    }
}
