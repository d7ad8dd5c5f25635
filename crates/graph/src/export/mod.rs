//! How does a graph leave for other people's tools?
//!
//! A selection of pages or hosts ([`Selection`]) is streamed to a [`GraphSink`], first its
//! vertices, then its arcs. Each format is one file and one line in [`GraphFormat::form`]. A format
//! buffers only what it cannot do without, so a whole graph passes through in little memory.
//! Vertices are identified by their number in the catalogue, never by their node number.

mod dot;
mod drawing;
mod edges;
mod gexf;
mod graphml;
mod output;
mod parquet;
mod vertex;
mod webgraph;
mod xml;

pub use drawing::{DRAWING_SCRIPTS, DrawnGraph, DrawnMerit, DrawnNode, MOST_DRAWN};
pub use output::OutputFile;
pub use webgraph::copy_lists;

use crate::error::{GraphError, Result};
use crate::rank::{By, Ranks};
use crate::read::{WebGraph, Which};
use std::io::{self, Write};
use std::path::Path;
use vertex::{NameCache, Vertex};

use crate::near::Reach;
use orb_page::PageId;

/// The export formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphFormat {
    /// GraphML, XML that nearly every tool reads.
    Graphml,
    /// GEXF 1.2, Gephi's XML.
    Gexf,
    /// DOT, for Graphviz.
    Dot,
    /// One line with two URLs per arc.
    Edges,
    /// Parquet: the arcs, and a second file with the vertices.
    Parquet,
    /// An interactive drawing as one HTML page.
    Html,
}

/// Which part of a graph is exported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Selection {
    /// Everything.
    Whole,
    /// The top-ranked vertices.
    Top {
        /// By which ranking.
        by: By,
        /// How many.
        count: usize,
    },
    /// The neighbourhood of a page.
    Around {
        /// The page.
        page: PageId,
        /// How far it extends.
        reach: Reach,
    },
}

/// A sink for a graph.
trait GraphSink {
    /// Adds a vertex; all of them come before the first arc.
    fn vertex(&mut self, vertex: &Vertex<'_>) -> io::Result<()>;

    /// Adds an arc between two vertices that were added.
    fn arc(&mut self, from: ArcEnd<'_>, to: ArcEnd<'_>) -> io::Result<()>;

    /// Whether the ends of arcs need their names.
    fn names_ends(&self) -> bool {
        false
    }

    /// Finishes the output.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// An end of an arc: its number in the catalogue, and its name if the format needs it.
#[derive(Clone, Copy)]
struct ArcEnd<'a> {
    number: u64,
    name: &'a str,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GraphExportSummary {
    /// Number of vertices.
    pub nodes: u64,
    /// Number of arcs.
    pub arcs: u64,
}

/// An export request.
pub struct GraphExportRequest<'a> {
    /// Which part of the graph.
    pub selection: Selection,
    /// Whether to export hosts instead of pages.
    pub hosts: bool,
    /// Title of the export.
    pub title: &'a str,
    /// Returns the title of a page, if it has one; never called for hosts.
    pub titles: &'a mut dyn FnMut(PageId) -> Option<String>,
}

impl GraphFormat {
    /// All formats.
    pub const ALL: [Self; 6] = [Self::Graphml, Self::Gexf, Self::Dot, Self::Edges, Self::Parquet, Self::Html];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Graphml => "graphml",
            Self::Gexf => "gexf",
            Self::Dot => "dot",
            Self::Edges => "edges",
            Self::Parquet => "parquet",
            Self::Html => "html",
        }
    }

    fn form<'a>(self, out: Box<dyn Write + 'a>, title: &str) -> io::Result<Box<dyn GraphSink + 'a>> {
        Ok(match self {
            Self::Graphml => Box::new(graphml::Graphml::begin(out)?),
            Self::Gexf => Box::new(gexf::Gexf::begin(out, title)?),
            Self::Dot => Box::new(dot::Dot::begin(out, title)?),
            Self::Edges => Box::new(edges::Edges { out }),
            Self::Html => Box::new(drawing::Drawing::new(out, title)),
            Self::Parquet => return Err(io::Error::new(io::ErrorKind::Unsupported, "Parquet needs files")),
        })
    }
}

/// Writes a graph to a stream. Parquet cannot be streamed, since it is two files.
pub fn to_stream(
    graph: &WebGraph,
    format: GraphFormat,
    wish: &mut GraphExportRequest<'_>,
    out: Box<dyn Write + '_>,
) -> Result<GraphExportSummary> {
    let fail = GraphError::io("write", Path::new("the output"));
    let form = format.form(out, wish.title).map_err(&fail)?;
    told(graph, wish, form, &fail)
}

/// A part of a graph, for drawing it: [`MOST_DRAWN`] pages or hosts at most.
pub fn drawn(graph: &WebGraph, wish: &mut GraphExportRequest<'_>) -> Result<DrawnGraph> {
    let mut kept = DrawnGraph::default();
    let form = Box::new(drawing::KeptDrawing::new(&mut kept));
    told(graph, wish, form, &GraphError::io("draw", Path::new("the graph")))?;
    Ok(kept)
}

/// Writes a graph to a file, which appears only when complete. An existing file is refused unless
/// `force` is set.
pub fn to_file(
    graph: &WebGraph,
    format: GraphFormat,
    wish: &mut GraphExportRequest<'_>,
    path: &Path,
    force: bool,
) -> Result<GraphExportSummary> {
    let fail = GraphError::io("write", path);
    let mut output = OutputFile::create(path, force)?;
    let written = if format == GraphFormat::Parquet {
        let mut nodes = OutputFile::create(&parquet::nodes_path(path), force)?;
        let form = Box::new(parquet::ParquetSink::begin(output.file()?, nodes.file()?).map_err(&fail)?);
        let written = told(graph, wish, form, &fail)?;
        nodes.settle()?;
        written
    } else {
        let form = format.form(Box::new(output.file()?), wish.title).map_err(&fail)?;
        told(graph, wish, form, &fail)?
    };
    output.settle()?;
    Ok(written)
}

/// Streams a selection to a form: the vertices, then the arcs between them.
fn told(
    graph: &WebGraph,
    wish: &mut GraphExportRequest<'_>,
    mut form: Box<dyn GraphSink + '_>,
    fail: &impl Fn(io::Error) -> GraphError,
) -> Result<GraphExportSummary> {
    let ranks = graph.ranks()?;
    let which = if wish.hosts { Which::Host } else { Which::Web };
    let nodes = chosen(graph, ranks.as_ref(), which, wish.selection)?;
    let all = 0..graph.nodes(which);
    let list = || nodes.as_deref().map_or_else(|| Members::All(all.clone()), |nodes| Members::Some(nodes.iter()));
    let mut written = GraphExportSummary::default();
    let mut names = NameCache::new(graph, which);
    for node in list() {
        let Some((number, name)) = names.of(node)? else { continue };
        let title = if wish.hosts { None } else { (wish.titles)(PageId(number)) };
        let merit = match &ranks {
            Some(ranks) => Some(ranks.merit(which, node)?),
            None => None,
        };
        let vertex = Vertex { number, name: &name, title: title.as_deref(), merit };
        form.vertex(&vertex).map_err(fail)?;
        written.nodes += 1;
    }
    let named = form.names_ends();
    for node in list() {
        let successors = graph.successors(which, node)?;
        let Some((number, from)) = names.end(node, named)? else { continue };
        for to in successors {
            if nodes.as_ref().is_some_and(|nodes| nodes.binary_search(&to).is_err()) {
                continue;
            }
            if let Some((target, to)) = names.end(to, named)? {
                form.arc(ArcEnd { number, name: &from }, ArcEnd { number: target, name: &to }).map_err(fail)?;
                written.arcs += 1;
            }
        }
    }
    form.finish().map_err(fail)?;
    Ok(written)
}

/// The nodes of a selection in order; `None` for all.
fn chosen(graph: &WebGraph, ranks: Option<&Ranks>, which: Which, selection: Selection) -> Result<Option<Vec<u32>>> {
    let mut nodes = match selection {
        Selection::Whole => return Ok(None),
        Selection::Top { by, count } => {
            let ranks = ranks.ok_or_else(|| GraphError::NotRanked { dir: graph.dir().to_owned() })?;
            ranks.best_nodes(which, by, count)?
        }
        Selection::Around { page, reach } => {
            let start = if which == Which::Host { graph.host_node_of(page)? } else { graph.node_of(page)? };
            let pair = if which == Which::Host { [Which::Host, Which::HostT] } else { [Which::Web, Which::WebT] };
            match start {
                Some(start) => graph.reached(pair, start, &reach, ranks)?.into_iter().map(|near| near.0).collect(),
                None => Vec::new(),
            }
        }
    };
    nodes.sort_unstable();
    Ok(Some(nodes))
}

/// The set of nodes to export.
enum Members<'a> {
    All(std::ops::Range<u32>),
    Some(std::slice::Iter<'a, u32>),
}

impl Iterator for Members<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::All(range) => range.next(),
            Self::Some(nodes) => nodes.next().copied(),
        }
    }
}
