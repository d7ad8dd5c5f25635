//! Which lexical tokens does a query consist of?

use super::{FIELDS, QueryError};

/// A token and its position: the character at which it begins, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

/// Kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Open,
    Close,
    And,
    Or,
    Not,
    Plus,
    /// `name:` before a term.
    Field(String),
    /// Anything without spaces, as typed.
    Word(String),
    /// The text between quotation marks.
    Quoted(String),
}

const QUOTES: &[char] = &['"', '“', '”', '„', '«', '»'];

/// Tokenizes a query.
pub(super) fn signs(query: &str) -> Result<Vec<Sign>, QueryError> {
    let chars: Vec<char> = query.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0, open: 0 };
    let mut out = Vec::new();
    while let Some(sign) = lexer.next()? {
        out.push(sign);
    }
    Ok(out)
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    /// Brackets that words have opened and not closed: all of `print("a b", -c)` is words.
    open: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Result<Option<Sign>, QueryError> {
        while self.peek(0).is_some_and(|c| c.is_whitespace() || c.is_control()) {
            self.at += 1;
        }
        let begin = self.at;
        let Some(first) = self.peek(0) else { return Ok(None) };
        let alone = self.peek(1).is_none_or(char::is_whitespace);
        let kind = match first {
            _ if self.open > 0 => self.word(),
            '(' => self.step(TokenKind::Open),
            ')' => self.step(TokenKind::Close),
            '-' | '+' if alone => {
                self.at += 1;
                return self.next();
            }
            // `--amend` and `-S` are options of a program.
            '-' if self.peek(1) != Some('-') && !self.is_letter_alone(1) => self.step(TokenKind::Not),
            '+' => self.step(TokenKind::Plus),
            c if QUOTES.contains(&c) => self.quoted()?,
            _ => self.field().map_or_else(|| self.word(), TokenKind::Field),
        };
        Ok(Some(Sign { at: begin + 1, kind }))
    }

    /// Whether a single letter stands there and nothing more.
    fn is_letter_alone(&self, ahead: usize) -> bool {
        let is_end = |c: char| c.is_whitespace() || c == ')';
        self.peek(ahead).is_some_and(|c| c.is_ascii_alphabetic()) && self.peek(ahead + 1).is_none_or(is_end)
    }

    fn step(&mut self, kind: TokenKind) -> TokenKind {
        self.at += 1;
        kind
    }

    fn quoted(&mut self) -> Result<TokenKind, QueryError> {
        let begin = self.at;
        self.at += 1;
        let Some(length) = self.chars[self.at..].iter().position(|c| QUOTES.contains(c)) else {
            return Err(QueryError { at: begin + 1, what: "this quotation mark is never closed".to_owned() });
        };
        let text = self.chars[self.at..self.at + length].iter().collect();
        self.at += length + 1;
        Ok(TokenKind::Quoted(text))
    }

    /// A field name with its colon, unless it is part of a URL (`http://`, `localhost:8080`), of
    /// code (`std::`) or of a message (`TypeError: …`).
    fn field(&mut self) -> Option<String> {
        let letters = self.chars[self.at..].iter().take_while(|c| c.is_ascii_alphabetic()).count();
        if letters < 2 || self.peek(letters) != Some(':') || matches!(self.peek(letters + 1), Some(':' | '/')) {
            return None;
        }
        let name: String = self.chars[self.at..self.at + letters].iter().collect();
        let is_known = FIELDS.iter().any(|(known, _)| name.eq_ignore_ascii_case(known));
        let names_what = self.peek(letters + 1).is_some_and(|c| !c.is_whitespace() && !c.is_ascii_digit());
        if !is_known && !names_what {
            return None;
        }
        self.at += letters + 1;
        Some(name)
    }

    /// Everything up to a space; brackets opened inside belong to it, or to a word that follows.
    fn word(&mut self) -> TokenKind {
        let begin = self.at;
        while let Some(c) = self.peek(0) {
            match c {
                '(' => self.open += 1,
                ')' if self.open == 0 => break,
                ')' => self.open -= 1,
                c if c.is_whitespace() || c.is_control() => break,
                c if QUOTES.contains(&c) && self.open == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        let text: String = self.chars[begin..self.at].iter().collect();
        match text.as_str() {
            "AND" | "&&" => TokenKind::And,
            "OR" | "||" | "|" => TokenKind::Or,
            "NOT" => TokenKind::Not,
            _ => TokenKind::Word(text),
        }
    }
}
