//! Is a shared line used at its rate, smoothly, and with few connections?

use crate::http2::speaking;
use crate::server::{Server, config, fetcher, get, lease};
use crate::tls::{Authority, trusting, url_of};
use bytes::Bytes;
use h2::server::SendResponse;
use orb_fetch::{FetchConfig, Fetchers, Watch};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

/// Bytes per second.
const RATE: usize = 1_000_000;
/// The interval over which a smooth line is even.
const STRETCH: Duration = Duration::from_millis(100);

/// Records when how much arrived.
#[derive(Clone, Default)]
struct Gauge(Arc<Mutex<Vec<(Instant, usize)>>>);

impl Watch for Gauge {
    fn received(&self, bytes: usize) {
        self.0.lock().unwrap().push((Instant::now(), bytes));
    }
}

/// What a gauge recorded.
struct Flow {
    /// Bytes per second, from the first to the last.
    rate: f64,
    /// Bytes in each whole interval.
    stretches: Vec<usize>,
}

impl Gauge {
    fn flow(&self) -> Flow {
        let seen = std::mem::take(&mut *self.0.lock().unwrap());
        let (first, last) = (seen.iter().map(|s| s.0).min().unwrap(), seen.iter().map(|s| s.0).max().unwrap());
        let span = last - first;
        let total: usize = seen.iter().map(|s| s.1).sum();
        let mut stretches = vec![0; (span.as_millis() / STRETCH.as_millis()) as usize];
        for (at, bytes) in seen {
            if let Some(stretch) = stretches.get_mut(((at - first).as_millis() / STRETCH.as_millis()) as usize) {
                *stretch += bytes;
            }
        }
        Flow { rate: total as f64 / span.as_secs_f64(), stretches }
    }
}

/// Fetches a URL this many times in parallel and reports how the bytes arrived.
async fn flow_of(fetcher: &Arc<Fetchers>, url: &str, times: usize) -> Flow {
    let gauge = Gauge::default();
    let fetches: Vec<_> = (0..times)
        .map(|_| {
            let (fetcher, page, gauge) = (fetcher.clone(), lease(url), gauge.clone());
            tokio::spawn(async move { fetcher.fetch(&page, &gauge).await.result.unwrap().truncated })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.unwrap(), None);
    }
    gauge.flow()
}

/// Whether the bytes arrived at the rate, within 5 %, and evenly.
fn is_smooth(flow: &Flow) -> bool {
    let nominal = RATE / 10;
    let even = |bytes: &&usize| (nominal * 7 / 10..=nominal * 13 / 10).contains(*bytes);
    let evenly = flow.stretches.iter().filter(even).count();
    let bounded = flow.stretches.iter().all(|bytes| *bytes <= nominal * 2);
    let exact = (RATE as f64 * 0.95..=RATE as f64 * 1.05).contains(&flow.rate);
    exact && bounded && evenly * 10 >= flow.stretches.len() * 9
}

/// Several tries, one of which must be smooth: a busy machine makes any line look uneven.
async fn assert_smooth(fetcher: Fetchers, url: &str, times: usize) {
    let fetcher = Arc::new(fetcher);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let flow = flow_of(&fetcher, url, times).await;
        if is_smooth(&flow) {
            return;
        }
        seen.push((flow.rate, flow.stretches));
    }
    panic!("never smooth: {seen:?}");
}

/// A body of this size over HTTP/1.1.
fn sized(bytes: usize) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + bytes, b'x');
    answer
}

fn limited(per_host: usize) -> FetchConfig {
    FetchConfig { bandwidth: Some(RATE as u64), per_host, ..config() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_large_body_comes_at_the_rate_and_evenly() {
    let server = Server::answering(sized(1_500_000)).await;
    assert_smooth(fetcher(limited(1)), &server.url("/"), 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_share_the_rate_evenly() {
    let server = Server::answering(sized(80_000)).await;
    assert_smooth(fetcher(limited(20)), &server.url("/"), 20).await;
}

fn large(_: &str, mut respond: SendResponse<Bytes>) {
    let head = http::Response::builder().status(200).body(()).unwrap();
    if let Ok(mut stream) = respond.send_response(head, false) {
        let _ = stream.send_data(vec![b'x'; 150_000].into(), true);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_one_connection_come_at_the_rate_and_evenly() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, large, usize::MAX).await;
    let fetcher = trusting(&authority, &server, |c| (c.bandwidth, c.per_host) = (Some(RATE as u64), 10));
    assert_smooth(fetcher, &url_of("good.test", &server), 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_line_of_ours_is_not_held_against_a_server_over_http2() {
    let authority = Authority::new();
    let (server, _) = speaking(&authority, large, usize::MAX).await;
    let short = Duration::from_millis(300);
    let fetcher = trusting(&authority, &server, |c| {
        (c.bandwidth, c.per_host, c.min_speed) = (Some(100_000), 4, Some((1_000_000, short)));
        (c.timeouts.head, c.timeouts.idle, c.timeouts.total) = (short, short, short);
    });
    let response = get(&fetcher, &url_of("good.test", &server)).await.result.unwrap();
    assert_eq!((response.truncated, response.body.len()), (None, 150_000));
}

#[tokio::test]
async fn a_rate_that_is_changed_holds_for_bodies_under_way() {
    let server = Server::answering(sized(400_000)).await;
    let fetcher = Arc::new(fetcher(FetchConfig { bandwidth: Some(20_000), ..config() }));
    let (gauge, page) = (Gauge::default(), lease(&server.url("/")));
    let fetching = {
        let (fetcher, gauge) = (fetcher.clone(), gauge.clone());
        tokio::spawn(async move { fetcher.fetch(&page, &gauge).await.result.unwrap().truncated })
    };
    while gauge.0.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    fetcher.line().bandwidth().set_rate(None);
    assert_eq!(fetching.await.unwrap(), None);
    // At the previous rate, it would have taken twenty seconds.
    assert!(start.elapsed() < Duration::from_secs(8), "took {:?}", start.elapsed());
}

#[tokio::test]
async fn a_cap_that_is_lowered_is_kept_to_without_cutting_anybody_off() {
    let server = Server::start(|mut stream, _, server| async move {
        while server.heard(&mut stream).await.is_some() {
            if stream.write_all(&sized(2)).await.is_err() {
                return;
            }
        }
    })
    .await;
    let fetcher = Arc::new(fetcher(FetchConfig { per_host: 8, connections: 8, ..config() }));
    let all = |n: usize| {
        let fetches: Vec<_> = (0..n)
            .map(|_| {
                let (fetcher, url) = (fetcher.clone(), server.url("/"));
                tokio::spawn(async move { get(&fetcher, &url).await.result.unwrap() })
            })
            .collect();
        async move {
            for fetch in fetches {
                fetch.await.unwrap();
            }
        }
    };
    all(8).await;
    assert_eq!(fetcher.line().connections().open, 8);
    fetcher.line().limit_connections(2);
    let deadline = Instant::now() + Duration::from_secs(10);
    while fetcher.line().connections().open > 2 {
        assert!(Instant::now() < deadline, "{:?}", fetcher.line().connections());
        tokio::task::yield_now().await;
    }
    let before = server.connections();
    all(20).await;
    assert_eq!((fetcher.line().connections().open, server.connections()), (2, before));
    fetcher.line().limit_connections(8);
    all(20).await;
    assert!(fetcher.line().connections().open > 2);
}
