//! What is in the header of a record?

use orb_page::{Moment, Truncation};
use std::fmt::Write as _;
use std::hash::BuildHasher;
use std::net::IpAddr;

/// Generates unique, random-looking record ids: a counter mixed with a system-provided seed.
#[derive(Debug)]
pub(super) struct RecordIds {
    seed: [u64; 2],
    next: u64,
}

impl RecordIds {
    pub(super) fn new() -> Self {
        let draw = |n: u8| {
            std::hash::RandomState::new().hash_one((
                n,
                std::process::id(),
                Moment::now().0,
                std::thread::current().id(),
            ))
        };
        Self { seed: [draw(0), draw(1)], next: 0 }
    }

    /// The next id, as a version 4 UUID.
    pub(super) fn next(&mut self) -> RecordId {
        self.next += 1;
        let mut bytes = [0; 24];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip([self.seed[0], self.seed[1], self.next]) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        let n = xxhash_rust::xxh3::xxh3_128(&bytes);
        RecordId(n & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62)
    }
}

/// A record's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(u128);

impl std::fmt::Display for RecordId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.0;
        write!(
            f,
            "<urn:uuid:{:08x}-{:04x}-{:04x}-{:04x}-{:012x}>",
            n >> 96,
            n >> 80 & 0xffff,
            n >> 64 & 0xffff,
            n >> 48 & 0xffff,
            n & 0xffff_ffff_ffff
        )
    }
}

/// What a record holds, as its `WARC-Type` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarcType {
    /// About the file it begins.
    Warcinfo,
    /// An HTTP response.
    Response,
    /// An HTTP request.
    Request,
    /// A response whose payload an earlier record holds.
    Revisit,
    /// A document by another protocol.
    Resource,
    /// A conversation beside a resource.
    Metadata,
    /// What was made of another record: a rendered page.
    Conversion,
    /// Anything that other tools write.
    Other,
}

impl WarcType {
    /// All types that this crate writes.
    const OURS: [Self; 7] = [
        Self::Warcinfo,
        Self::Response,
        Self::Request,
        Self::Revisit,
        Self::Resource,
        Self::Metadata,
        Self::Conversion,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Warcinfo => "warcinfo",
            Self::Response => "response",
            Self::Request => "request",
            Self::Revisit => "revisit",
            Self::Resource => "resource",
            Self::Metadata => "metadata",
            Self::Conversion => "conversion",
            Self::Other => "",
        }
    }

    /// The type that a record's header states.
    pub(super) fn of(fields: &[(String, String)]) -> Self {
        let stated = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("WARC-Type"));
        let ours = stated.and_then(|(_, value)| Self::OURS.into_iter().find(|ours| ours.name() == value));
        ours.unwrap_or(Self::Other)
    }

    /// Whether its block begins with an HTTP head.
    pub(super) const fn is_http(self) -> bool {
        matches!(self, Self::Response | Self::Request | Self::Revisit)
    }
}

/// A record header under construction.
#[derive(Default)]
pub(super) struct Header {
    text: String,
}

impl Header {
    /// Starts a new header.
    pub(super) fn begin(&mut self, kind: WarcType, id: RecordId, at: Moment) {
        self.text.clear();
        let _ = write!(
            self.text,
            "WARC/1.1\r\nWARC-Type: {}\r\nWARC-Record-ID: {id}\r\nWARC-Date: {}\r\n",
            kind.name(),
            at.seconds()
        );
    }

    pub(super) fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = write!(self.text, "{name}: {value}\r\n");
    }

    /// The URL, with anything that would break the line percent-encoded.
    pub(super) fn target(&mut self, url: &str) {
        self.text.push_str("WARC-Target-URI: ");
        if url.bytes().any(|b| b <= b' ' || b == 0x7f) {
            for c in url.chars() {
                match c {
                    '\0'..=' ' | '\x7f' => {
                        let _ = write!(self.text, "%{:02X}", c as u32);
                    }
                    c => self.text.push(c),
                }
            }
        } else {
            self.text.push_str(url);
        }
        self.text.push_str("\r\n");
    }

    pub(super) fn address(&mut self, ip: Option<IpAddr>) {
        if let Some(ip) = ip {
            self.field("WARC-IP-Address", ip);
        }
    }

    pub(super) fn truncated(&mut self, truncated: Option<Truncation>) {
        let reason = match truncated {
            None => return,
            Some(Truncation::Length) => "length",
            Some(Truncation::Time) => "time",
            Some(Truncation::Disconnect) => "disconnect",
            Some(Truncation::Unwanted) => "unspecified",
        };
        self.field("WARC-Truncated", reason);
    }

    pub(super) fn digest(&mut self, digest: &[u8; 32]) {
        self.text.push_str("WARC-Payload-Digest: ");
        push_digest(&mut self.text, digest);
        self.text.push_str("\r\n");
    }

    /// Finishes the header with the block's type and length; returns the bytes to write.
    pub(super) fn end(&mut self, content_type: &str, length: u64) -> &[u8] {
        let _ = write!(self.text, "Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
        self.text.as_bytes()
    }
}

/// `sha256:` and the digest in hexadecimal.
pub(super) fn push_digest(out: &mut String, digest: &[u8; 32]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push_str("sha256:");
    for byte in digest {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn record_numbers_are_version_four_and_never_the_same() {
        let (mut a, mut b) = (RecordIds::new(), RecordIds::new());
        let ids: HashSet<_> = (0..1_000).flat_map(|_| [a.next(), b.next()]).collect();
        assert_eq!(ids.len(), 2_000);
        let text = a.next().to_string();
        assert_eq!(text.len(), "<urn:uuid:00000000-0000-4000-8000-000000000000>".len());
        assert_eq!(text.as_bytes()[24], b'4');
        assert!(b"89ab".contains(&text.as_bytes()[29]));
    }

    #[test]
    fn a_url_cannot_break_out_of_its_line() {
        let mut header = Header::default();
        header.target("http://a/b\r\nWARC-Type: evil c");
        assert_eq!(header.text, "WARC-Target-URI: http://a/b%0D%0AWARC-Type:%20evil%20c\r\n");
    }
}
