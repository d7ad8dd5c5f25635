//! Do exchanges come back from the archive as they went in?

use super::encoder::{Encoder, Exchange, RecordedAs, Revisit};
use super::header::WarcType;
use super::scan::{Scan, Scanned};
use super::stored::ArchiveReader;
use crate::archive::Archive;
use orb_page::{Body, Conversation, Moment, Truncation};
use proptest::prelude::*;
use std::io::Write;

const AT: Moment = Moment(1_794_715_409_123);

fn exchange<'a>(head: &'a [u8], wire: &'a Body) -> Exchange<'a> {
    Exchange {
        url: "http://example.com/a?b=c",
        key: "com,example)/a?b=c",
        at: AT,
        recorded_as: RecordedAs::Response,
        request_head: b"GET /a?b=c HTTP/1.1\r\nHost: example.com\r\n\r\n",
        head,
        wire,
        digest: None,
        truncated: None,
        ip: Some([127, 0, 0, 1].into()),
        revisit: None,
    }
}

fn spooled(bytes: &[u8]) -> Body {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Body::Spooled { file, len: bytes.len() as u64 }
}

/// Writes the exchanges into a new archive; returns its directory, the records and the CDXJ lines.
fn archive(exchanges: &[Exchange<'_>]) -> (tempfile::TempDir, Vec<Scanned>, String) {
    let tmp = tempfile::tempdir().unwrap();
    let (mut archive, _) = Archive::open(tmp.path(), "p", &[]).unwrap();
    let mut encoder = Encoder::default();
    for x in exchanges {
        archive.append(&encoder.exchange(x).unwrap()).unwrap();
    }
    archive.flush().unwrap();
    let name = archive.end().files[0].name.clone();
    archive.committed();
    archive.close_rolled().unwrap();
    archive.close().unwrap();
    let path = tmp.path().join(&*name);
    let mut scan = Scan::open(&path, usize::MAX).unwrap();
    let records = std::iter::from_fn(|| scan.next().unwrap()).collect();
    let lines = std::fs::read_to_string(path.with_extension("").with_extension("cdxj")).unwrap();
    (tmp, records, lines)
}

#[test]
fn an_exchange_is_a_response_and_its_request() {
    let body = Body::Memory("hello".into());
    let (_tmp, records, lines) = archive(&[exchange(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", &body)]);
    let kinds: Vec<&str> = records.iter().filter_map(|record| record.field("WARC-Type")).collect();
    assert_eq!(kinds, ["warcinfo", "response", "request"]);
    let [info, answer, request] = &records[..] else { panic!("three records") };
    assert!(info.field("WARC-Filename").unwrap().starts_with("p-"));
    assert_eq!(answer.payload, b"hello");
    assert_eq!(answer.field("WARC-Date"), Some("2026-11-15T04:03:29Z"));
    assert_eq!(answer.field("WARC-Target-URI"), Some("http://example.com/a?b=c"));
    assert_eq!(
        answer.field("WARC-Payload-Digest"),
        Some("sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    );
    assert_eq!(request.field("WARC-Concurrent-To"), answer.field("WARC-Record-ID"));
    assert_eq!(request.head, b"GET /a?b=c HTTP/1.1\r\nHost: example.com\r\n\r\n");
    let want = format!(
        "com,example)/a?b=c 20261115040329 {{\"url\": \"http://example.com/a?b=c\", \"mime\": \"text/html\", \"status\": \"200\", \
         \"digest\": \"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\", \"length\": \"{}\", \"offset\": \"{}\", \
         \"filename\": \"{}\"}}\n",
        answer.length,
        answer.offset,
        info.field("WARC-Filename").unwrap()
    );
    assert_eq!(lines, want);
}

#[test]
fn a_cut_body_says_why() {
    let body = Body::Memory("hel".into());
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    for (truncated, name) in [
        (Truncation::Length, "length"),
        (Truncation::Time, "time"),
        (Truncation::Disconnect, "disconnect"),
        (Truncation::Unwanted, "unspecified"),
    ] {
        let (_tmp, records, _) = archive(&[Exchange { truncated: Some(truncated), ..exchange(head, &body) }]);
        assert_eq!(records[1].field("WARC-Truncated"), Some(name));
    }
}

#[test]
fn a_revisit_keeps_the_head_alone() {
    let body = Body::Memory("hello".into());
    let revisit = Some(Revisit { url: "http://example.com/first", at: AT });
    let (_tmp, records, lines) = archive(&[Exchange { revisit, ..exchange(b"HTTP/1.1 200 OK\r\n\r\n", &body) }]);
    assert_eq!((records[1].kind(), records[1].payload_length), (WarcType::Revisit, 0));
    assert_eq!(records[1].field("WARC-Refers-To-Target-URI"), Some("http://example.com/first"));
    assert!(lines.contains("\"mime\": \"warc/revisit\""));
}

#[test]
fn what_has_no_http_head_is_kept_as_a_resource() {
    let body = Body::Memory("hello".into());
    let recorded_as = RecordedAs::Resource { mime: "application/octet-stream", conversation: None };
    let odd = Exchange { recorded_as, ..exchange(b"ICY 200 OK\r\n\r\n", &body) };
    let (_tmp, records, lines) = archive(&[odd]);
    assert_eq!(
        (records[1].kind(), records[1].payload.as_slice()),
        (WarcType::Resource, &b"ICY 200 OK\r\n\r\nhello"[..])
    );
    assert!(lines.contains("\"mime\": \"application/octet-stream\", \"digest\""), "{lines}");
}

#[test]
fn a_document_by_another_protocol_is_a_resource_with_its_type_and_conversation() {
    let body = Body::Memory("hello".into());
    let said = Conversation { mime: "text/x-conversation", text: "> GET a\n< OK\n".into() };
    let recorded_as = RecordedAs::Resource { mime: "text/plain", conversation: Some(&said) };
    let (tmp, records, lines) =
        archive(&[Exchange { url: "x://h/a", key: "x://h/a", request_head: b"", recorded_as, ..exchange(b"", &body) }]);
    let kinds: Vec<&str> = records.iter().filter_map(|record| record.field("WARC-Type")).collect();
    assert_eq!(kinds, ["warcinfo", "resource", "metadata"]);
    let [info, resource, metadata] = &records[..] else { panic!("three records") };
    assert_eq!((resource.field("Content-Type"), resource.payload.as_slice()), (Some("text/plain"), &b"hello"[..]));
    assert_eq!(metadata.field("Content-Type"), Some("text/x-conversation"));
    assert_eq!(metadata.field("WARC-Concurrent-To"), resource.field("WARC-Record-ID"));
    assert_eq!(metadata.payload, b"> GET a\n< OK\n");
    assert!(lines.contains("\"mime\": \"text/plain\", \"digest\"") && lines.lines().count() == 1, "{lines}");
    let file = info.field("WARC-Filename").unwrap().into();
    let position = orb_page::WarcPosition { file, offset: resource.offset, length: resource.length };
    let stored = ArchiveReader::at(tmp.path()).exchange(&position).unwrap();
    assert_eq!((stored.headers.mime().as_deref(), &stored.body[..]), (Some("text/plain"), &b"hello"[..]));
}

#[test]
fn a_spooled_body_gives_the_same_record_as_one_in_memory() {
    let bytes: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
    let head = b"HTTP/1.1 200 OK\r\n\r\n";
    let (memory, file) = (Body::Memory(bytes.clone().into()), spooled(&bytes));
    let (_tmp, records, _) = archive(&[exchange(head, &memory), exchange(head, &file), exchange(head, &memory)]);
    assert_eq!(records.len(), 7);
    for answer in [&records[1], &records[3], &records[5]] {
        assert!(answer.payload == bytes && answer.head == head);
        assert_eq!(answer.field("WARC-Payload-Digest"), records[1].field("WARC-Payload-Digest"));
    }
}

#[test]
fn a_chunked_answer_is_kept_as_it_came_and_read_without_its_framing() {
    let wire = Body::Memory("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n".into());
    let tmp = tempfile::tempdir().unwrap();
    let (mut archive, _) = Archive::open(tmp.path(), "p", &[]).unwrap();
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nX: y\r\n\r\n";
    let position = archive.append(&Encoder::default().exchange(&exchange(head, &wire)).unwrap()).unwrap();
    archive.flush().unwrap();
    let stored = ArchiveReader::at(tmp.path()).exchange(&position).unwrap();
    assert_eq!(stored.body, b"abcde".as_slice());
    assert!(matches!(&wire, Body::Memory(b) if *b == stored.wire));
    assert_eq!((stored.status, stored.head.as_slice()), (Some(200), &head[..]));
    assert_eq!(stored.headers.get("x").as_deref(), Some("y"));
}

#[test]
fn a_line_of_blanks_in_a_head_does_not_end_it() {
    let body = Body::Memory("body".into());
    let head = b"HTTP/1.1 200 OK\r\nA: b\r\n \t\r\nC: d\r\n\r\n";
    let (_tmp, records, _) = archive(&[exchange(head, &body)]);
    assert_eq!((records[1].head.as_slice(), records[1].payload.as_slice()), (&head[..], &b"body"[..]));
}

#[test]
fn damage_is_told_with_file_and_place() {
    let body = Body::Memory("hello".into());
    let (tmp, records, _) = archive(&[exchange(b"HTTP/1.1 200 OK\r\n\r\n", &body)]);
    let name: std::sync::Arc<str> = records[0].field("WARC-Filename").unwrap().into();
    let reader = ArchiveReader::at(tmp.path());
    for (offset, length) in [(records[1].offset + 1, records[1].length), (records[1].offset, 5), (1 << 40, 9)] {
        let error = reader.exchange(&orb_page::WarcPosition { file: name.clone(), offset, length }).unwrap_err();
        assert!(error.to_string().contains(&format!("byte {offset}")), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_body_round_trips(head in "HTTP/1\\.[01] [0-9]{3}( [ -~]{0,20})?\r\n([!-9;-~]{1,9}: [ -~]{0,30}\r\n){0,4}\r\n", body: Vec<u8>, level in 0..14) {
        let tmp = tempfile::tempdir().unwrap();
        let (mut archive, _) = Archive::open(tmp.path(), "p", &[]).unwrap();
        let wire = Body::Memory(body.clone().into());
        let position = archive.append(&Encoder::new(level).exchange(&exchange(head.as_bytes(), &wire)).unwrap()).unwrap();
        archive.flush().unwrap();
        let stored = ArchiveReader::at(tmp.path()).exchange(&position).unwrap();
        prop_assert_eq!(stored.wire, body);
        prop_assert_eq!(stored.head, head.as_bytes());
    }

    #[test]
    fn any_file_is_scanned_without_panic(mut bytes: Vec<u8>, keep in 0usize..400, flip in 0usize..400) {
        let body = Body::Memory("hello".into());
        let (tmp, records, _) = archive(&[exchange(b"HTTP/1.1 200 OK\r\n\r\n", &body)]);
        let path = tmp.path().join(records[0].field("WARC-Filename").unwrap());
        let mut file = std::fs::read(&path).unwrap();
        file.truncate(keep);
        file.append(&mut bytes);
        if let Some(b) = file.get_mut(flip) {
            *b ^= 0x11;
        }
        std::fs::write(&path, file).unwrap();
        let mut scan = Scan::open(&path, 1 << 20).unwrap();
        while let Ok(Some(_)) = scan.next() {}
    }
}
