//! How is the whole link graph exported for other tools?
//!
//! `orb graph export` writes parts of it and drawings.

use super::account::ExportMonitor;
use super::place::Unfinished;
use super::{ExportJob, ExportedFile};
use crate::failure::{CommandFailure, complain};
use crate::out;
use anyhow::anyhow;
use orb_answers::{AnswerError, GraphError, GraphFreshness, WebGraph};
use orb_export::graph::{GraphExportRequest, GraphFormat, Selection, copy_lists, to_stream};
use orb_page::PageId;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The export form.
#[derive(Clone, Copy)]
pub(super) enum As {
    /// One file.
    Form(GraphFormat),
    /// The compressed lists as they are.
    Lists,
}

pub(super) fn run(job: &mut ExportJob<'_>, form: As) -> Result<Vec<ExportedFile>, CommandFailure> {
    let graph = open(job)?;
    let ending = match form {
        As::Form(format) => format.name(),
        As::Lists => "webgraph",
    };
    let default = match form {
        As::Form(_) => format!("{}.{ending}", job.collection.name()),
        As::Lists => job.collection.name().to_owned(),
    };
    let path = job.args.output.clone().unwrap_or_else(|| PathBuf::from(default));
    let stdout = path == Path::new("-");
    let arcs = match form {
        As::Lists if stdout => {
            return Err(CommandFailure::Usage("several files cannot go to standard output: name a directory".into()));
        }
        As::Lists => copy_lists(graph, false, &path, job.args.force).map_err(refused)?.arcs,
        As::Form(format) if stdout => told(job, graph, format, Box::new(out::content()))?,
        As::Form(format) => {
            let mut file = Unfinished::begin(&path, job.args.force)?;
            let target = file.file().try_clone()?;
            let arcs = told(job, graph, format, Box::new(io::BufWriter::with_capacity(1 << 18, target)))?;
            file.keep()?;
            arcs
        }
    };
    let path = if matches!(form, As::Lists) { format!("{}.graph", path.display()) } else { path.display().to_string() };
    Ok(vec![ExportedFile { path, count: arcs, of: "arcs" }])
}

/// The existing graph, with a warning if it is older than the catalogue.
fn open<'a>(job: &ExportJob<'a>) -> Result<&'a WebGraph, CommandFailure> {
    let name = job.collection.name();
    let graph = match job.collection.web_graph() {
        Err(AnswerError::NotBuilt(_)) => {
            return Err(anyhow!("project {name} has no graph yet; orb graph build {name} makes it").into());
        }
        other => other?.0,
    };
    match job.collection.graph_standing()? {
        GraphFreshness::Current => {}
        GraphFreshness::Behind { .. } => {
            complain(&format!("the graph is older than the catalogue; orb graph build {name} renews it"));
        }
        GraphFreshness::Foreign => {
            return Err(
                anyhow!("the graph was built from another catalogue; orb graph build {name} makes a new one").into()
            );
        }
    }
    Ok(graph)
}

fn told(
    job: &mut ExportJob<'_>,
    graph: &WebGraph,
    format: GraphFormat,
    out: Box<dyn Write + Send + '_>,
) -> Result<u64, CommandFailure> {
    let (collection, account) = (job.collection, &mut job.account);
    let mut titles = |page: PageId| collection.title(page).ok().flatten();
    let mut wish =
        GraphExportRequest { selection: Selection::Whole, hosts: false, title: collection.name(), titles: &mut titles };
    let written = to_stream(graph, format, &mut wish, Box::new(Watched { out, account, bytes: 0 }));
    if job.account.is_stopped() {
        return Err(CommandFailure::Stopped);
    }
    Ok(written.map_err(refused)?.arcs)
}

/// A failure of the graph; a closed output is not one.
fn refused(error: GraphError) -> CommandFailure {
    let closed = std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<io::Error>())
        .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
    match error {
        _ if closed => CommandFailure::OutputClosed,
        GraphError::Exists { path } => anyhow!("{} already exists; --force writes over it", path.display()).into(),
        other => other.into(),
    }
}

/// An output that counts, and fails when the user asked to stop.
struct Watched<'a> {
    out: Box<dyn Write + Send + 'a>,
    account: &'a mut ExportMonitor,
    bytes: u64,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let before = self.bytes >> 16;
        self.bytes += written as u64;
        if self.bytes >> 16 > before && self.account.note("bytes", self.bytes).is_break() {
            return Err(io::Error::other("stopped"));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
