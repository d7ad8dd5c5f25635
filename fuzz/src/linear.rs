//! Does eight times the input take eight times the work?
//!
//! Input that a stranger may repeat must not become more expensive each time. A quadratic step
//! makes the long input 64 times as expensive as the short one. Only work that takes long enough to
//! be measured is judged, and a failure is confirmed by a second measurement.

use crate::options;
use orb_extract::{Content, extract};
use orb_fetch::Jar;
use orb_frontier::Robots;
use orb_urls::{Canonicaliser, session, surt};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::{Duration, SystemTime};

const SHORT: usize = 8 << 10;
const TIMES: usize = 8;
/// Shorter times are not judged.
const MEASURABLE: Duration = Duration::from_millis(40);
/// More than linear, less than quadratic.
const TOO_DEAR: u32 = 24;

const READERS: &[fn(&str)] = &[
    |text| document(text, "text/html"),
    |text| document(text, "application/xml"),
    |text| document(text, "application/rss+xml"),
    |text| document(&format!("<urlset>{text}"), "application/xml"),
    |text| document(text, "text/css"),
    |text| document(text, "text/javascript"),
    |text| document(text, "text/plain"),
    |text| drop(black_box(Robots::parse(text.as_bytes(), "orbweaver").allows("/a/b?c=d"))),
    |text| drop(black_box(Robots::parse(b"User-agent: *\nDisallow: /*a*b*c$", "orbweaver").allows(text))),
    |text| drop(black_box(surt::cdx_key(text))),
    |text| drop(black_box(session::strip(text))),
    |text| drop(black_box(Canonicaliser::default().parse(text))),
    |text| drop(black_box(orb_extract::header_links(&[("link", text)].into_iter().collect()))),
    |text| Jar::default().store(&crate::example(), [text.as_bytes()], SystemTime::UNIX_EPOCH),
    |text| drop(black_box((orb_extract::simhash(text), orb_extract::language(text)).0.to_string())),
    |text| drop(black_box(session::one_session(&[text, "http://x/4f8ab91c77de20aa3bc1?a=1"]).identity(text))),
    |text| {
        drop(black_box(session::two_sessions(
            &[text, "http://x/a?b=4f8ab91c77de"],
            &[text, "http://x/a?b=90ab44d1f7de"],
        )));
    },
    |text| _ = black_box(orb_extract::shell_signs(text.as_bytes())),
    |text| drop(black_box(session_site().renew(text, "http://x/"))),
    |text| drop(black_box(session_site().redirected("http://x/", text))),
    |text| drop(black_box(session_site().observe("http://x/", &text.split('\n').collect::<Vec<_>>()))),
];

/// A site with session ids in two positions.
fn session_site() -> session::Site {
    let id = "4f8ab91c77de20aa3bc1";
    session::one_session(&[&format!("http://x/{id}/a?zq={id}ff"), &format!("http://x/{id}/b?zq={id}ff")])
}

fn document(text: &str, mime: &str) {
    let content = Content { bytes: text.as_bytes(), mime: Some(mime), charset: None, url: "http://example.org/" };
    black_box(extract(&content));
}

/// One fragment repeated between two others. Input: a byte for the parser, and three parts
/// separated by 0x1e.
pub fn linear(bytes: &[u8]) {
    let (choice, text) = options(bytes);
    let mut parts = text.splitn(3, '\u{1e}');
    let (before, thing, after) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if thing.is_empty() || text.len() > SHORT {
        return;
    }
    let read = READERS[usize::from(choice) % READERS.len()];
    let repeated = |size: usize| format!("{before}{}{after}", thing.repeat(size / thing.len()));
    let (short, long) = (repeated(SHORT), repeated(SHORT * TIMES));
    let too_dear = || {
        let (little, much) = (cost(|| read(&short)), cost(|| read(&long)));
        much > MEASURABLE && much > little * TOO_DEAR
    };
    assert!(!(too_dear() && too_dear() && too_dear()), "{thing:?} again and again");
}

/// The CPU time that some work takes.
fn cost(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    };
    let start = now();
    work();
    now().saturating_sub(start)
}
