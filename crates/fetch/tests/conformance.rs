//! What must hold of every protocol, whoever wrote it?
//!
//! Each test runs once for each of [`SUBJECTS`]: the guard refuses, the caps of connections,
//! bandwidth and size hold, and a silent server is an outcome like any other.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod toy;

use orb_fetch::{FetchConfig, Fetchers, PROTOCOLS, Protocol, Timeouts, Unwatched};
use orb_page::{FailureKind, Lease, Outcome, Truncation};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// A protocol, and what its server says in front of a body.
struct Subject {
    scheme: &'static str,
    head: &'static str,
}

const SUBJECTS: [Subject; 2] =
    [Subject { scheme: "http", head: "HTTP/1.0 200 OK\r\n\r\n" }, Subject { scheme: "x-toy", head: "200 1\n" }];

/// How the answer of a server begins that keeps its connection.
const KEPT: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";

static ALL: [Protocol; 2] = [PROTOCOLS[0], toy::TOY];

/// A server that answers every connection with the same bytes, whatever is asked.
struct Stage {
    addr: SocketAddr,
    accepted: Arc<AtomicUsize>,
    /// How many connections were open at once, at most.
    most: Arc<AtomicUsize>,
    /// An answer takes one of these.
    leave: Arc<Semaphore>,
}

impl Stage {
    async fn start(answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stage = Self {
            addr: listener.local_addr().unwrap(),
            accepted: Arc::default(),
            most: Arc::default(),
            leave: Arc::new(Semaphore::new(0)),
        };
        let (accepted, most, leave) = (stage.accepted.clone(), stage.most.clone(), stage.leave.clone());
        let (answer, open) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let (answer, leave, open) = (answer.clone(), leave.clone(), open.clone());
                tokio::spawn(async move {
                    serve(stream, &answer, &leave).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        stage
    }

    fn lease(&self, subject: &Subject) -> Lease {
        Lease::plain(format!("{}://{}/file", subject.scheme, self.addr))
    }
}

/// Waits for the end of the question, then for leave to answer.
async fn serve(mut stream: TcpStream, answer: &[u8], leave: &Semaphore) {
    let mut asked = Vec::new();
    while !(asked.ends_with(b"\r\n\r\n") || asked.ends_with(b"\n") && asked.starts_with(b"/")) {
        match stream.read_u8().await {
            Ok(byte) => asked.push(byte),
            Err(_) => return,
        }
    }
    leave.acquire().await.unwrap().forget();
    let _ = stream.write_all(answer).await;
    // A connection that is kept is the client's to close.
    while answer.starts_with(KEPT) && stream.read_u8().await.is_ok() {}
}

fn config() -> FetchConfig {
    FetchConfig { private_hosts: vec!["127.0.0.1".to_owned()], ..FetchConfig::default() }
}

fn fetchers(config: FetchConfig) -> Arc<Fetchers> {
    Arc::new(Fetchers::open(config, &ALL).unwrap())
}

async fn fetch(fetchers: &Fetchers, lease: &Lease) -> Outcome {
    fetchers.fetch(lease, &Unwatched).await
}

fn answer(subject: &Subject, length: usize) -> Vec<u8> {
    [subject.head.as_bytes(), &vec![b'x'; length]].concat()
}

#[tokio::test]
async fn a_private_address_is_refused_before_any_socket_is_opened() {
    for subject in SUBJECTS {
        let stage = Stage::start(answer(&subject, 1)).await;
        let fetchers = fetchers(FetchConfig::default());
        let failure = fetch(&fetchers, &stage.lease(&subject)).await.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Guard, "{}", subject.scheme);
        let pinned = Lease { addr: Some(stage.addr.ip()), ..stage.lease(&subject) };
        assert_eq!(fetch(&fetchers, &pinned).await.result.unwrap_err().kind, FailureKind::Guard);
        assert_eq!(stage.accepted.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn a_document_comes_whole_and_its_connection_is_closed() {
    for subject in SUBJECTS {
        let stage = Stage::start(answer(&subject, 100_000)).await;
        stage.leave.add_permits(1);
        let fetchers = fetchers(config());
        let response = fetch(&fetchers, &stage.lease(&subject)).await.result.unwrap();
        assert_eq!((response.status, response.body.len(), response.truncated), (200, 100_000, None));
        assert_eq!(response.peer, Some(stage.addr), "{}", subject.scheme);
        fetchers.close().await;
        assert_eq!(fetchers.line().connections().open, 0);
    }
}

#[tokio::test]
async fn the_connection_cap_holds_for_every_protocol_and_for_all_together() {
    for subjects in [&SUBJECTS[..1], &SUBJECTS[1..], &SUBJECTS] {
        the_cap_holds_for(subjects).await;
    }
}

/// Asks for more than two connections at once, four for each protocol, where two are allowed.
async fn the_cap_holds_for(subjects: &[Subject]) {
    let mut stages = Vec::new();
    for subject in subjects {
        stages.push(Stage::start(answer(subject, 9)).await);
    }
    let fetchers = fetchers(FetchConfig { connections: 2, per_host: 2, ..config() });
    let leases: Vec<_> =
        stages.iter().zip(subjects).flat_map(|(stage, subject)| vec![stage.lease(subject); 4]).collect();
    let others = leases.len() - 2;
    let asked: Vec<_> = leases
        .into_iter()
        .map(|lease| {
            let fetchers = Arc::clone(&fetchers);
            tokio::spawn(async move { fetch(&fetchers, &lease).await.result.map(|response| response.body.len()) })
        })
        .collect();
    // Nobody is answered until the cap is reached and the others wait.
    while fetchers.line().connections().waiting < others {
        tokio::task::yield_now().await;
    }
    assert_eq!(fetchers.line().connections().open, 2);
    stages.iter().for_each(|stage| stage.leave.add_permits(8));
    for done in asked {
        assert_eq!(done.await.unwrap().unwrap(), 9);
        assert!(fetchers.line().connections().open <= 2);
    }
    assert!(stages.iter().all(|stage| stage.most.load(Ordering::SeqCst) <= 2));
}

#[tokio::test]
async fn a_connection_that_http_keeps_makes_room_for_another_protocol() {
    let [http, toy] = &SUBJECTS;
    let stages = [Stage::start([KEPT, b"123456789"].concat()).await, Stage::start(answer(toy, 9)).await];
    let fetchers = fetchers(FetchConfig { connections: 1, per_host: 1, ..config() });
    for _ in 0..2 {
        for (stage, subject) in stages.iter().zip([http, toy]) {
            stage.leave.add_permits(1);
            let response = fetch(&fetchers, &stage.lease(subject)).await.result.unwrap();
            assert_eq!(response.body.len(), 9, "{}", subject.scheme);
            assert_eq!(fetchers.line().connections().open, 1);
        }
    }
    assert!(stages.iter().all(|stage| stage.accepted.load(Ordering::SeqCst) == 2));
}

#[tokio::test]
async fn the_bandwidth_holds_for_all_protocols_together() {
    let stages = [Stage::start(answer(&SUBJECTS[0], 30_000)).await, Stage::start(answer(&SUBJECTS[1], 30_000)).await];
    stages.iter().for_each(|stage| stage.leave.add_permits(1));
    let fetchers = fetchers(FetchConfig { bandwidth: Some(100_000), ..config() });
    let (one, two) = (stages[0].lease(&SUBJECTS[0]), stages[1].lease(&SUBJECTS[1]));
    let start = Instant::now();
    let (one, two) = tokio::join!(fetch(&fetchers, &one), fetch(&fetchers, &two));
    assert_eq!((one.result.unwrap().body.len(), two.result.unwrap().body.len()), (30_000, 30_000));
    assert!(start.elapsed() >= Duration::from_millis(500), "60 kB at 100 kB/s took {:?}", start.elapsed());
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_cut_off_there() {
    for subject in SUBJECTS {
        let stage = Stage::start(answer(&subject, 100_000)).await;
        stage.leave.add_permits(1);
        let fetchers = fetchers(FetchConfig { max_size: 5_000, ..config() });
        let response = fetch(&fetchers, &stage.lease(&subject)).await.result.unwrap();
        assert_eq!(response.truncated, Some(Truncation::Length), "{}", subject.scheme);
        assert!(response.body.len() <= 5_000 && response.body.len() > 4_900);
    }
}

#[tokio::test]
async fn a_silent_server_is_a_timeout() {
    for subject in SUBJECTS {
        let stage = Stage::start(answer(&subject, 1)).await;
        let timeouts = Timeouts { head: Duration::from_millis(50), ..Timeouts::default() };
        let fetchers = fetchers(FetchConfig { timeouts, ..config() });
        let failure = fetch(&fetchers, &stage.lease(&subject)).await.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout, "{}", subject.scheme);
        fetchers.close().await;
    }
}

#[tokio::test]
async fn a_server_that_refuses_is_a_failed_connection() {
    for subject in SUBJECTS {
        let stage = Stage::start(Vec::new()).await;
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = closed.local_addr().unwrap();
        drop(closed);
        let fetchers = fetchers(config());
        let failure = fetch(&fetchers, &Stage { addr, ..stage }.lease(&subject)).await.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Connect, "{}", subject.scheme);
    }
}

#[tokio::test]
async fn a_scheme_without_a_protocol_is_refused_by_name() {
    let stage = Stage::start(Vec::new()).await;
    let fetchers = Fetchers::new(config()).unwrap();
    let lease = Lease { url: "gopher://example.com/".to_owned(), ..stage.lease(&SUBJECTS[0]) };
    let failure = fetch(&fetchers, &lease).await.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsupported);
    assert_eq!(failure.detail, "gopher://example.com/: the scheme gopher is not fetched");
}
