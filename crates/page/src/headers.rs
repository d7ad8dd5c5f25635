//! What do the header fields of a response say?
//!
//! Names and values lie back to back in one buffer: a response has about ten fields, and two
//! allocations for each would be wasteful.

use std::fmt::Write as _;

/// Header fields in the order received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    bytes: Vec<u8>,
    /// End offsets of each name and value; a name begins where the previous value ends.
    ends: Vec<(usize, usize)>,
}

impl Headers {
    /// No fields, with capacity for this many bytes and a few fields.
    pub fn with_room(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(16) }
    }

    /// Adds a field.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(name);
        let name_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((name_end, self.bytes.len()));
    }

    /// Appends a continuation line (obsolete line folding) to the last value; returns whether there
    /// is one.
    pub fn fold(&mut self, line: &[u8]) -> bool {
        let Some((_, end)) = self.ends.last_mut() else { return false };
        self.bytes.push(b' ');
        self.bytes.extend_from_slice(line);
        *end = self.bytes.len();
        true
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Names and values as received.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, &(name, value))| (&self.bytes[start..name], &self.bytes[name..value]))
    }

    /// Every value of a field as received; the name is case-insensitive.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).map(|(_, v)| v)
    }

    /// The first value of a field as text, with invalid bytes replaced; the name is
    /// case-insensitive.
    pub fn get(&self, name: &str) -> Option<String> {
        self.all(name).next()
    }

    /// Every value of a field, as text.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        self.values(name).map(|v| String::from_utf8_lossy(v).trim().to_owned())
    }

    /// The media type of `Content-Type`, in lower case, without parameters.
    pub fn mime(&self) -> Option<String> {
        let mime = self.content_type()?.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        (!mime.is_empty()).then_some(mime)
    }

    /// The value of `Content-Type` that counts. Of several, in several fields or separated by
    /// commas, browsers take the last that is one (Fetch standard, "extract a MIME type").
    fn content_type(&self) -> Option<String> {
        let first = self.get("content-type")?;
        let is_type = |value: &str| {
            let essence = value.split(';').next().unwrap_or("").trim();
            essence != "*/*" && essence.split_once('/').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
        };
        if !first.contains(',') && self.values("content-type").nth(1).is_none() {
            return Some(first);
        }
        let all: Vec<String> = self.all("content-type").collect();
        let mut types = all.iter().flat_map(|value| value.split(',')).map(str::trim).filter(|value| is_type(value));
        types.next_back().map(str::to_owned).or(Some(first))
    }

    /// The value of `Location`. Bytes that are no UTF-8 are escaped instead of replaced: servers
    /// that write paths in another encoding know them by these bytes.
    pub fn location(&self) -> Option<String> {
        let value = self.values("location").next()?.trim_ascii();
        if let Ok(text) = std::str::from_utf8(value) {
            return Some(text.to_owned());
        }
        let mut out = String::with_capacity(value.len() * 3);
        for &byte in value {
            if byte.is_ascii() {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        Some(out)
    }

    /// The content codings in the order applied, separated by commas.
    pub fn codings(&self) -> String {
        self.all("content-encoding").collect::<Vec<_>>().join(",")
    }

    /// The charset parameter of `Content-Type`, as written.
    pub fn charset(&self) -> Option<String> {
        self.content_type()?.split(';').skip(1).find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
        })
    }
}

impl<N: AsRef<[u8]>, V: AsRef<[u8]>> FromIterator<(N, V)> for Headers {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(fields: T) -> Self {
        let mut headers = Self::default();
        fields.into_iter().for_each(|(name, value)| headers.push(name.as_ref(), value.as_ref()));
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_order_folded_lines_with_theirs() {
        let mut headers: Headers = [("A", "1"), ("", ""), ("a", "2")].into_iter().collect();
        assert!(headers.fold(b"more"));
        headers.push(b"B", b"\xff");
        let fields: Vec<(&[u8], &[u8])> = headers.iter().collect();
        assert_eq!(fields, [(&b"A"[..], &b"1"[..]), (b"", b""), (b"a", b"2 more"), (b"B", b"\xff")]);
        assert_eq!(headers.all("a").collect::<Vec<_>>(), ["1", "2 more"]);
        assert_eq!((headers.get("b").as_deref(), headers.get("c"), headers.len()), (Some("\u{fffd}"), None, 4));
        assert!(!Headers::default().fold(b"nothing to go on"));
    }
    #[test]
    fn of_several_media_types_the_last_counts() {
        for (values, mime, charset) in [
            (&["text/html; charset=a"][..], Some("text/html"), Some("a")),
            (&["text/html, text/html; charset=b"], Some("text/html"), Some("b")),
            (&["text/plain", "TEXT/HTML;charset=\"c\""], Some("text/html"), Some("c")),
            (&["text/html; charset=d, */*"], Some("text/html"), Some("d")),
            (&["text/html, nonsense"], Some("text/html"), None),
            (&["html"], Some("html"), None),
            (&["a, b"], Some("a, b"), None),
            (&[""], None, None),
            (&[], None, None),
        ] {
            let headers: Headers = values.iter().map(|value| ("Content-Type", *value)).collect();
            assert_eq!((headers.mime().as_deref(), headers.charset().as_deref()), (mime, charset), "{values:?}");
        }
    }

    #[test]
    fn a_location_keeps_the_bytes_of_its_encoding() {
        for (value, location) in [(&b"/\xc3\xbc x"[..], "/ü x"), (b" /\xfc%20 ", "/%FC%20"), (b"", "")] {
            let headers: Headers = [(&b"location"[..], value)].into_iter().collect();
            assert_eq!(headers.location().as_deref(), Some(location));
        }
    }
}
