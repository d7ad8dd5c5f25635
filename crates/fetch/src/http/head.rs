//! Where does the head of a response end, what does it say, and how long is what follows?
//!
//! Our own parser of RFC 9112 heads, because the archive needs the bytes as received (case, order,
//! folding, reason phrase) and because servers err in more ways than strict parsers allow: bare
//! newlines, spaces before colons, lines without one, folded values. Each byte is searched for the
//! end once, so a head that drips in byte by byte costs no more than one that arrives at once.

use orb_page::Headers;

/// Maximum length of a head.
pub(super) const LARGEST_HEAD: usize = 256 * 1024;
/// Maximum number of fields: each costs far more memory than the three bytes it takes to send.
const MOST_FIELDS: usize = 2_000;

/// Finds the end of a head that arrives piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    /// Where to continue the search.
    from: usize,
}

/// The bytes are certainly not an HTTP head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotHttp;

impl Finder {
    /// The length of the head including its empty line, once that has arrived.
    pub(crate) fn find(&mut self, bytes: &[u8]) -> Result<Option<usize>, NotHttp> {
        const START: &[u8] = b"HTTP/";
        let known = bytes.len().min(START.len());
        if !bytes[..known].eq_ignore_ascii_case(&START[..known]) {
            return Err(NotHttp);
        }
        while let Some(at) = memchr::memchr(b'\n', &bytes[self.from..]) {
            let line_feed = self.from + at;
            let after = &bytes[line_feed + 1..];
            match after {
                [b'\n', ..] => return Ok(Some(line_feed + 2)),
                [b'\r', b'\n', ..] => return Ok(Some(line_feed + 3)),
                // Not enough has arrived to tell.
                [] | [b'\r'] => break,
                _ => self.from = line_feed + 1,
            }
        }
        if memchr::memchr(b'\n', &bytes[self.from..]).is_none() {
            self.from = bytes.len();
        }
        Ok(None)
    }
}

/// A parsed head.
#[derive(Debug)]
pub(crate) struct Head {
    /// 1 for HTTP/1.1 and above, 0 for HTTP/1.0.
    pub(crate) minor: u8,
    pub(crate) status: u16,
    /// Whether the version is HTTP/1.0 or HTTP/1.1, in any case.
    pub(crate) standard: bool,
    pub(crate) headers: Headers,
}

/// How the length of a body is determined (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyFraming {
    /// There is no body.
    Empty,
    /// This many bytes.
    Length(u64),
    /// In chunks.
    Chunked,
    /// Until the connection closes.
    Close,
}

impl Head {
    /// Parses a complete head including its empty line, or says why it is invalid.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let mut lines = bytes.split(|&b| b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l));
        let malformed = "the status line of the answer is malformed";
        let (minor, status) = lines.next().and_then(status_line).ok_or(malformed)?;
        let mut headers = Headers::with_room(bytes.len());
        for line in lines {
            if line.is_empty() {
                break;
            }
            if matches!(line[0], b' ' | b'\t') && headers.fold(line.trim_ascii()) {
                continue;
            }
            if let Some(colon) = memchr::memchr(b':', line) {
                if headers.len() == MOST_FIELDS {
                    return Err("the head of the answer has too many fields");
                }
                headers.push(line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            }
        }
        let standard =
            bytes.get(..8).is_some_and(|v| [&b"HTTP/1.1"[..], b"HTTP/1.0"].iter().any(|s| v.eq_ignore_ascii_case(s)));
        Ok(Self { minor, status, standard, headers })
    }

    /// How the body of this response is framed; `bodiless` if the request method has no response
    /// body.
    pub(super) fn framing(&self, bodiless: bool) -> BodyFraming {
        if bodiless || matches!(self.status, 100..=199 | 204 | 304) {
            return BodyFraming::Empty;
        }
        let mut coded = false;
        for value in self.values("transfer-encoding") {
            let last = value.rsplit(|&b| b == b',').next().unwrap_or_default().trim_ascii();
            if last.eq_ignore_ascii_case(b"chunked") {
                return BodyFraming::Chunked;
            }
            coded |= !last.eq_ignore_ascii_case(b"identity");
        }
        if coded {
            return BodyFraming::Close;
        }
        let mut length = None;
        for value in self.values("content-length").flat_map(|v| v.split(|&b| b == b',')) {
            let Some(told) = decimal(value.trim_ascii()) else { return BodyFraming::Close };
            if length.is_some_and(|l| l != told) {
                return BodyFraming::Close;
            }
            length = Some(told);
        }
        length.map_or(BodyFraming::Close, BodyFraming::Length)
    }

    /// Whether the server keeps the connection alive, and for how many seconds if it says so.
    pub(super) fn keeps(&self, framing: BodyFraming) -> Option<Option<u64>> {
        let contradictory = framing == BodyFraming::Chunked && self.values("content-length").next().is_some();
        if framing == BodyFraming::Close || contradictory || self.status == 101 {
            return None;
        }
        let told = |token: &[u8]| {
            let mut tokens = self.values("connection").flat_map(|v| v.split(|&b| b == b','));
            tokens.any(|t| t.trim_ascii().eq_ignore_ascii_case(token))
        };
        if told(b"close") || (self.minor == 0 && !told(b"keep-alive")) {
            return None;
        }
        let parameters = self.values("keep-alive").flat_map(|v| v.split(|&b| b == b','));
        let timeout = |p: &[u8]| {
            let (key, value) = p.split_at(memchr::memchr(b'=', p)?);
            key.trim_ascii().eq_ignore_ascii_case(b"timeout").then(|| decimal(value[1..].trim_ascii()))?
        };
        Some(parameters.map(timeout).find(Option::is_some).flatten())
    }

    /// The values of a field, by its lower-case name.
    pub(super) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers.values(name)
    }
}

/// Minor version and status of a status line.
fn status_line(line: &[u8]) -> Option<(u8, u16)> {
    let rest = line.get(..5)?.eq_ignore_ascii_case(b"HTTP/").then(|| &line[5..])?;
    let space = rest.iter().position(|&b| b == b' ' || b == b'\t')?;
    let minor = match &rest[..space] {
        b"1.0" | b"0.9" => 0,
        version if version.first()?.is_ascii_digit() => 1,
        _ => return None,
    };
    let status = rest[space..].trim_ascii_start();
    let code = decimal(status.get(..3)?)?;
    if status.get(3).is_some_and(u8::is_ascii_digit) || !(100..=999).contains(&code) {
        return None;
    }
    Some((minor, u16::try_from(code).ok()?))
}

/// A number of digits only; saturates.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0_u64, |n, d| n.saturating_mul(10).saturating_add(u64::from(d - b'0'))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn end_of(bytes: &[u8]) -> Result<Option<usize>, NotHttp> {
        Finder::default().find(bytes)
    }

    fn parse(text: &str) -> Head {
        Head::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_end_is_found_with_either_kind_of_line_end() {
        assert_eq!(end_of(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"), Ok(Some(25)));
        assert_eq!(end_of(b"HTTP/1.1 200 OK\nA: b\n\nbody"), Ok(Some(22)));
        assert_eq!(end_of(b"HTTP/1.1 200 OK\r\n\n"), Ok(Some(18)));
        assert_eq!(end_of(b"HTTP/1.1 200 OK\r\nA: b\r\n"), Ok(None));
        assert_eq!(end_of(b"HT"), Ok(None));
        assert_eq!(end_of(b""), Ok(None));
        assert_eq!(end_of(b"SSH-2.0-x\r\n"), Err(NotHttp));
        assert_eq!(end_of(b"<html>"), Err(NotHttp));
    }

    #[test]
    fn names_values_and_folds_are_kept_as_they_came() {
        let head =
            parse("HTTP/1.1 200 Fine by me\r\nX-OdD: a\r\n  b\r\nno colon here\r\nServer : x \r\nEmpty:\r\n\r\n");
        let fields: Vec<_> = head.headers.iter().collect();
        assert_eq!(fields, [(&b"X-OdD"[..], &b"a b"[..]), (b"Server", b"x"), (b"Empty", b"")]);
        assert_eq!((head.minor, head.status), (1, 200));
    }

    #[test]
    fn status_lines_are_read_leniently_but_not_blindly() {
        let status = |line: &str| status_line(line.as_bytes());
        assert_eq!(status("HTTP/1.1 404 Not Found"), Some((1, 404)));
        assert_eq!(status("HTTP/1.0   200"), Some((0, 200)));
        assert_eq!(status("http/1.1 200 OK"), Some((1, 200)));
        assert_eq!(status("HTTP/2 200"), Some((1, 200)));
        for wrong in
            ["", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 OK", "HTTP/x 200", "HTTP/1.1 099"]
        {
            assert_eq!(status(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn bodies_end_as_the_standard_says() {
        let framing =
            |status: u16, fields: &str| parse(&format!("HTTP/1.1 {status} x\r\n{fields}\r\n\r\n")).framing(false);
        assert_eq!(framing(200, "Content-Length: 5"), BodyFraming::Length(5));
        assert_eq!(framing(200, "Content-Length: 5, 5\r\nContent-Length: 5"), BodyFraming::Length(5));
        assert_eq!(framing(200, "Content-Length: 5\r\nContent-Length: 6"), BodyFraming::Close);
        assert_eq!(framing(200, "Content-Length: -5"), BodyFraming::Close);
        assert_eq!(framing(200, "Content-Length: 99999999999999999999999"), BodyFraming::Length(u64::MAX));
        assert_eq!(framing(200, "Transfer-Encoding: gzip, Chunked"), BodyFraming::Chunked);
        assert_eq!(framing(200, "Content-Length: 5\r\nTransfer-Encoding: chunked"), BodyFraming::Chunked);
        assert_eq!(framing(200, "Transfer-Encoding: identity\r\nContent-Length: 5"), BodyFraming::Length(5));
        assert_eq!(framing(200, "Transfer-Encoding: gzip\r\nContent-Length: 5"), BodyFraming::Close);
        assert_eq!(framing(200, "A: b"), BodyFraming::Close);
        assert_eq!(framing(204, "Content-Length: 5"), BodyFraming::Empty);
        assert_eq!(framing(304, "Transfer-Encoding: chunked"), BodyFraming::Empty);
        assert_eq!(parse("HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n").framing(true), BodyFraming::Empty);
    }

    #[test]
    fn connections_are_kept_when_both_sides_agree() {
        let keeps = |text: &str| {
            let head = parse(&format!("{text}\r\n\r\n"));
            head.keeps(head.framing(false))
        };
        assert_eq!(keeps("HTTP/1.1 200 x\r\nContent-Length: 0"), Some(None));
        assert_eq!(keeps("HTTP/1.1 200 x\r\nContent-Length: 0\r\nKeep-Alive: max=9, timeout=5"), Some(Some(5)));
        assert_eq!(keeps("HTTP/1.1 200 x\r\nContent-Length: 0\r\nConnection: x, Close"), None);
        assert_eq!(keeps("HTTP/1.0 200 x\r\nContent-Length: 0"), None);
        assert_eq!(keeps("HTTP/1.0 200 x\r\nContent-Length: 0\r\nConnection: keep-alive"), Some(None));
        assert_eq!(keeps("HTTP/1.1 200 x"), None);
        assert_eq!(keeps("HTTP/1.1 200 x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked"), None);
    }

    proptest! {
        #[test]
        fn pieces_and_the_whole_have_the_same_end(text in "HTTP/1\\.1 200 x[a:\r\n ]{0,40}", cuts in proptest::collection::vec(0_usize..60, 0..6)) {
            let bytes = text.as_bytes();
            let mut finder = Finder::default();
            let mut cuts: Vec<_> = cuts.into_iter().filter(|&c| c < bytes.len()).collect();
            cuts.sort_unstable();
            let mut found = None;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                if found.is_none() {
                    found = finder.find(&bytes[..cut]).unwrap();
                }
            }
            prop_assert_eq!(found, end_of(bytes).unwrap());
        }

        #[test]
        fn no_bytes_break_the_reader(bytes: Vec<u8>) {
            let _ = end_of(&bytes);
            if let Ok(head) = Head::parse(&[b"HTTP/1.1 200 x\r\n", &bytes[..], b"\r\n\r\n"].concat()) {
                let _ = (head.framing(false), head.keeps(BodyFraming::Empty));
            }
        }
    }
}
