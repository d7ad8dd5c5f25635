//! Where do the actions of a film lead?

use crate::flow::TextFlow;
use crate::gather::has_scheme;
use crate::package::u16_at;
use crate::text::urls;
use orb_page::LinkKind;

const GET_URL: u8 = 0x83;
const CONSTANTS: u8 = 0x88;
const PUSH: u8 = 0x96;

/// Reads the actions of a frame: those that open an address, and the strings of the others.
pub(super) fn read(mut actions: &[u8], flow: &mut TextFlow<'_>) {
    while let Some((&code, rest)) = actions.split_first() {
        if code < 0x80 {
            actions = rest;
            continue;
        }
        let Some(len) = u16_at(rest, 0).map(usize::from) else { return };
        let body = rest.get(2..).unwrap_or(&[]);
        let (body, after) = body.split_at_checked(len).unwrap_or((body, &[]));
        match code {
            GET_URL => open(body, flow),
            CONSTANTS => strings(body.get(2..).unwrap_or(&[]), flow),
            PUSH => strings(body, flow),
            _ => {}
        }
        actions = after;
    }
}

fn open(body: &[u8], flow: &mut TextFlow<'_>) {
    let target = String::from_utf8_lossy(body.split(|&b| b == 0).next().unwrap_or(&[])).into_owned();
    // Commands to the player look like addresses.
    if !has_scheme(&target, "fscommand") && !has_scheme(&target, "javascript") {
        flow.found.link(LinkKind::Document, &target, 0);
    }
}

/// Adds the addresses among strings that end with zeros.
fn strings(body: &[u8], flow: &mut TextFlow<'_>) {
    for bytes in body.split(|&b| b == 0) {
        // A pushed string has a byte for its type before it.
        let text = String::from_utf8_lossy(bytes);
        address(&text, flow);
    }
}

fn address(text: &str, flow: &mut TextFlow<'_>) {
    urls(text, |target, _| {
        flow.found.link(LinkKind::Document, target, 0);
    });
}

/// Adds the addresses among the constants of a script of ActionScript 3: integers, numbers, then
/// strings with their lengths.
pub(super) fn constants(code: &[u8], flow: &mut TextFlow<'_>) -> Option<()> {
    let mut rest = code.get(4..)?;
    for _ in 0..2 {
        for _ in 1..number(&mut rest)? {
            number(&mut rest)?;
        }
    }
    let floats = number(&mut rest)?.saturating_sub(1) as usize;
    rest = rest.get(floats.checked_mul(8)?..)?;
    for _ in 1..number(&mut rest)? {
        let len = number(&mut rest)? as usize;
        let (text, after) = rest.split_at_checked(len)?;
        address(&String::from_utf8_lossy(text), flow);
        rest = after;
    }
    Some(())
}

/// A number of up to five bytes with seven bits each.
fn number(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}
