//! Is a response the same however the network fragments it, and the same when read back from the
//! archive?

use crate::{options, project_in, scratch};
use bytes::Bytes;
use orb_fetch::{FetchConfig, Method, Rehearsal, decode};
use orb_page::{Body, Moment, Response, ResponseKind, WarcPosition};
use orb_store::{Archive, ArchiveReader, Encoder, Exchange, RecordedAs};
use std::cell::RefCell;

thread_local! {
    static REHEARSAL: Rehearsal = Rehearsal::new().unwrap_or_else(|e| panic!("no sockets: {e}"));
}

fn hear(pieces: &[&[u8]], method: Method, config: &FetchConfig) -> Option<Response> {
    REHEARSAL.with(|rehearsal| rehearsal.hear(pieces, method, config)).ok()
}

fn bytes_of(body: &Body) -> Bytes {
    body.read(u64::MAX).unwrap_or_else(|e| panic!("a body cannot be read: {e}"))
}

/// A response: head, framing, body. Input: an option byte, a byte that says where to split, then
/// the response.
pub fn response(bytes: &[u8]) {
    let Some(([options, cut], stream)) = bytes.split_first_chunk() else { return };
    let method = if options & 1 != 0 { Method::Head } else { Method::Get };
    let max_size = if options & 2 != 0 { 16 } else { 1_000_000 };
    let spool_over = if options & 0x1c == 0x1c { 8 } else { 1_000_000 };
    let config = FetchConfig { max_size, spool_over, ..FetchConfig::default() };
    let whole = hear(&[stream], method, &config);
    let pieces: Vec<&[u8]> = match usize::from(*cut) {
        0 => stream.chunks(1).take(64).chain(stream.get(64..)).collect(),
        cut if cut < 128 => stream.chunks(cut).collect(),
        cut => <[&[u8]; 2]>::from(stream.split_at(stream.len() * (cut - 128) / 128)).to_vec(),
    };
    let pieced = hear(&pieces, method, &config);
    assert_eq!(whole.is_some(), pieced.is_some(), "an answer, or none");
    let (Some(whole), Some(pieced)) = (whole, pieced) else { return };
    check(&whole, stream, max_size);
    check(&pieced, stream, max_size);
    assert_eq!((whole.status, whole.head(), &whole.headers), (pieced.status, pieced.head(), &pieced.headers));
    assert_eq!((bytes_of(&whole.body), whole.truncated), (bytes_of(&pieced.body), pieced.truncated));
    let (whole, pieced) = (bytes_of(&whole.wire), bytes_of(&pieced.wire));
    // If the framing breaks, everything received until then is kept.
    assert!(whole.starts_with(&pieced) || pieced.starts_with(&whole));
}

fn check(response: &Response, stream: &[u8], max_size: u64) {
    let wire = bytes_of(&response.wire);
    let came = [response.head(), &wire[..]].concat();
    assert!(stream.windows(came.len().max(1)).any(|w| w == came) || came.is_empty(), "bytes that never came");
    assert!(response.body.len() <= max_size.max(wire.len() as u64).min(wire.len() as u64));
    assert!((100..=999).contains(&response.status) && response.headers.len() <= 2_000);
}

/// An exchange in the archive reads back as it was received. Input: the response.
pub fn archive(bytes: &[u8]) {
    let (options, _) = options(bytes);
    let Some(response) = hear(&[bytes.get(1..).unwrap_or(&[])], Method::Get, &FetchConfig::default()) else { return };
    let url = "http://example.org/";
    let digest = None;
    let exchange = Exchange {
        url,
        key: "org,example)/",
        at: Moment(1_794_715_409_123),
        recorded_as: if is_standard(&response) {
            RecordedAs::Response
        } else {
            RecordedAs::Resource { mime: "application/octet-stream", conversation: None }
        },
        request_head: if options & 1 == 0 { b"" } else { b"GET / HTTP/1.1\r\n\r\n" },
        head: response.head(),
        wire: &response.wire,
        digest,
        truncated: response.truncated,
        ip: None,
        revisit: None,
    };
    let stored = scratch(|dir| {
        let project = project_in(dir);
        let (mut archive, _) = Archive::open(&project.archive(), "p", &[]).unwrap_or_else(|e| panic!("{e}"));
        let position = encoded(&exchange, &mut archive);
        archive.flush().unwrap_or_else(|e| panic!("{e}"));
        ArchiveReader::open(&project).exchange(&position).unwrap_or_else(|e| panic!("{e}"))
    });
    assert_eq!(stored.url, url);
    if stored.head.is_empty() {
        return assert_eq!(stored.wire, [response.head(), &bytes_of(&response.wire)].concat(), "kept as a resource");
    }
    assert_eq!(stored.head, response.head());
    assert_eq!(stored.wire, bytes_of(&response.wire));
    assert_eq!(stored.status, Some(response.status));
    if response.truncated.is_none() {
        assert_eq!(stored.body, bytes_of(&response.body), "the framing taken off twice");
    }
}

fn is_standard(response: &Response) -> bool {
    matches!(response.kind, ResponseKind::Http { standard: true, .. })
}

fn encoded(exchange: &Exchange<'_>, archive: &mut Archive) -> WarcPosition {
    thread_local! {
        static ENCODER: RefCell<Encoder> = RefCell::default();
    }
    let encoded = ENCODER.with_borrow_mut(|encoder| encoder.exchange(exchange)).unwrap_or_else(|e| panic!("{e}"));
    archive.append(&encoded).unwrap_or_else(|e| panic!("{e}"))
}

const CODINGS: &[&str] = &[
    "gzip",
    "deflate",
    "br",
    "zstd",
    "gzip, br",
    "br, gzip",
    "zstd, deflate",
    "gzip, gzip, gzip",
    "identity",
    "x-gzip,",
    "exi",
];

/// Content codings. Input: a byte for the coding, two for the size limit, the body; from 128 on the
/// body is compressed first.
pub fn coding(bytes: &[u8]) {
    let Some(([choice, cap @ ..], body)) = bytes.split_first_chunk::<3>() else { return };
    let cap = u64::from(u16::from_le_bytes(*cap));
    let (encodings, body) = match *choice {
        choice @ 0..128 => (CODINGS[usize::from(choice) % CODINGS.len()], body.to_vec()),
        choice if choice & 1 == 0 => ("gzip", gzip(body)),
        _ => ("gzip, zstd", zstd::stream::encode_all(gzip(body).as_slice(), 1).unwrap_or_default()),
    };
    let body = Body::Memory(body.into());
    let (small, large) = (decode(&body, encodings, cap), decode(&body, encodings, 4 * cap + 1_000));
    assert!(small.bytes.len() as u64 <= cap && large.bytes.len() as u64 <= 4 * cap + 1_000);
    assert!(small.problem.iter().all(|p| p.detail.lines().count() <= 1), "{:?}", small.problem);
    if large.problem.is_none() {
        assert!(large.bytes.starts_with(&small.bytes), "{encodings}: another content with less room");
        assert!(small.truncated || small.problem.is_some() || small.bytes == large.bytes, "{encodings}");
    }
    if *choice >= 128 && !large.truncated {
        assert!(large.problem.is_none(), "{:?}", large.problem);
    }
}

/// A gzip member.
pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    member.write_all(content).and_then(|()| member.finish()).unwrap_or_default()
}
