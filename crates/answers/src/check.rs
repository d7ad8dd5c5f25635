//! Do archive, catalogue, frontier index, keys, graph and text index agree?

use crate::Result;
use crate::collection::must_have_collected;
use crate::graph::check_graph;
use crate::index::check_index;
use bytes::Bytes;
use orb_page::Body;
use orb_store::{CheckReport, ProjectDir};

/// Compares all stores of a project with each other, and the derived ones with their checksums.
pub fn check(project: &ProjectDir) -> Result<CheckReport> {
    must_have_collected(project)?;
    let mut report = orb_store::check_decoding(project, &remove_coding)?;
    check_graph(project, &mut report)?;
    check_index(project, &mut report)?;
    Ok(report)
}

fn remove_coding(body: Bytes, codings: &str, cap: u64) -> Bytes {
    orb_fetch::decode(&Body::Memory(body), codings, cap).bytes
}
