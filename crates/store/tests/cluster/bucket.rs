//! A bucket of the test's own: as much of S3 as an archive needs, with failures on purpose.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Objects by their paths, and what was asked.
#[derive(Default)]
pub struct BucketState {
    pub objects: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Every so many requests one is answered with 503.
    pub fail_every: AtomicU64,
    /// Of those that fail, one in three is answered with 500, and one in three is executed and not
    /// answered: the connection ends.
    pub in_all_ways: AtomicBool,
    /// How long an object takes, in milliseconds.
    pub slow: AtomicU64,
    pub requests: AtomicU64,
    pub failures: AtomicU64,
    pub ranges: Mutex<Vec<String>>,
    /// The lengths of the parts of uploads that were completed.
    pub parts: Mutex<Vec<usize>>,
    /// Parts of uploads under way, by the object's path and the part's number.
    uploads: Mutex<BTreeMap<(String, u32), Vec<u8>>>,
}

/// A server of one bucket, `crawl`.
pub struct Bucket {
    pub port: u16,
    pub state: Arc<BucketState>,
}

impl Bucket {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(BucketState::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Self { port, state }
    }
}

fn serve(stream: TcpStream, state: &BucketState) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if reader.read_until(b'\n', &mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let head = String::from_utf8(head).unwrap();
        let field = |name: &str| {
            head.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            })
        };
        let length = field("content-length").map_or(0, |n| n.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
        if method == "PUT" {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(state.slow.load(Ordering::SeqCst)) {
                std::thread::park_timeout(Duration::from_millis(20));
            }
        }
        let failure = failure(state);
        let (status, extra, answer) = match failure {
            Some(BucketFailure::Refused(status)) => (status, String::new(), Vec::new()),
            _ => answered(state, (&method, &target), field("range"), body),
        };
        if matches!(failure, Some(BucketFailure::Unanswered)) {
            return;
        }
        let no_body = method == "HEAD";
        let lengths = format!("Content-Length: {}\r\n", answer.len());
        let _ = write!(
            writer,
            "HTTP/1.1 {status}\r\n{lengths}{extra}ETag: \"x\"\r\nLast-Modified: Tue, 01 Oct 2024 10:00:00 GMT\r\n\r\n"
        );
        if !no_body && writer.write_all(&answer).is_err() {
            return;
        }
    }
}

/// How a request fails.
enum BucketFailure {
    Refused(&'static str),
    Unanswered,
}

/// Whether this request fails, and how.
fn failure(state: &BucketState) -> Option<BucketFailure> {
    let no = state.requests.fetch_add(1, Ordering::SeqCst) + 1;
    let every = state.fail_every.load(Ordering::SeqCst);
    if every == 0 || !no.is_multiple_of(every) {
        return None;
    }
    let failed = state.failures.fetch_add(1, Ordering::SeqCst);
    let ways = if state.in_all_ways.load(Ordering::SeqCst) { failed % 3 } else { 0 };
    Some(match ways {
        0 => BucketFailure::Refused("503 Slow Down"),
        1 => BucketFailure::Refused("500 Internal Server Error"),
        _ => BucketFailure::Unanswered,
    })
}

fn answered(
    state: &BucketState,
    (method, target): (&str, &str),
    range: Option<String>,
    body: Vec<u8>,
) -> (&'static str, String, Vec<u8>) {
    let nothing = String::new();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let Some(key) = path.strip_prefix("/crawl") else {
        let said = b"<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>no</Message></Error>".to_vec();
        return ("404 Not Found", nothing, said);
    };
    let key = key.trim_start_matches('/').to_owned();
    let mut objects = state.objects.lock().unwrap();
    match method {
        "POST" if query.starts_with("uploads") => {
            let said = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>";
            ("200 OK", nothing, said.into())
        }
        "PUT" if query.contains("partNumber=") => {
            let number = query.split(['=', '&']).skip_while(|word| *word != "partNumber").nth(1).unwrap();
            state.uploads.lock().unwrap().insert((key, number.parse().unwrap()), body);
            ("200 OK", nothing, Vec::new())
        }
        "POST" if query.starts_with("delete") => {
            let asked = String::from_utf8(body).unwrap();
            let keys = asked.split("<Key>").skip(1).filter_map(|part| part.split("</Key>").next());
            let said: String = keys
                .map(|key| {
                    objects.remove(key);
                    format!("<Deleted><Key>{key}</Key></Deleted>")
                })
                .collect();
            ("200 OK", nothing, format!("<DeleteResult>{said}</DeleteResult>").into())
        }
        "POST" => {
            let mut uploads = state.uploads.lock().unwrap();
            let (done, others) = std::mem::take(&mut *uploads).into_iter().partition(|((of, _), _)| *of == key);
            *uploads = others;
            let done: BTreeMap<(String, u32), Vec<u8>> = done;
            state.parts.lock().unwrap().extend(done.values().map(Vec::len));
            objects.insert(key, done.into_values().flatten().collect());
            let said = "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>";
            ("200 OK", nothing, said.into())
        }
        "PUT" => {
            objects.insert(key, body);
            ("200 OK", nothing, Vec::new())
        }
        "GET" if query.contains("list-type") => {
            let rows: String = objects
                .iter()
                .map(|(key, bytes)| {
                    format!(
                        "<Contents><Key>{key}</Key><LastModified>2024-10-01T10:00:00.000Z</LastModified><ETag>\"x\"</ETag><Size>{}</Size></Contents>",
                        bytes.len()
                    )
                })
                .collect();
            let xml = format!(
                "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"
            );
            ("200 OK", "Content-Type: application/xml\r\n".to_owned(), xml.into_bytes())
        }
        "GET" | "HEAD" => match objects.get(&key) {
            None => ("404 Not Found", nothing, Vec::new()),
            Some(bytes) => ranged(state, bytes, range),
        },
        _ => ("405 Method Not Allowed", nothing, Vec::new()),
    }
}

fn ranged(state: &BucketState, bytes: &[u8], range: Option<String>) -> (&'static str, String, Vec<u8>) {
    let Some(range) = range else { return ("200 OK", String::new(), bytes.to_vec()) };
    state.ranges.lock().unwrap().push(range.clone());
    let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let from: usize = from.parse().unwrap();
    let to = to.parse().unwrap_or(usize::MAX).min(bytes.len() - 1);
    let said = format!("Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
    ("206 Partial Content", said, bytes[from..=to].to_vec())
}
