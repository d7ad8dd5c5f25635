//! Which groups, words and characters does a rich text consist of?

/// The longest name of a control word that is told apart.
const MAX_WORD: usize = 32;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RtfToken<'a> {
    /// `{`.
    Open,
    /// `}`.
    Close,
    /// `\word` with its number, if any.
    Word(&'a str, Option<i32>),
    /// `\~` and the like.
    Symbol(u8),
    /// A byte of text, by itself or as `\'hh`.
    Byte(u8),
}

/// The tokens of a rich text.
#[derive(Debug)]
pub(super) struct RtfTokens<'a> {
    src: &'a [u8],
    at: usize,
}

impl<'a> RtfTokens<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        Self { src, at: 0 }
    }

    /// Passes by bytes that are no text, and returns them.
    pub(super) fn pass(&mut self, len: usize) -> &'a [u8] {
        let rest = self.src.get(self.at..).unwrap_or(&[]);
        let passed = rest.get(..len).unwrap_or(rest);
        self.at += passed.len();
        passed
    }

    fn peek(&self) -> Option<u8> {
        self.src.get(self.at).copied()
    }

    fn control(&mut self) -> Option<RtfToken<'a>> {
        let first = self.peek()?;
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            return Some(match first {
                b'\'' => self.hex(),
                // A line break after a backslash is a paragraph.
                b'\n' | b'\r' => RtfToken::Word("par", None),
                symbol => RtfToken::Symbol(symbol),
            });
        }
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphabetic()) {
            self.at += 1;
        }
        let name = self.src.get(start..self.at).filter(|n| n.len() <= MAX_WORD).unwrap_or(b"");
        let negative = self.peek() == Some(b'-');
        let digits = self.at + usize::from(negative);
        let mut number = None;
        if self.src.get(digits).is_some_and(u8::is_ascii_digit) {
            self.at = digits;
            let mut value = 0i64;
            while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
                value = (value * 10 + i64::from(digit - b'0')).min(i64::from(u32::MAX));
                self.at += 1;
            }
            let value = if negative { -value } else { value };
            number = Some(i32::try_from(value).unwrap_or(if negative { i32::MIN } else { i32::MAX }));
        }
        if self.peek() == Some(b' ') {
            self.at += 1;
        }
        Some(RtfToken::Word(std::str::from_utf8(name).unwrap_or(""), number))
    }

    fn hex(&mut self) -> RtfToken<'a> {
        let digits = self.src.get(self.at..self.at + 2).and_then(|d| std::str::from_utf8(d).ok());
        match digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(byte) => {
                self.at += 2;
                RtfToken::Byte(byte)
            }
            None => RtfToken::Symbol(b'\''),
        }
    }
}

impl<'a> Iterator for RtfTokens<'a> {
    type Item = RtfToken<'a>;

    fn next(&mut self) -> Option<RtfToken<'a>> {
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'{' => return Some(RtfToken::Open),
                b'}' => return Some(RtfToken::Close),
                b'\\' => return self.control(),
                b'\r' | b'\n' | 0 => {}
                byte => return Some(RtfToken::Byte(byte)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_their_number_and_one_space() {
        let tokens: Vec<_> = RtfTokens::new(b"{\\b0\\u-5 ? \\~\\'E4\\'x\\\n\\bin99999999999a}").collect();
        assert_eq!(
            tokens,
            [
                RtfToken::Open,
                RtfToken::Word("b", Some(0)),
                RtfToken::Word("u", Some(-5)),
                RtfToken::Byte(b'?'),
                RtfToken::Byte(b' '),
                RtfToken::Symbol(b'~'),
                RtfToken::Byte(0xE4),
                RtfToken::Symbol(b'\''),
                RtfToken::Byte(b'x'),
                RtfToken::Word("par", None),
                RtfToken::Word("bin", Some(i32::MAX)),
                RtfToken::Byte(b'a'),
                RtfToken::Close,
            ]
        );
    }
}
