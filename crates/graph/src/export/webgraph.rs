//! How are the compressed files handed to WebGraph?
//!
//! They are copied as they are, for WebGraph and everything else that reads the BV format.

use super::{GraphExportSummary, OutputFile};
use crate::error::{GraphError, Result};
use crate::read::{WebGraph, Which};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The files that WebGraph needs.
const PARTS: [&str; 3] = ["graph", "properties", "offsets"];

/// Copies the compressed lists to `<base>.graph`, `.properties` and `.offsets`, the transpose to
/// `<base>-t.*`, and the names of the nodes, one per line in node order, to `<base>.urls`.
pub fn copy_lists(graph: &WebGraph, hosts: bool, base: &Path, force: bool) -> Result<GraphExportSummary> {
    let pair = if hosts { [Which::Host, Which::HostT] } else { [Which::Web, Which::WebT] };
    let mut copies = Vec::new();
    for (which, ending) in pair.into_iter().zip(["", "-t"]) {
        for part in PARTS {
            let output = OutputFile::create(&named(base, &format!("{ending}.{part}")), force)?;
            copies.push((graph.dir().join(which.base()).with_extension(part), output));
        }
    }
    let path = named(base, ".urls");
    let mut list = OutputFile::create(&path, force)?;
    for (from, output) in &mut copies {
        let fail = GraphError::io("copy", from);
        let mut source = File::open(&*from).map_err(&fail)?;
        let mut target = output.file()?;
        io::copy(&mut source, &mut target).and_then(|_| target.flush()).map_err(&fail)?;
    }
    let nodes = graph.nodes(pair[0]);
    let mut lines = list.file()?;
    for node in 0..nodes {
        let name = if hosts { graph.origin(node)? } else { graph.url(node)? };
        writeln!(lines, "{}", name.unwrap_or_default()).map_err(GraphError::io("write", &path))?;
    }
    lines.flush().map_err(GraphError::io("write", &path))?;
    copies.into_iter().map(|(_, output)| output).chain([list]).try_for_each(OutputFile::settle)?;
    let tally = if hosts { graph.manifest().host } else { graph.manifest().web };
    Ok(GraphExportSummary { nodes: u64::from(nodes), arcs: tally.arcs })
}

/// Appends a suffix to the base's file name.
fn named(base: &Path, ending: &str) -> PathBuf {
    let mut name = base.file_name().map_or_else(OsString::new, OsString::from);
    name.push(ending);
    base.with_file_name(name)
}
