//! What does a helper do all day?
//!
//! It reads requests from its input and writes answers to its output, one at a time, until the
//! input ends. It is the only thread of its process. Before the first request it has given up
//! everything it does not need.

use crate::confine::{HelperLimits, allow_cpu, confine, cpu_used};
use crate::frame::{self, HelperAnswer, Request};
use orb_extract::Content;
use orb_page::{Document, Problem};
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Answers requests until there are no more. For the hidden command of the program alone: it
/// confines the process.
pub fn serve(mut input: impl Read, mut output: impl Write, limits: &HelperLimits) -> io::Result<()> {
    // A panic is an answer; what it would print only fills a pipe.
    std::panic::set_hook(Box::new(|_| {}));
    let confinement = confine(limits);
    while let Some(request) = frame::read(&mut input)? {
        let Some(bytes) = frame::read(&mut input)? else { return Ok(()) };
        allow_cpu(limits.cpu);
        let request: Request = serde_json::from_slice(&request)?;
        let document = read(&request, &bytes);
        let cpu_ms = u64::try_from(cpu_used().as_millis()).unwrap_or(u64::MAX);
        let answer = HelperAnswer::pack(document, cpu_ms, confinement);
        frame::write(&mut output, &serde_json::to_vec(&answer)?)?;
        output.flush()?;
    }
    Ok(())
}

fn read(request: &Request, bytes: &[u8]) -> Document {
    let (mime, charset) = (request.mime.as_deref(), request.charset.as_deref());
    let content = Content { bytes, mime, charset, url: &request.url };
    let read = || orb_extract::extract_within(&content, String::new(), request.wants_layout);
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Document {
        mime: orb_extract::sniff(bytes, mime).into_owned(),
        problems: vec![Problem::new("reader-died", "the document made its parser fail")],
        ..Document::default()
    })
}
