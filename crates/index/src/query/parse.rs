//! How is a query parsed?

use super::lex::{Sign, TokenKind, signs};
use super::{FIELDS, Filter, How, Leaf, Node, QueryError, QueryField, date};
use orb_page::Moment;

/// Maximum characters, tokens and nested brackets of a query.
const LONGEST: usize = 4_000;
const MOST_SIGNS: usize = 200;
const DEEPEST: usize = 30;

/// Parses a query; `now` is the reference for `since:7d`.
pub(crate) fn parse(query: &str, now: Moment) -> Result<Node, QueryError> {
    let length = query.chars().count();
    if length > LONGEST {
        return wrong(LONGEST, format!("it has {length} characters, and {LONGEST} are understood"));
    }
    let signs = signs(query)?;
    if let Some(sign) = signs.get(MOST_SIGNS) {
        return wrong(sign.at, format!("it has more than {MOST_SIGNS} words and signs"));
    }
    let mut parser = Parser { signs: &signs, at: 0, end: length + 1, depth: 0, now };
    let node = parser.either()?;
    if let Some(sign) = parser.peek() {
        return wrong(sign.at, "this bracket was never opened".to_owned());
    }
    match node {
        None => wrong(1, "there is no word to look for".to_owned()),
        Some(node) if only_excludes(&node) => {
            wrong(1, "it only says what to leave out; say what to look for, too, or * for every page".to_owned())
        }
        Some(node) => Ok(node),
    }
}

fn wrong<T>(at: usize, what: String) -> Result<T, QueryError> {
    Err(QueryError { at, what })
}

/// Whether a query consists only of exclusions.
fn only_excludes(node: &Node) -> bool {
    match node {
        Node::Not(_) => true,
        Node::And(nodes) => nodes.iter().all(only_excludes),
        Node::Or(nodes) => nodes.iter().any(only_excludes),
        _ => false,
    }
}

struct Parser<'a> {
    signs: &'a [Sign],
    at: usize,
    /// The position after the last character.
    end: usize,
    depth: usize,
    now: Moment,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Sign> {
        self.signs.get(self.at)
    }

    fn is(&self, kind: &TokenKind) -> bool {
        self.peek().is_some_and(|sign| sign.kind == *kind)
    }

    /// Consumes a token if it comes next.
    fn take(&mut self, kind: &TokenKind) -> Option<&'a Sign> {
        let sign = self.peek().filter(|sign| sign.kind == *kind)?;
        self.at += 1;
        Some(sign)
    }

    /// `a b OR c d`; `None` if there are no terms.
    fn either(&mut self) -> Result<Option<Node>, QueryError> {
        let mut nodes = Vec::new();
        loop {
            let begin = self.at;
            let node = self.all()?;
            let or = self.take(&TokenKind::Or);
            match (&node, or) {
                (None, Some(or)) if begin + 1 == self.at => {
                    return wrong(or.at, "something must stand before OR".into());
                }
                _ => nodes.extend(node),
            }
            let Some(or) = or else { break };
            if self.peek().is_none() || self.is(&TokenKind::Close) {
                return wrong(or.at, "something must follow OR".into());
            }
        }
        Ok(match nodes.len() {
            0 | 1 => nodes.pop(),
            _ => Some(Node::Or(nodes)),
        })
    }

    /// `a b AND c`.
    fn all(&mut self) -> Result<Option<Node>, QueryError> {
        let mut nodes = Vec::new();
        let mut begun = false;
        loop {
            if let Some(and) = self.take(&TokenKind::And) {
                if !begun {
                    return wrong(and.at, "something must stand before AND".into());
                }
                if self.peek().is_none_or(|next| matches!(next.kind, TokenKind::Close | TokenKind::Or | TokenKind::And))
                {
                    return wrong(and.at, "something must follow AND".into());
                }
                continue;
            }
            match self.peek().map(|sign| &sign.kind) {
                None | Some(TokenKind::Close | TokenKind::Or) => break,
                Some(_) => nodes.extend(self.clause(false)?),
            }
            begun = true;
        }
        Ok(match nodes.len() {
            0 | 1 => nodes.pop(),
            _ => Some(Node::And(nodes)),
        })
    }

    /// One clause; `None` if it has no letters.
    fn clause(&mut self, required: bool) -> Result<Option<Node>, QueryError> {
        let Some(sign) = self.peek() else {
            return wrong(self.end, "something must follow here".into());
        };
        self.at += 1;
        match &sign.kind {
            TokenKind::Not | TokenKind::Plus => {
                self.deeper(sign)?;
                if self.peek().is_none_or(|next| matches!(next.kind, TokenKind::Close | TokenKind::Or | TokenKind::And))
                {
                    return wrong(sign.at, "something must follow NOT".into());
                }
                let node = self.clause(true)?;
                self.depth -= 1;
                let negated = sign.kind == TokenKind::Not;
                Ok(node.map(|node| if negated { Node::Not(Box::new(node)) } else { node }))
            }
            TokenKind::Open => {
                self.deeper(sign)?;
                let node = self.either()?;
                if self.take(&TokenKind::Close).is_none() {
                    return wrong(sign.at, "this bracket is never closed".into());
                }
                self.depth -= 1;
                Ok(node)
            }
            TokenKind::Field(name) => self.field(sign.at, name),
            TokenKind::Quoted(text) => Ok(leaf(None, text, How::Phrase, true)),
            TokenKind::Word(text) => Ok(word(None, text, required)),
            TokenKind::Close | TokenKind::And | TokenKind::Or => wrong(sign.at, "a word must stand here".into()),
        }
    }

    fn deeper(&mut self, sign: &Sign) -> Result<(), QueryError> {
        self.depth += 1;
        if self.depth > DEEPEST { wrong(sign.at, format!("it is nested more than {DEEPEST} deep")) } else { Ok(()) }
    }

    /// `name:` and what follows.
    fn field(&mut self, at: usize, name: &str) -> Result<Option<Node>, QueryError> {
        let lower = name.to_ascii_lowercase();
        let Some((known, field)) = FIELDS.iter().find(|(known, _)| *known == lower) else {
            return wrong(at, unknown(&lower));
        };
        let value = self.peek().filter(|next| next.at == at + name.chars().count() + 1).map(|next| &next.kind);
        let (text, quoted) = match value {
            Some(TokenKind::Word(text)) => (text, false),
            Some(TokenKind::Quoted(text)) => (text, true),
            Some(TokenKind::Open) if matches!(field, QueryField::Words(_)) => return self.group(*field),
            _ => return wrong(at, format!("what to look for must follow {known}: at once")),
        };
        let place = at + name.chars().count() + 1;
        self.at += 1;
        let tag = |tag: &str, value: &str| Some(Node::Filter(Filter::Tag(format!("{tag}={value}"))));
        Ok(match *field {
            QueryField::Words(part) if quoted => leaf(Some(part), text, How::Phrase, true),
            QueryField::Words(part) => word(Some(part), text, true),
            QueryField::Since => Some(Node::Filter(Filter::Since(date::begin(text, self.now, place)?))),
            QueryField::Until => Some(Node::Filter(Filter::Until(date::end(text, self.now, place)?))),
            QueryField::Tag("type") => tag("type", text.trim_start_matches('.').to_ascii_lowercase().as_str()),
            QueryField::Tag(name) => tag(name, &text.to_ascii_lowercase().replace('_', "-")),
        })
    }

    /// `title:(a OR b)`: every term inside is searched in that field.
    fn group(&mut self, field: QueryField) -> Result<Option<Node>, QueryError> {
        let mut node = self.clause(true)?;
        if let (Some(node), QueryField::Words(part)) = (&mut node, field) {
            within(node, part);
        }
        Ok(node)
    }
}

/// Restricts every term of a node to one field, unless it names another.
fn within(node: &mut Node, part: crate::schema::TextField) {
    match node {
        Node::And(nodes) | Node::Or(nodes) => nodes.iter_mut().for_each(|node| within(node, part)),
        Node::Not(node) => within(node, part),
        Node::Leaf(leaf) => _ = leaf.part.get_or_insert(part),
        Node::All | Node::Filter(_) => {}
    }
}

fn leaf(part: Option<crate::schema::TextField>, text: &str, how: How, required: bool) -> Option<Node> {
    let has_words = !crate::analyze::words(text).is_empty();
    has_words.then(|| Node::Leaf(Leaf { part, text: text.to_owned(), how, required }))
}

/// A term with its suffix: `*` for a prefix, `~` for fuzzy.
fn word(part: Option<crate::schema::TextField>, text: &str, required: bool) -> Option<Node> {
    if text == "*" {
        return Some(Node::All);
    }
    if let Some(stem) = text.strip_suffix('*') {
        return leaf(part, stem, How::Beginning, required);
    }
    if let Some((stem, distance)) = text.rsplit_once('~')
        && let Some(distance) = distance_of(stem, distance)
    {
        return leaf(part, stem, How::Nearly(distance), required);
    }
    leaf(part, text, How::Exactly, required)
}

/// The edit distance: as given, or by the length of the term.
fn distance_of(stem: &str, said: &str) -> Option<u8> {
    match (said, stem.chars().count()) {
        ("", 0..6) | ("1", _) => Some(1),
        ("" | "2", _) => Some(2),
        _ => None,
    }
}

/// An error for an unknown field, with the nearest known one.
fn unknown(name: &str) -> String {
    let nearest = FIELDS.iter().map(|(known, _)| (strsim(name, known), *known)).min();
    match nearest.filter(|(distance, _)| *distance <= (name.len() / 3).clamp(1, 3)) {
        Some((_, near)) => format!("there is no field {name}:, did you mean {near}:?"),
        None => {
            let names: Vec<String> = FIELDS.iter().map(|(name, _)| format!("{name}:")).collect();
            format!("there is no field {name}:, only {}; in quotation marks it is looked for as text", names.join(" "))
        }
    }
}

/// Edit distance of two short names, with transpositions (Damerau–Levenshtein).
fn strsim(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(a.len())
}
