//! What does the client request?
//!
//! As much of RFC 9112 as such a server needs: the request line in origin or absolute form, a few
//! header fields, a body of known length.

use memchr::memmem;

/// Maximum length of a request head; the web has links of 64 kB.
pub(super) const LONGEST_HEAD: usize = 256 << 10;
/// Maximum length of a request body.
const LONGEST_BODY: usize = 16 << 20;

/// One request, as slices of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WireRequest<'a> {
    pub(super) method: &'a str,
    /// Path and query.
    pub(super) target: &'a str,
    /// The requested host; empty if the request names none.
    pub(super) host: &'a str,
    /// Whether the request is direct and not through us as a proxy.
    pub(super) direct: bool,
    pub(super) agent: &'a str,
    pub(super) cookie: &'a str,
    pub(super) accepts_gzip: bool,
    pub(super) none_match: &'a str,
    pub(super) modified_since: &'a str,
    pub(super) keeps_alive: bool,
    /// The request body.
    pub(super) body: &'a [u8],
    /// Length of head and body in bytes.
    pub(super) length: usize,
}

/// The result of parsing the beginning of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParsedRequest<'a> {
    /// A complete request.
    Whole(WireRequest<'a>),
    /// An incomplete one.
    More,
    /// Not a request, with the status to respond with.
    Refused(u16),
}

/// Parses one request.
pub(super) fn read(bytes: &[u8]) -> ParsedRequest<'_> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else {
        return if bytes.len() > LONGEST_HEAD { ParsedRequest::Refused(431) } else { ParsedRequest::More };
    };
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else {
        return ParsedRequest::Refused(400);
    };
    let (line, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return ParsedRequest::Refused(400);
    };
    let mut request =
        WireRequest { method, keeps_alive: version == "HTTP/1.1", length: end + 4, ..WireRequest::default() };
    let mut body = 0_usize;
    for field in fields.split("\r\n").filter(|field| !field.is_empty()) {
        let Some((name, value)) = field.split_once(':') else {
            return ParsedRequest::Refused(400);
        };
        let value = value.trim_matches([' ', '\t']);
        match name.len() {
            4 if name.eq_ignore_ascii_case("host") => request.host = value,
            6 if name.eq_ignore_ascii_case("cookie") => request.cookie = value,
            10 if name.eq_ignore_ascii_case("user-agent") => request.agent = value,
            10 if name.eq_ignore_ascii_case("connection") => keep_alive(value, &mut request),
            13 if name.eq_ignore_ascii_case("if-none-match") => request.none_match = value,
            14 if name.eq_ignore_ascii_case("content-length") => body = value.parse().unwrap_or(usize::MAX),
            15 if name.eq_ignore_ascii_case("accept-encoding") => request.accepts_gzip = value.contains("gzip"),
            17 if name.eq_ignore_ascii_case("if-modified-since") => request.modified_since = value,
            17 if name.eq_ignore_ascii_case("transfer-encoding") => return ParsedRequest::Refused(411),
            _ => {}
        }
    }
    if body > LONGEST_BODY {
        return ParsedRequest::Refused(413);
    }
    request.length += body;
    if bytes.len() < request.length {
        return ParsedRequest::More;
    }
    request.body = &bytes[end + 4..request.length];
    request.direct = target.starts_with('/');
    (request.host, request.target) = addressed(target, request.host);
    if request.target.starts_with('/') { ParsedRequest::Whole(request) } else { ParsedRequest::Refused(400) }
}

fn keep_alive(value: &str, request: &mut WireRequest<'_>) {
    if value.eq_ignore_ascii_case("close") {
        request.keeps_alive = false;
    } else if value.eq_ignore_ascii_case("keep-alive") {
        request.keeps_alive = true;
    }
}

/// Host and path of a request target, which contains the host if we are used as a proxy.
fn addressed<'a>(target: &'a str, host: &'a str) -> (&'a str, &'a str) {
    let absolute = target.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("http://"));
    match absolute {
        None => (host, target),
        Some((_, rest)) => match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_read_whole() {
        let bytes = b"GET /a?b HTTP/1.1\r\nHOST: h1.test\r\nUser-Agent:  orb \r\naccept-encoding: br, gzip\r\n\r\nGET";
        let ParsedRequest::Whole(request) = read(bytes) else { panic!("not whole") };
        assert_eq!((request.target, request.host, request.agent), ("/a?b", "h1.test", "orb"));
        assert!(request.accepts_gzip && request.keeps_alive);
        assert_eq!(&bytes[request.length..], b"GET");
    }

    #[test]
    fn a_proxy_is_asked_in_absolute_form() {
        for (target, expected) in [("http://h7.test/a", ("h7.test", "/a")), ("HTTP://h7.test:8", ("h7.test:8", "/"))] {
            assert_eq!(addressed(target, "proxy.test"), expected);
        }
    }

    #[test]
    fn a_body_is_waited_for_and_taken() {
        let bytes = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell";
        assert_eq!(read(bytes), ParsedRequest::More);
        let whole = [bytes.as_slice(), b"oGET"].concat();
        assert!(
            matches!(read(&whole), ParsedRequest::Whole(request) if request.length == whole.len() - 3 && request.body == b"hello")
        );
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for odd in [
            "\r\n\r\n",
            "GET /\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET a b\r\n\r\n",
        ] {
            assert_eq!(read(odd.as_bytes()), ParsedRequest::Refused(400), "{odd:?}");
        }
        assert_eq!(read(&vec![b'a'; LONGEST_HEAD + 1]), ParsedRequest::Refused(431));
        assert_eq!(read(b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"), ParsedRequest::Refused(413));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&bytes);
            read(&[b"GET ".as_slice(), &bytes, b" HTTP/1.1\r\n\r\n"].concat());
        }
    }
}
