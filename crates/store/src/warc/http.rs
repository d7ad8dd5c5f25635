//! What do a response's head and framing say?
//!
//! Only as much as the index line and the reader need, parsed as warcio does, so that other tools'
//! indexes agree with ours.

use orb_page::Headers;

/// The status code as written, and the media type of the first `Content-Type`, as written.
pub(super) fn summary(head: &[u8]) -> (String, Option<String>) {
    let mut lines = head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end);
    let status_line = text(lines.next().unwrap_or(b""));
    let status = status_line.split(' ').filter(|s| !s.is_empty()).nth(1).unwrap_or("").to_owned();
    let mime = lines
        .take_while(|line| !line.is_empty())
        .find_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            let name = line[..colon].trim_ascii_end();
            name.eq_ignore_ascii_case(b"content-type").then(|| text(line[colon + 1..].trim_ascii_start()))
        })
        .map(|value| value.split([';', ' ', '\t', '\r', '\x0b', '\x0c']).next().unwrap_or("").to_owned());
    (status, mime)
}

/// UTF-8, or else Latin-1.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(s) => s.to_owned(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    }
}

/// The status code of a head, if it has one: three digits, as in the fetcher.
pub(super) fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|b| *b == b'\n').next()?;
    let rest = line[memchr::memchr2(b' ', b'\t', line)?..].trim_ascii_start();
    let digits = rest.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Whether the body is chunked (RFC 9112, 6.3): chunked must be the last coding applied.
pub(super) fn is_chunked(headers: &Headers) -> bool {
    headers.values("transfer-encoding").any(|value| {
        let last = value.rsplit(|b| *b == b',').next().unwrap_or_default();
        last.trim_ascii().eq_ignore_ascii_case(b"chunked")
    })
}

/// The header fields of a head, in order; continuation lines are joined.
pub(super) fn headers(head: &[u8]) -> Headers {
    let mut headers = Headers::default();
    for line in head.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_end).skip(1) {
        if matches!(line.first(), Some(b' ' | b'\t')) && headers.fold(line.trim_ascii()) {
            continue;
        }
        if let Some(colon) = memchr::memchr(b':', line) {
            headers.push(line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        }
    }
    headers
}

/// Removes chunked framing like the fetcher; invalid framing is returned as it is.
pub(super) fn dechunk(wire: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(wire.len());
    let mut rest = wire;
    while let Some((size, after)) = chunk_size(rest) {
        if size == 0 {
            return out;
        }
        let (chunk, after) = after.split_at(size.min(after.len()));
        out.extend_from_slice(chunk);
        let line_end = after.iter().take_while(|b| **b == b'\r').count();
        rest = after;
        if after.get(line_end) != Some(&b'\n') {
            break;
        }
        rest = &after[line_end + 1..];
    }
    if out.is_empty() && !rest.is_empty() {
        return wire.to_vec();
    }
    out
}

/// The size of a chunk, and what follows its line.
pub(super) fn chunk_size(rest: &[u8]) -> Option<(usize, &[u8])> {
    let (line, after) = rest.split_at(memchr::memchr(b'\n', rest)?);
    let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    if !matches!(line.get(digits), None | Some(b'\r' | b';' | b' ' | b'\t')) {
        return None;
    }
    let size = usize::from_str_radix(std::str::from_utf8(&line[..digits]).ok()?, 16).ok()?;
    Some((size, &after[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_head_tells_its_status_and_type() {
        let head = b"HTTP/1.1 404 Not Found\r\ncontent-TYPE : text/HTML; charset=x\r\nContent-Type: text/plain\r\n\r\n";
        assert_eq!(summary(head), ("404".into(), Some("text/HTML".into())));
        assert_eq!(summary(b"HTTP/1.0 200\r\n\r\n"), ("200".into(), None));
        assert_eq!(summary(b""), (String::new(), None));
        assert_eq!(status(b"HTTP/1.1 abc\r\n\r\n"), None);
        assert_eq!(status(b"HTTP/1.1\t200OK\r\n\r\n"), Some(200));
    }

    #[test]
    fn folded_header_lines_are_joined() {
        let h = headers(b"HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nno colon\r\nY:\r\n\r\n");
        assert_eq!(h.iter().collect::<Vec<_>>(), [(&b"X"[..], &b"a b"[..]), (b"Y", b"")]);
    }

    #[test]
    fn chunks_are_joined_and_broken_ones_given_as_far_as_they_go() {
        assert_eq!(dechunk(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"), b"abcde");
        assert_eq!(dechunk(b"3\r\nabc\r\n5\r\nde"), b"abcde");
        assert_eq!(dechunk(b"no chunks at all\nreally"), b"no chunks at all\nreally");
        assert_eq!(dechunk(b"ffffffffffffffff\r\nab"), b"ab");
        assert_eq!(dechunk(b"3 anything\r\nabc\r\r\n0\r\n\r\n"), b"abc");
    }

    #[test]
    fn a_body_is_chunked_where_that_was_done_last() {
        let chunked = |codings: &str| {
            is_chunked(&headers(format!("HTTP/1.1 200\r\nTransfer-Encoding: {codings}\r\n\r\n").as_bytes()))
        };
        assert!(chunked("gzip, Chunked") && chunked("chunked"));
        assert!(!chunked("chunked, gzip") && !chunked("unchunked") && !chunked("chunked\u{b}") && !chunked(""));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = (summary(&bytes), headers(&bytes), dechunk(&bytes));
        }
    }
}
