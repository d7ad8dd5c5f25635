//! What was wrong with a response?
//!
//! How its body ended, and what its headers say of its length. A problem is a fact about the visit.

use orb_page::{Problem, Response, Truncation};

/// Why a body is not whole.
pub(super) fn truncation(why: Truncation) -> Problem {
    match why {
        Truncation::Length => Problem::new("too-large", "the body is larger than the limit and was not fetched whole"),
        Truncation::Unwanted => Problem::new("unwanted-type", "the media type is not wanted; the body was not fetched"),
        Truncation::Time => Problem::new("too-slow", "the body came too slowly and was cut off"),
        Truncation::Disconnect => Problem::new("cut-off", "the connection ended before the body did"),
    }
}

/// What was odd about the end of the response.
pub(super) fn framing(response: &Response) -> Option<Problem> {
    let is_number = |n: &[u8]| !n.is_empty() && n.iter().all(u8::is_ascii_digit);
    let told = |l: &[u8]| l.split(|b| *b == b',').all(|n| is_number(n.trim_ascii()));
    let mut lengths = response.headers.values("content-length");
    let clear = lengths.next().is_none_or(|first| told(first) && lengths.all(|l| l == first));
    match (clear, response.excess) {
        (false, _) => Some(Problem::new("length-unclear", "the lengths announced contradict each other or are none")),
        (true, true) => Some(Problem::new("unasked", "more came than belongs to the answer; it was not read")),
        (true, false) => None,
    }
}

/// All problems in one line.
pub(super) fn joined(problems: &[Problem]) -> Option<String> {
    let line = |p: &Problem| format!("{}: {}", p.code, p.detail);
    (!problems.is_empty()).then(|| problems.iter().map(line).collect::<Vec<_>>().join("; "))
}
