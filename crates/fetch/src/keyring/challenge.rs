//! How does a server ask for authentication? (RFC 9110, 11.6.1)
//!
//! One field may contain several challenges, and commas separate both the challenges and the
//! parameters of each.

/// Maximum parameters per field.
const MOST: usize = 64;

/// One challenge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Lower case.
    pub(super) scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// The value of a parameter, by its name in lower case.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The realm.
    pub(super) fn realm(&self) -> &str {
        self.get("realm").unwrap_or_default()
    }

    /// Whether only the nonce was stale.
    pub(super) fn is_stale(&self) -> bool {
        self.get("stale").is_some_and(|stale| stale.eq_ignore_ascii_case("true"))
    }
}

/// The challenges in a field's value.
pub(super) fn parse(field: &str) -> Vec<Challenge> {
    let mut all: Vec<Challenge> = Vec::new();
    let mut rest = field;
    for _ in 0..MOST {
        rest = rest.trim_start_matches([',', ' ', '\t', '=']);
        let end = rest.find([',', ' ', '\t', '=', '"']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            match after.chars().next() {
                Some(odd) => rest = &after[odd.len_utf8()..],
                None => break,
            }
            continue;
        }
        rest = after;
        if let Some(value) = after.trim_start().strip_prefix('=') {
            let (value, left) = self::value(value.trim_start());
            rest = left;
            if let Some(last) = all.last_mut() {
                last.parameters.push((word.to_ascii_lowercase(), value));
            }
        } else {
            all.push(Challenge { scheme: word.to_ascii_lowercase(), parameters: Vec::new() });
        }
    }
    all
}

/// A token or a quoted string at the start, and the rest.
pub(super) fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return (value, &quoted[at + 1..]),
            c => {
                value.push(c);
                escaped = false;
            }
        }
    }
    (value, "")
}
