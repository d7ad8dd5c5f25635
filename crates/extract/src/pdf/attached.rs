//! Which files does a portfolio hold?
//!
//! A PDF may be a collection of files (ISO 32000-2, 12.3.5), whose own pages are but a cover. The
//! files stand in a tree of names; they are named, and read if they are documents. Files that are
//! attached to another PDF are none of its text.

use super::strings;
use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::nested;
use hayro_syntax::object::{Array, Dict, Object, Stream};
use std::collections::HashSet;

/// How many files are named.
const MAX_FILES: usize = 1_000;
/// How many nodes and entries of the tree are looked at, and how deep.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: u32 = 32;
/// How much is unpacked of all files; the rest is named.
const MAX_BYTES: usize = 64 << 20;

/// Writes names and texts of the files of a portfolio behind the text of its pages.
pub(super) fn read(catalog: &Dict<'_>, found: &mut Gather) {
    if !catalog.contains_key(b"Collection") {
        return;
    }
    let mut files: Vec<Dict<'_>> = Vec::new();
    let names = catalog.get::<Dict<'_>>(b"Names").and_then(|names| names.get::<Dict<'_>>(b"EmbeddedFiles"));
    if let Some(tree) = names {
        let mut room = MAX_NODES;
        gather(&tree, 0, &mut room, &mut files);
    }
    let mut seen: HashSet<String> = HashSet::new();
    let mut unpacked = 0;
    let mut flow = TextFlow::behind(found);
    for file in files {
        let name = [&b"UF"[..], b"F"].into_iter().find_map(|key| file.get::<hayro_syntax::object::String<'_>>(key));
        let name = name.and_then(|name| strings::line(&name)).unwrap_or_default();
        if flow.is_full() {
            break;
        }
        if !seen.insert(name.clone()) {
            continue;
        }
        flow.paragraph(&name);
        if unpacked < MAX_BYTES
            && let Some(kept) = file.get::<Dict<'_>>(b"EF")
            && let Some(stream) = kept.get::<Stream<'_>>(b"F").or_else(|| kept.get::<Stream<'_>>(b"UF"))
            && let Ok(bytes) = stream.decoded_data()
        {
            unpacked += bytes.len();
            nested::write_file(&bytes, &mut flow);
        }
    }
    flow.finish();
}

/// The files in a tree of names.
fn gather<'a>(node: &Dict<'a>, depth: u32, room: &mut usize, files: &mut Vec<Dict<'a>>) {
    if depth > MAX_DEPTH || *room == 0 {
        return;
    }
    *room -= 1;
    let pairs = node.get::<Array<'a>>(b"Names").unwrap_or_default();
    for object in pairs.iter::<Object<'a>>().take(*room) {
        *room -= 1;
        if let Object::Dict(file) = object
            && files.len() < MAX_FILES
        {
            files.push(file);
        }
    }
    let kids = node.get::<Array<'a>>(b"Kids").unwrap_or_default();
    for kid in kids.iter::<Dict<'a>>() {
        gather(&kid, depth + 1, room, files);
    }
}
