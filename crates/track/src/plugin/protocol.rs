//! What is a comparison program asked, and what must it answer?
//!
//! JSON lines in both directions; `docs/compare.md` documents the protocol. A request carries an
//! id, and only the response with that id counts: a program that answers anything else is not asked
//! about another page.

use serde::{Deserialize, Serialize};

/// Maximum characters of an answer's explanation.
const MOST_DETAIL: usize = 500;

/// Two versions of a page, as a program is asked about them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramQuestion<'a> {
    pub(crate) url: &'a str,
    pub(crate) mime: &'a str,
    /// What it is shown of them: `bytes`, `text`, `main`, `selector`.
    pub(crate) by: &'a str,
    pub(crate) old: ShownContent<'a>,
    pub(crate) new: ShownContent<'a>,
}

/// What a program sees of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ShownContent<'a> {
    /// Its text.
    Text(&'a str),
    /// The whole content.
    Bytes(&'a [u8]),
}

impl ShownContent<'_> {
    fn written(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Bytes(bytes) => base64(bytes),
        }
    }
}

/// A request on the wire.
#[derive(Serialize)]
struct ProgramRequest<'a> {
    id: u64,
    url: &'a str,
    mime: &'a str,
    by: &'a str,
    encoding: &'static str,
    old: String,
    new: String,
}

/// An answer on the wire; unknown keys are ignored, for later versions.
#[derive(Deserialize)]
struct Answered {
    id: u64,
    same: bool,
    #[serde(default)]
    detail: Option<String>,
}

/// A program's verdict on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramAnswer {
    pub(crate) same: bool,
    pub(crate) detail: String,
}

/// Encodes a request.
pub(crate) fn question(id: u64, question: &ProgramQuestion<'_>) -> Vec<u8> {
    let ProgramQuestion { url, mime, by, old, new } = question;
    let encoding = if matches!(new, ShownContent::Bytes(_)) { "base64" } else { "text" };
    let asked = ProgramRequest { id, url, mime, by, encoding, old: old.written(), new: new.written() };
    let mut line = serde_json::to_vec(&asked).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Parses an answer; the error says what is wrong with it.
pub(crate) fn answer(id: u64, line: &[u8]) -> Result<ProgramAnswer, String> {
    let text = std::str::from_utf8(line).map_err(|_| "answered what is not UTF-8".to_owned())?;
    let answered: Answered = serde_json::from_str(text.trim()).map_err(|why| {
        format!("answered '{}', which is not {{\"id\": {id}, \"same\": true or false}}: {why}", one_line(text, 80))
    })?;
    if answered.id != id {
        return Err(format!("answered with id {} to the question with id {id}", answered.id));
    }
    let detail = one_line(&answered.detail.unwrap_or_default(), MOST_DETAIL);
    Ok(ProgramAnswer { same: answered.same, detail })
}

/// A text on one line, truncated.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Base64 (RFC 4648), with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let group = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_line_and_its_answer_is_understood() {
        let (old, new) = (ShownContent::Text("a\nb"), ShownContent::Text("c"));
        let asked = question(7, &ProgramQuestion { url: "http://h/", mime: "text/html", by: "text", old, new });
        let text = String::from_utf8(asked).unwrap();
        assert_eq!(
            text,
            "{\"id\":7,\"url\":\"http://h/\",\"mime\":\"text/html\",\"by\":\"text\",\"encoding\":\"text\",\
            \"old\":\"a\\nb\",\"new\":\"c\"}\n"
        );
        let said = answer(7, b"{\"id\":7,\"same\":false,\"detail\":\"two\\nlines\",\"more\":1}\n");
        assert_eq!(said, Ok(ProgramAnswer { same: false, detail: "two lines".into() }));
        for (line, why) in [
            (&b"\xFF\n"[..], "not UTF-8"),
            (b"yes\n", "answered 'yes'"),
            (b"{\"id\":7}\n", "same"),
            (b"{\"id\":8,\"same\":true}\n", "with id 8"),
            (b"[1]\n", "answered '[1]'"),
        ] {
            assert!(answer(7, line).is_err_and(|said| said.contains(why)), "{why}");
        }
    }

    #[test]
    fn bytes_are_written_in_base64() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob\u{0}", "Zm9vYgA=")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
