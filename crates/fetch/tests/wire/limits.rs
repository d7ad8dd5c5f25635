//! Are servers bounded that send too much, too slowly or without end?

use crate::server::{Server, answer, bytes, config, fetcher, get};
use orb_fetch::{FetchConfig, Timeouts};
use orb_page::{Body, FailureKind, Truncation};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SHORT: Duration = Duration::from_millis(200);

/// Sends `first` and then `again` for ever, or nothing if that is empty.
async fn endless(first: &'static str, again: &'static [u8], pause: Duration) -> Server {
    Server::start(move |mut stream, _, server| async move {
        server.heard(&mut stream).await;
        stream.write_all(first.as_bytes()).await.unwrap();
        if again.is_empty() {
            let _ = stream.read_u8().await;
            return;
        }
        while stream.write_all(again).await.is_ok() {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
    })
    .await
}

fn small() -> FetchConfig {
    FetchConfig { max_size: 100_000, spool_over: 30_000, ..config() }
}

fn impatient(change: impl Fn(&mut Timeouts)) -> FetchConfig {
    let mut config = config();
    change(&mut config.timeouts);
    config
}

#[tokio::test]
async fn a_body_announced_too_large_is_not_begun() {
    for length in ["100001", "99999999999999999999999999"] {
        let first = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nxxxx");
        let server = Server::answering(first).await;
        let response = get(&fetcher(small()), &server.url("/")).await.result.unwrap();
        assert_eq!((response.truncated, response.wire.len(), response.body.len()), (Some(Truncation::Length), 0, 0));
        assert_eq!(response.status, 200);
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit() {
    let server = endless("HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 5_000], Duration::ZERO).await;
    let response = get(&fetcher(small()), &server.url("/")).await.result.unwrap();
    assert_eq!((response.truncated, response.wire.len()), (Some(Truncation::Length), 100_000));
    assert_eq!(bytes(&response.body), vec![b'x'; 100_000]);
}

#[tokio::test]
async fn endless_chunks_are_cut_at_the_limit() {
    let server =
        endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"a\r\n0123456789\r\n", Duration::ZERO).await;
    let response = get(&fetcher(small()), &server.url("/")).await.result.unwrap();
    assert_eq!((response.truncated, response.body.len()), (Some(Truncation::Length), 100_000));
    assert_eq!(bytes(&response.body), b"0123456789".repeat(10_000));
    assert!(bytes(&response.wire).ends_with(b"\r\n0123456789\r\na\r\n"));
}

#[tokio::test]
async fn frames_that_outweigh_their_contents_are_cut_too() {
    let frame = b"1;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\ny\r\n";
    let server = endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", frame, Duration::ZERO).await;
    let response = get(&fetcher(small()), &server.url("/")).await.result.unwrap();
    assert_eq!(response.truncated, Some(Truncation::Length));
    // Half as much again as the limit plus a little, and what one read brings beyond that.
    assert!(response.wire.len() < 500_000 && response.body.len() < 10_000, "{}", response.wire.len());
}

#[tokio::test]
async fn large_bodies_live_in_files_and_small_ones_in_memory() {
    let content: Vec<u8> = (0..90_000_u32).map(|n| n.to_be_bytes()[3]).collect();
    let mut chunked = Vec::new();
    for chunk in content.chunks(7_777) {
        chunked.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        chunked.extend_from_slice(chunk);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    for (fields, wire) in
        [("Content-Length: 90000", &content), ("X: close", &content), ("Transfer-Encoding: chunked", &chunked)]
    {
        let sent = [format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n").as_bytes(), wire].concat();
        for over in [0, 30_000, 1_000_000] {
            let server = Server::once(sent.clone()).await;
            let fetcher = fetcher(FetchConfig { spool_over: over, ..small() });
            let response = get(&fetcher, &server.url("/")).await.result.unwrap();
            assert_eq!(bytes(&response.wire), *wire, "{fields} {over}");
            assert_eq!(bytes(&response.body), content, "{fields} {over}");
            assert!(response.head().ends_with(format!("{fields}\r\n\r\n").as_bytes()) && response.truncated.is_none());
            let in_file =
                matches!(response.wire, Body::Spooled { .. }) && matches!(response.body, Body::Spooled { .. });
            assert_eq!(in_file, over < 1_000_000, "{fields} {over}");
        }
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_times_out() {
    let server = endless("", b"", Duration::ZERO).await;
    let failure = get(&fetcher(impatient(|t| t.head = SHORT)), &server.url("/")).await.result.unwrap_err();
    assert_eq!((failure.kind, failure.detail.as_str()), (FailureKind::Timeout, "no answer within 200ms"));
    let failure = get(&fetcher(impatient(|t| t.total = SHORT)), &server.url("/")).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
}

#[tokio::test]
async fn a_head_that_drips_times_out() {
    let server = endless("HTTP/1.1 200 OK\r\nX: ", b"x", Duration::from_millis(5)).await;
    let failure = get(&fetcher(impatient(|t| t.head = SHORT)), &server.url("/")).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
}

#[tokio::test]
async fn a_body_that_stalls_is_kept_as_far_as_it_came() {
    let first = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf";
    let server = endless(first, b"", Duration::ZERO).await;
    let response = get(&fetcher(impatient(|t| t.idle = SHORT)), &server.url("/")).await.result.unwrap();
    assert_eq!((response.truncated, bytes(&response.body)), (Some(Truncation::Time), b"half".to_vec()));
}

#[tokio::test]
async fn a_body_that_drips_is_cut_by_the_total_or_the_speed() {
    let server = endless("HTTP/1.1 200 OK\r\n\r\n", b"x", Duration::from_millis(5)).await;
    let total = impatient(|t| t.total = SHORT);
    let speed = FetchConfig { min_speed: Some((1_000_000, SHORT)), ..config() };
    for config in [total, speed] {
        let start = Instant::now();
        let response = get(&fetcher(config), &server.url("/")).await.result.unwrap();
        assert_eq!(response.truncated, Some(Truncation::Time));
        assert!(!response.body.is_empty() && start.elapsed() >= SHORT);
    }
}

#[tokio::test]
async fn a_slow_line_of_ours_is_not_held_against_the_server() {
    let body = vec![b'x'; 30_000];
    let sent = [&b"HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n"[..], &body].concat();
    let server = Server::once(sent).await;
    let mut config = impatient(|t| (t.idle, t.total) = (SHORT, SHORT));
    (config.bandwidth, config.min_speed) = (Some(100_000), Some((1_000_000, SHORT)));
    let start = Instant::now();
    let response = get(&fetcher(config), &server.url("/")).await.result.unwrap();
    assert_eq!((response.truncated, response.body.len()), (None, 30_000));
    let taken = start.elapsed();
    assert!(taken >= Duration::from_millis(240), "{taken:?} for 0.3 s worth of bytes");
}

#[tokio::test]
async fn a_spool_that_cannot_be_written_is_our_failure() {
    let refused = orb_fetch::Fetchers::new(FetchConfig { spool_dir: "/nonexistent/spool".into(), ..config() });
    assert_eq!(refused.err().map(|e| e.to_string()).as_deref(), Some("cannot keep large bodies in /nonexistent/spool"));
    let home = tempfile::tempdir().unwrap();
    let spool_dir = home.path().join("spool");
    std::fs::create_dir(&spool_dir).unwrap();
    let fetcher = fetcher(FetchConfig { spool_over: 10, spool_dir: spool_dir.clone(), ..config() });
    std::fs::remove_dir(spool_dir).unwrap();
    let server = Server::once("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789").await;
    let failure = get(&fetcher, &server.url("/")).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local, "{}", failure.detail);
}

#[tokio::test]
async fn an_answer_within_the_limits_is_whole() {
    let response = answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!((response.truncated, response.wire.is_empty(), response.body.is_empty()), (None, true, true));
}
