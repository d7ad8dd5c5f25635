//! Which responses are documents, and where do they wait?
//!
//! Documents whose formats are read aside have reading threads of their own, so that one that takes
//! ten seconds holds up no page. They wait in memory up to half of what the pipeline may hold, and
//! in unnamed files beyond that, so that slow documents leave room for pages.

use crate::shared::HeldBytes;
use orb_extract::Content;
use orb_page::{Body, Lease, Outcome, Response};
use std::io::Write as _;
use std::path::Path;

/// How much of a body decides.
const ENOUGH: u64 = 64 << 10;

/// Whether what came back is for the document readers. A wrong answer costs time, nothing else:
/// both kinds of readers do the same.
pub(super) fn is_document(lease: &Lease, outcome: &Outcome) -> bool {
    let Ok(response) = &outcome.result else { return false };
    if !(200..300).contains(&response.status) || response.body.is_empty() {
        return false;
    }
    let (mime, codings) = (response.headers.mime(), response.headers.codings());
    let judge = |bytes: &[u8]| {
        let content = Content { bytes, mime: mime.as_deref(), charset: None, url: lease.request_url() };
        orb_extract::is_read_aside(&content)
    };
    match &response.body {
        // Text is compressed as a rule, documents are not: nothing is decoded twice.
        _ if !codings.is_empty() && mime.as_deref().is_some_and(|mime| mime.starts_with("text/")) => false,
        Body::Memory(bytes) if codings.is_empty() => judge(bytes),
        body => judge(&orb_fetch::decode(body, &codings, ENOUGH).bytes),
    }
}

/// What a response holds while it waits.
pub(super) fn held(outcome: &Outcome) -> HeldBytes {
    let wire = outcome.result.as_ref().map(|response| &response.wire);
    let memory = match wire {
        Ok(Body::Memory(bytes)) => bytes.len() as u64,
        _ => 0,
    };
    HeldBytes { wire: wire.map_or(0, Body::len), memory }
}

/// Moves a response from memory to a file. Where that fails it stays.
pub(super) fn spill(outcome: &mut Outcome, dir: &Path) {
    let Ok(response) = &mut outcome.result else { return };
    let _ = spooled(response, dir);
}

fn spooled(response: &mut Response, dir: &Path) -> std::io::Result<()> {
    let (Body::Memory(wire), Body::Memory(body)) = (&response.wire, &response.body) else { return Ok(()) };
    let to_file = |bytes: &[u8]| {
        let mut file = tempfile::tempfile_in(dir)?;
        file.write_all(bytes)?;
        Ok::<_, std::io::Error>(Body::Spooled { file, len: bytes.len() as u64 })
    };
    let is_shared = wire.as_ptr() == body.as_ptr() && wire.len() == body.len();
    let wire = to_file(wire)?;
    response.body = if is_shared { wire.share()? } else { to_file(body)? };
    response.wire = wire;
    Ok(())
}
