//! How are form names and values encoded as bytes? (HTML 4.10.21.6 to 8)

use super::FormError;
use encoding_rs::{Encoding, UTF_8};
use orb_page::RequestBody;
use std::borrow::Cow;

/// Maximum size of a form submission.
const MAX_BYTES: usize = 16 << 20;

/// Placeholder for a secret value.
const BLOT: &str = "***";

/// A name with its value.
pub(super) struct FormEntry {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) secret: bool,
    /// Whether it is a file input with no file selected.
    pub(super) file: bool,
}

impl FormEntry {
    fn value(&self, kept: bool) -> &str {
        if kept && self.secret { BLOT } else { &self.value }
    }
}

/// The encoding of the submission: the first supported one in `accept-charset`, or the page's own.
pub(super) fn encoding(accepted: &str, charset: Option<&str>) -> &'static Encoding {
    let of = |label: &str| Encoding::for_label(label.trim().as_bytes());
    let first = accepted.split_ascii_whitespace().find_map(of).or_else(|| charset.and_then(of));
    first.unwrap_or(UTF_8).output_encoding()
}

/// The query of a `get` form.
pub(super) fn query(entries: &[FormEntry], encoding: &'static Encoding) -> Result<String, FormError> {
    let bytes = bounded(urlencoded(entries, encoding, false))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The request body of a `post` form.
pub(super) fn payload(
    enctype: &str,
    entries: &[FormEntry],
    encoding: &'static Encoding,
) -> Result<RequestBody, FormError> {
    let both = |write: &dyn Fn(bool) -> Vec<u8>| Ok((bounded(write(false))?.into(), bounded(write(true))?.into()));
    let (mime, (bytes, kept)) = match enctype {
        "multipart/form-data" => {
            let boundary = boundary(entries);
            (format!("{enctype}; boundary={boundary}"), both(&|kept| multipart(entries, encoding, &boundary, kept))?)
        }
        "text/plain" => (enctype.to_owned(), both(&|kept| plain(entries, encoding, kept))?),
        _ => (enctype.to_owned(), both(&|kept| urlencoded(entries, encoding, kept))?),
    };
    Ok(RequestBody { mime, bytes, kept })
}

fn bounded(bytes: Vec<u8>) -> Result<Vec<u8>, FormError> {
    if bytes.len() > MAX_BYTES { Err(FormError::TooLarge(MAX_BYTES)) } else { Ok(bytes) }
}

/// A text with normalised newlines in the target encoding. Unmappable characters become character
/// references.
fn bytes<'a>(text: &'a str, encoding: &'static Encoding) -> Cow<'a, [u8]> {
    if !text.contains(['\r', '\n']) {
        return encoding.encode(text).0;
    }
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
    Cow::Owned(encoding.encode(&lines).0.into_owned())
}

fn urlencoded(entries: &[FormEntry], encoding: &'static Encoding, kept: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            out.push(b'&');
        }
        escape(&bytes(&entry.name, encoding), &mut out);
        out.push(b'=');
        if kept && entry.secret {
            out.extend_from_slice(BLOT.as_bytes());
        } else {
            escape(&bytes(&entry.value, encoding), &mut out);
        }
    }
    out
}

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &b in bytes {
        match b {
            b' ' => out.push(b'+'),
            b'*' | b'-' | b'.' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => out.push(b),
            _ => out.extend([b'%', DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]),
        }
    }
}

/// A multipart boundary that occurs in none of the values.
fn boundary(entries: &[FormEntry]) -> String {
    let whole: usize = entries.iter().map(|e| e.name.len() + e.value.len()).sum();
    let candidates = (0_usize..).map(|n| format!("----orbweaver{:016x}", whole.wrapping_mul(2_654_435_761) ^ n));
    let is_free = |line: &String| entries.iter().all(|e| !e.value.contains(line) && !e.name.contains(line));
    candidates.take(entries.len() + 2).find(is_free).unwrap_or_else(|| "----orbweaver".to_owned())
}

fn multipart(entries: &[FormEntry], encoding: &'static Encoding, boundary: &str, kept: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for entry in entries {
        out.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"").as_bytes());
        for &b in bytes(&entry.name, encoding).iter() {
            match b {
                b'"' => out.extend_from_slice(b"%22"),
                b'\r' => out.extend_from_slice(b"%0D"),
                b'\n' => out.extend_from_slice(b"%0A"),
                b => out.push(b),
            }
        }
        out.push(b'"');
        if entry.file {
            out.extend_from_slice(b"; filename=\"\"\r\nContent-Type: application/octet-stream");
        }
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&bytes(entry.value(kept), encoding));
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

fn plain(entries: &[FormEntry], encoding: &'static Encoding, kept: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for entry in entries {
        out.extend_from_slice(&bytes(&entry.name, encoding));
        out.push(b'=');
        out.extend_from_slice(&bytes(entry.value(kept), encoding));
        out.extend_from_slice(b"\r\n");
    }
    out
}
