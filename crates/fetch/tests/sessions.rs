//! What must hold of protocols that keep sessions: FTP and NNTP?
//!
//! The same as of all others (`conformance.rs`): the guard refuses, the caps of connections and
//! size hold, and a server that is silent or gone is an outcome. Their servers must be spoken with,
//! so they are tested here, against scripted ones.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use orb_fetch::{FetchConfig, Fetchers, FtpTls, Timeouts, Unwatched};
use orb_page::{Failure, FailureKind, HostId, Lease, PageId, Purpose, Response, ResponseKind, Truncation};
use orb_testweb::{FtpServer, NewsServer};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

fn lease(url: &str) -> Lease {
    Lease {
        page: PageId(1),
        host: HostId(1),
        url: url.to_owned(),
        asked: None,
        before: None,
        again: false,
        step: None,
        referrer: None,
        depth: 0,
        redirects: 0,
        attempt: 0,
        purpose: Purpose::Page,
        addr: None,
    }
}

fn config() -> FetchConfig {
    FetchConfig { private_hosts: vec!["127.0.0.1".to_owned()], ..FetchConfig::default() }
}

fn fetchers(config: FetchConfig) -> Arc<Fetchers> {
    Arc::new(Fetchers::new(config).unwrap())
}

async fn fetch(fetchers: &Fetchers, url: &str) -> Result<Response, Failure> {
    fetchers.fetch(&lease(url), &Unwatched).await.result
}

fn conversation(response: &Response) -> String {
    match &response.kind {
        ResponseKind::Resource { conversation: Some(said) } => String::from_utf8_lossy(&said.text).into_owned(),
        _ => String::new(),
    }
}

/// A server of each protocol, and the URL of a document of ten thousand bytes or so.
fn documents() -> (FtpServer, NewsServer, [String; 2]) {
    let ftp = FtpServer::start(&[("/a.txt", 1, &"x".repeat(10_000))], Vec::new()).unwrap();
    let news = NewsServer::start(&[("misc.test", 1)], Vec::new()).unwrap();
    let text = news.news()["misc.test"][&1].clone() + &"y".repeat(10_000) + "\r\n";
    news.news().get_mut("misc.test").unwrap().insert(1, text);
    let urls = [ftp.url("/a.txt"), news.url("/misc.test/1")];
    (ftp, news, urls)
}

#[tokio::test]
async fn a_private_address_is_refused_before_a_word_is_said() {
    let (ftp, news, urls) = documents();
    let fetchers = fetchers(FetchConfig::default());
    for url in urls {
        assert_eq!(fetch(&fetchers, &url).await.unwrap_err().kind, FailureKind::Guard, "{url}");
    }
    assert!(ftp.take_log().is_empty() && news.take_log().is_empty());
}

#[tokio::test]
async fn a_document_comes_whole_with_what_was_said_and_its_session_is_kept() {
    let (ftp, news, urls) = documents();
    let fetchers = fetchers(config());
    for url in &urls {
        for _ in 0..3 {
            let response = fetch(&fetchers, url).await.unwrap();
            assert_eq!((response.status, response.truncated), (200, None), "{url}");
            assert!(response.body.len() >= 10_000);
            assert!(conversation(&response).contains("> "), "{url}");
        }
    }
    let logins = ftp.take_log().iter().filter(|line| line.starts_with("USER")).count();
    let greetings = news.take_log().iter().filter(|line| *line == "CAPABILITIES").count();
    assert_eq!((logins, greetings), (1, 1));
    fetchers.close().await;
    assert_eq!(fetchers.line().connections().open, 0);
}

#[tokio::test]
async fn sessions_stay_within_the_connections_and_never_wait_for_each_other() {
    let (_ftp, _news, urls) = documents();
    let fetchers = fetchers(FetchConfig { connections: 3, per_host: 4, ..config() });
    let asked: Vec<_> = urls
        .iter()
        .cycle()
        .take(24)
        .cloned()
        .map(|url| {
            let fetchers = Arc::clone(&fetchers);
            tokio::spawn(async move { fetch(&fetchers, &url).await.map(|response| response.status) })
        })
        .collect();
    for done in asked {
        assert_eq!(done.await.unwrap().unwrap(), 200);
        assert!(fetchers.line().connections().open <= 3);
    }
    let alone = fetch(&self::fetchers(FetchConfig { connections: 1, ..config() }), &urls[0]).await.unwrap_err();
    assert_eq!(alone.kind, FailureKind::Local, "one connection cannot carry commands and data: {alone:?}");
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_cut_off_there() {
    let (_ftp, _news, urls) = documents();
    let fetchers = fetchers(FetchConfig { max_size: 5_000, ..config() });
    for url in urls {
        let response = fetch(&fetchers, &url).await.unwrap();
        assert_eq!(response.truncated, Some(Truncation::Length), "{url}");
        assert!(response.body.len() <= 5_000);
    }
}

#[tokio::test]
async fn a_silent_server_is_a_timeout_and_one_that_is_gone_a_failed_connection() {
    let timeouts = Timeouts { head: Duration::from_millis(50), ..Timeouts::default() };
    let fetchers = fetchers(FetchConfig { timeouts, ..config() });
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = silent.local_addr().unwrap();
    for scheme in ["ftp", "nntp"] {
        let failure = fetch(&fetchers, &format!("{scheme}://{addr}/a")).await;
        // `nntp://host/a` names a group, which is asked for under its name with a slash.
        let failure = if scheme == "nntp" { fetch(&fetchers, &format!("{scheme}://{addr}/a/")).await } else { failure };
        assert_eq!(failure.unwrap_err().kind, FailureKind::Timeout, "{scheme}");
    }
    drop(silent);
    for scheme in ["ftp", "nntp"] {
        let failure = fetch(&fetchers, &format!("{scheme}://{addr}/a/")).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Connect, "{scheme}");
    }
}

#[tokio::test]
async fn tls_that_is_required_and_not_there_is_a_failure_and_no_password_is_sent() {
    let (ftp, _news, urls) = documents();
    let fetchers = fetchers(FetchConfig { ftp_tls: FtpTls::Require, ..config() });
    assert_eq!(fetch(&fetchers, &urls[0]).await.unwrap_err().kind, FailureKind::Tls);
    assert_eq!(ftp.take_log(), ["AUTH TLS"]);
}

#[tokio::test]
async fn a_path_that_would_be_two_commands_is_none() {
    let ftp = FtpServer::start(&[("/a.txt", 1, "one")], Vec::new()).unwrap();
    let fetchers = fetchers(config());
    assert_eq!(fetch(&fetchers, &ftp.url("/a.txt")).await.unwrap().status, 200);
    let refused = fetch(&fetchers, &ftp.url("/a%0D%0ANOOP")).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Malformed);
    assert_eq!(fetch(&fetchers, &ftp.url("/a.txt")).await.unwrap().status, 200);
    assert!(!ftp.take_log().iter().any(|line| line.contains("NOOP")));
}
