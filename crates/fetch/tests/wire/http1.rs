//! Is HTTP/1.1 right, byte for byte?

use crate::server::{Counts, Server, answer, bytes, config, failure, fetcher, get, lease};
use orb_fetch::{FetchConfig, HttpRequest, Method, decode};
use orb_page::{Body, FailureKind, Purpose, Truncation};
use std::io::Write;
use std::sync::atomic::Ordering;
use tokio::io::AsyncWriteExt;

fn address(body: &Body) -> *const u8 {
    match body {
        Body::Memory(bytes) => bytes.as_ptr(),
        Body::Spooled { .. } => std::ptr::null(),
    }
}

#[tokio::test]
async fn the_bytes_of_both_heads_are_kept_as_they_went_over_the_wire() {
    let head = "HTTP/1.1 200 Jolly Good\r\nx-ODD: One\r\nB:two\r\nx-odd:  Three \r\nFold: a\r\n b\r\nContent-Length: 5\r\n\r\n";
    let server = Server::once(format!("{head}hello")).await;
    let watch = Counts::default();
    let page = lease(&server.url("/a?b=c"));
    let outcome = fetcher(config()).fetch(&page, &watch).await;
    let response = outcome.result.unwrap();
    assert_eq!(response.head(), head.as_bytes());
    assert_eq!(response.request_head(), server.requests()[0].as_bytes());
    assert!(server.requests()[0].starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:"));
    let fields: Vec<_> =
        response.headers.iter().map(|(n, v)| String::from_utf8_lossy(&[n, b"=", v].concat()).into_owned()).collect();
    assert_eq!(fields, ["x-ODD=One", "B=two", "x-odd=Three", "Fold=a b", "Content-Length=5"]);
    assert_eq!((response.status, response.protocol, response.truncated), (200, "http/1.1", None));
    assert_eq!((bytes(&response.wire), bytes(&response.body)), (b"hello".to_vec(), b"hello".to_vec()));
    assert_eq!(address(&response.wire), address(&response.body), "the body is the wire's own bytes");
    assert_eq!(response.peer, Some(server.addr));
    assert_eq!((watch.sent.into_inner(), watch.received.into_inner()), (1, head.len() + 5));
}

#[tokio::test]
async fn chunk_frames_stay_in_the_wire_bytes_and_leave_the_body() {
    let wire = "5;x=y\r\nhello\r\n7\r\n, world\r\n0\r\nTrailer: t\r\n\r\n";
    let response = answer(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{wire}")).await;
    assert_eq!(bytes(&response.wire), wire.as_bytes());
    assert_eq!(bytes(&response.body), b"hello, world");
    assert_eq!(response.truncated, None);
}

#[tokio::test]
async fn the_content_of_a_single_chunk_is_not_copied() {
    let response = answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").await;
    assert_eq!(bytes(&response.body), b"hello");
    assert_eq!(address(&response.body), address(&response.wire).wrapping_add(3));
}

#[tokio::test]
async fn informational_heads_are_not_the_answer() {
    let response = answer(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 Gone\r\nContent-Length: 2\r\n\r\nno",
    )
    .await;
    assert_eq!((response.status, bytes(&response.body)), (404, b"no".to_vec()));
    assert!(response.head().starts_with(b"HTTP/1.1 404 Gone\r\n"));
}

#[tokio::test]
async fn without_a_length_the_body_lasts_until_the_end() {
    let response = answer("HTTP/1.0 200 OK\nContent-Type: text/plain\n\nall of it").await;
    assert_eq!((bytes(&response.body), response.truncated), (b"all of it".to_vec(), None));
    assert_eq!(response.headers.mime().as_deref(), Some("text/plain"));
}

#[tokio::test]
async fn answers_without_a_body_leave_the_connection_usable() {
    let server = Server::start(|mut stream, _, server| async move {
        while let Some(head) = server.heard(&mut stream).await {
            let status = head.split(['/', ' ']).nth(2).unwrap_or("200").to_owned();
            let fields = "Content-Length: 50\r\nTransfer-Encoding: chunked";
            let fields = if status == "200" { "Content-Length: 50" } else { fields };
            stream.write_all(format!("HTTP/1.1 {status} x\r\n{fields}\r\n\r\n").as_bytes()).await.unwrap();
        }
    })
    .await;
    let fetcher = fetcher(FetchConfig { per_host: 1, ..config() });
    for status in ["204", "304"] {
        let response = get(&fetcher, &server.url(&format!("/{status}"))).await.result.unwrap();
        assert_eq!((response.status.to_string().as_str(), response.wire.len(), response.truncated), (status, 0, None));
    }
    let page = lease(&server.url("/200"));
    let head = HttpRequest { method: Method::Head, ..HttpRequest::of(&page).unwrap() };
    let response = fetcher.send(&head, &orb_fetch::Unwatched).await.result.unwrap();
    assert_eq!((response.status, response.body.len(), response.truncated), (200, 0, None));
    assert!(response.request_head().starts_with(b"HEAD /200 "));
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let response = answer("HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!((response.status, response.headers.get("location").as_deref()), (301, Some("/elsewhere")));
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_kept_as_far_as_it_came() {
    let response = answer("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this").await;
    assert_eq!((bytes(&response.body), response.truncated), (b"only this".to_vec(), Some(Truncation::Disconnect)));
}

#[tokio::test]
async fn bytes_beyond_the_announced_length_are_no_part_of_any_answer() {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 666 Evil\r\n\r\n").await;
    let fetcher = fetcher(config());
    for _ in 0..2 {
        let response = get(&fetcher, &server.url("/")).await.result.unwrap();
        assert_eq!((response.status, bytes(&response.wire), response.truncated), (200, b"ok".to_vec(), None));
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn broken_frames_leave_what_came_before() {
    for (wire, body) in [
        ("5\r\nhello\r\nzz\r\n", "hello"),
        ("5\r\nhel", "hel"),
        ("5\r\nhello\r\n0\r\n", "hello"),
        ("no frames", ""),
        ("", ""),
    ] {
        let response = answer(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{wire}")).await;
        assert_eq!((bytes(&response.wire), bytes(&response.body)), (wire.into(), body.into()), "{wire}");
        assert_eq!(response.truncated, Some(Truncation::Disconnect), "{wire}");
    }
}

#[tokio::test]
async fn what_breaks_off_is_told_from_what_is_no_http() {
    use FailureKind::{Malformed, Protocol};
    for (sent, kind, line) in [
        ("", Protocol, "the connection ended without an answer: the server closed it"),
        ("HTTP/1.1 200 OK\r\nContent-", Protocol, "the connection ended within the head of the answer"),
        ("SSH-2.0-OpenSSH\r\n", Malformed, "the answer is not HTTP"),
        ("\0\u{1}\u{2}", Malformed, "the answer is not HTTP"),
        ("HTTP/1.1 twohundred OK\r\n\r\n", Malformed, "the status line of the answer is malformed"),
    ] {
        assert_eq!(failure(sent).await, (kind, line.to_owned()), "{sent:?}");
    }
}

#[tokio::test]
async fn a_flood_of_header_fields_is_no_head() {
    for flood in ["A: b\r\n", "a", "HTTP/1.1 100 Continue\r\n\r\n"] {
        let (kind, line) = failure(format!("HTTP/1.1 100 OK\r\n{}", flood.repeat(300_000 / flood.len()))).await;
        assert_eq!(kind, FailureKind::Malformed, "{line}");
        assert!(line.starts_with("the head of the answer"), "{line}");
    }
}

#[tokio::test]
async fn fields_without_number_are_no_head_either() {
    let (kind, line) = failure(format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:\n".repeat(50_000))).await;
    assert_eq!((kind, line.as_str()), (FailureKind::Malformed, "the head of the answer has too many fields"));
}

#[tokio::test]
async fn two_hundred_fields_are_read_all() {
    let fields: String = (0..200).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let response = answer(format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n")).await;
    assert_eq!(response.headers.len(), 201);
}

#[tokio::test]
async fn an_answer_may_come_byte_by_byte() {
    let server = Server::start(|mut stream, _, server| async move {
        stream.set_nodelay(true).unwrap();
        server.heard(&mut stream).await;
        for byte in b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" {
            stream.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
    })
    .await;
    let response = get(&fetcher(config()), &server.url("/")).await.result.unwrap();
    assert_eq!((bytes(&response.body), response.truncated), (b"hello".to_vec(), None));
}

#[tokio::test]
async fn a_gzip_body_is_kept_coded_and_read_decoded() {
    let text = "words ".repeat(1_000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let coded = encoder.finish().unwrap();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", coded.len());
    let response = answer([head.as_bytes(), &coded].concat()).await;
    assert_eq!(bytes(&response.body), coded);
    let encodings = response.headers.get("content-encoding").unwrap();
    assert_eq!(decode(&response.body, &encodings, 1 << 20).bytes, text.as_bytes());
}

#[tokio::test]
async fn cookies_go_back_where_they_came_from() {
    let server = Server::answering(
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/x\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let settings = config();
    let jar = settings.jar.clone();
    let fetcher1 = fetcher(settings);
    for path in ["/", "/x/y", "/"] {
        get(&fetcher1, &server.url(path)).await.result.unwrap();
    }
    let sent = |n: usize| server.requests()[n].lines().find_map(|l| l.strip_prefix("Cookie: ").map(str::to_owned));
    assert_eq!((sent(0), sent(1), sent(2)), (None, Some("b=2; a=1".to_owned()), Some("a=1".to_owned())));
    assert_eq!(jar.len(), 2);
    let without = fetcher(FetchConfig { cookies: false, ..config() });
    get(&without, &server.url("/")).await.result.unwrap();
    get(&without, &server.url("/")).await.result.unwrap();
    assert_eq!(sent(4), None);
}

#[tokio::test]
async fn media_types_that_are_not_wanted_end_with_their_head() {
    let server =
        Server::answering("HTTP/1.1 200 OK\r\nContent-Type: Image/PNG; x=y\r\nContent-Length: 3\r\n\r\npng").await;
    let wants = |patterns: &[&str]| {
        fetcher(FetchConfig { accept: patterns.iter().map(|&p| p.to_owned()).collect(), ..config() })
    };
    let picky = wants(&["text/html", "audio/*"]);
    let response = get(&picky, &server.url("/")).await.result.unwrap();
    assert_eq!((response.truncated, response.wire.len(), response.body.len()), (Some(Truncation::Unwanted), 0, 0));
    let mut robots = lease(&server.url("/robots.txt"));
    robots.purpose = Purpose::Robots;
    let response = picky.fetch(&robots, &orb_fetch::Unwatched).await.result.unwrap();
    assert_eq!((response.truncated, response.body.len()), (None, 3));
    for patterns in [&["image/*"][..], &["*/*"], &["text/html", "image/png"]] {
        let response = get(&wants(patterns), &server.url("/")).await.result.unwrap();
        assert_eq!(response.truncated, None, "{patterns:?}");
    }
}

#[tokio::test]
async fn a_conditional_request_carries_its_validators() {
    let server = Server::once("HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\n\r\n").await;
    let page = lease(&server.url("/"));
    let mut request = HttpRequest::of(&page).unwrap();
    request.validators.etag = Some("\"v\"".to_owned());
    request.validators.last_modified = Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned());
    let watch = Counts::default();
    let response = fetcher(config()).send(&request, &watch).await.result.unwrap();
    assert_eq!((response.status, watch.sent.load(Ordering::SeqCst)), (304, 1));
    let sent = &server.requests()[0];
    assert!(
        sent.contains("\r\nIf-None-Match: \"v\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
        "{sent}"
    );
}

#[tokio::test]
async fn a_refused_connection_is_said_in_one_line() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let failure = get(&fetcher(config()), &format!("http://{addr}/")).await.result.unwrap_err();
    assert_eq!((failure.kind, failure.detail), (FailureKind::Connect, format!("connection refused by {addr}")));
}
