//! What does a client see that shares no code with the server?

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A response, as far as one came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Maximum bytes read of a response.
const ENOUGH: u64 = 3 << 20;

/// Requests a URL whose host is an address, over its own connection.
pub(crate) fn get(url: &str, more: &str) -> Answer {
    let rest = url.strip_prefix("http://").unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    parse(&exchange(authority, &format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{more}\r\n")))
}

/// Sends bytes, and reads until the server closes or the maximum is reached.
pub(crate) fn exchange(authority: &str, request: &str) -> Vec<u8> {
    let mut socket = TcpStream::connect(authority).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    match socket.take(ENOUGH).read_to_end(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("no end to {request:?}"),
        _ => bytes,
    }
}

/// Parses a response of whatever quality, skipping interim ones.
pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Answer::default();
    };
    let (head, body) = (String::from_utf8_lossy(&bytes[..end]).into_owned(), &bytes[end + 4..]);
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|word| word.parse().ok()).unwrap_or(0);
    if (100..200).contains(&status) {
        return parse(body);
    }
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut answer = Answer { status, headers, body: body.to_vec() };
    if answer.header("transfer-encoding") == Some("chunked") {
        answer.body = unchunked(body);
    }
    answer
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let line = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = usize::from_str_radix(line.split(';').next().unwrap_or(""), 16).unwrap_or(0);
        let Some(chunk) = bytes.get(end + 2..end + 2 + length).filter(|_| length > 0) else {
            break;
        };
        out.extend_from_slice(chunk);
        bytes = bytes.get(end + 2 + length + 2..).unwrap_or_default();
    }
    out
}
