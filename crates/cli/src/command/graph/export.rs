//! `orb graph export`: how is the graph, or part of it, exported for other tools or as a drawing?

use super::neighbours::AroundArgs;
use super::open_graph;
use crate::args::{Common, ProjectArgs};
use crate::command::open;
use crate::command::top::Measure;
use crate::failure::CommandFailure;
use crate::meter::Meter;
use crate::out;
use clap::{Args, ValueEnum};
use orb_answers::{AnswerError, Collection, GraphError, WebGraph};
use orb_export::graph::{self as export, GraphExportRequest, GraphExportSummary, Selection};
use orb_page::PageId;
use serde::Serialize;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Default number of pages in a drawing: the most linked, or around a page.
const DRAWN: (usize, usize) = (100, 500);

/// `orb graph export`.
#[derive(Debug, Args)]
pub(crate) struct GraphExportArgs {
    #[command(flatten)]
    of: ProjectArgs,
    /// Output format
    #[arg(value_enum)]
    format: GraphFormatArg,
    /// The file to write; '-' is standard output. Parquet writes a second file beside it, webgraph
    /// several with this prefix
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Only the best N [default: all; 100 for html]
    #[arg(long, value_name = "N", conflicts_with = "around", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Ranking to select the best by
    #[arg(long, value_enum, default_value_t = Measure::Backlinks, value_name = "MEASURE", conflicts_with = "around")]
    by: Measure,
    /// Only the neighbourhood of this page
    #[arg(long, value_name = "URL")]
    around: Option<String>,
    #[command(flatten)]
    reach: AroundArgs,
    /// Maximum number of pages around it, best first [default: all; 500 for html]
    #[arg(long, value_name = "N", requires = "around", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Hosts instead of pages
    #[arg(long)]
    hosts: bool,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

/// Graph formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormatArg {
    /// GraphML
    Graphml,
    /// GEXF 1.2 (Gephi)
    Gexf,
    /// Graphviz
    Dot,
    /// Two URLs per line
    Edges,
    /// Arcs, and nodes with their ranks
    Parquet,
    /// WebGraph's compressed files
    Webgraph,
    /// An interactive drawing in one file
    Html,
}

/// What was written.
#[derive(Debug, Serialize)]
struct ExportedGraph {
    file: String,
    nodes: u64,
    arcs: u64,
}

impl GraphFormatArg {
    fn of_graph(self) -> Option<export::GraphFormat> {
        Some(match self {
            Self::Graphml => export::GraphFormat::Graphml,
            Self::Gexf => export::GraphFormat::Gexf,
            Self::Dot => export::GraphFormat::Dot,
            Self::Edges => export::GraphFormat::Edges,
            Self::Parquet => export::GraphFormat::Parquet,
            Self::Html => export::GraphFormat::Html,
            Self::Webgraph => return None,
        })
    }
}

pub(super) fn run(common: &Common, args: &GraphExportArgs) -> Result<(), CommandFailure> {
    let collection = open(common, &args.of)?;
    let graph = open_graph(common, &collection)?;
    let selection = args.selection(&collection)?;
    let meter = Meter::start(common, &format!("graph {}", collection.name()));
    meter.said().tell("writing", 0, 0);
    let written = match args.format.of_graph() {
        Some(format) => args.write(&collection, (graph, format), selection),
        None if selection != Selection::Whole => Err(CommandFailure::Usage(
            "the format webgraph is the whole graph; leave --top and --around out".to_owned(),
        )),
        None if args.output == Path::new("-") => {
            Err(CommandFailure::Usage("the format webgraph is several files; name them with -o BASE".to_owned()))
        }
        None => Ok(export::copy_lists(graph, args.hosts, &args.output, args.force)?),
    };
    drop(meter);
    let written = written?;
    if args.output == Path::new("-") {
        return Ok(());
    }
    let mut stdout = out::stdout();
    let file = args.output.display();
    if common.json {
        out::json(&mut stdout, &ExportedGraph { file: file.to_string(), nodes: written.nodes, arcs: written.arcs })?;
    } else {
        let what = if args.hosts { "hosts" } else { "pages" };
        writeln!(stdout, "{file}: {} {what}, {} arcs", out::grouped(written.nodes), out::grouped(written.arcs))?;
    }
    Ok(stdout.flush()?)
}

impl GraphExportArgs {
    fn selection(&self, collection: &Collection) -> Result<Selection, CommandFailure> {
        let drawn = self.format == GraphFormatArg::Html;
        let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        if let Some(url) = &self.around {
            let page = PageId(collection.page(url)?.id);
            let limit = self.limit.map_or(if drawn { DRAWN.1 } else { usize::MAX }, size);
            return Ok(Selection::Around { page, reach: self.reach.reach(limit) });
        }
        Ok(match self.top.map(size).or(drawn.then_some(DRAWN.0)) {
            Some(count) => Selection::Top { by: self.by.by(), count },
            None => Selection::Whole,
        })
    }

    fn title(&self, project: &str, selection: &Selection) -> String {
        let what = if self.hosts { "hosts" } else { "pages" };
        match (selection, &self.around) {
            (Selection::Around { .. }, Some(url)) => format!("{project}: {what} around {url}"),
            (Selection::Top { .. }, _) if self.by == Measure::Backlinks => format!("{project}: the most linked {what}"),
            (Selection::Top { by, .. }, _) => format!("{project}: the best {what} by {}", by.name()),
            _ => format!("{project}: all {what}"),
        }
    }

    fn write(
        &self,
        collection: &Collection,
        (graph, format): (&WebGraph, export::GraphFormat),
        selection: Selection,
    ) -> Result<GraphExportSummary, CommandFailure> {
        let mut failed: Option<AnswerError> = None;
        let mut titles = |page| {
            let title = collection.title(page);
            title.unwrap_or_else(|e| {
                failed.get_or_insert(e);
                None
            })
        };
        let title = self.title(collection.name(), &selection);
        let mut wish = GraphExportRequest { selection, hosts: self.hosts, title: &title, titles: &mut titles };
        let written = if self.output != Path::new("-") {
            export::to_file(graph, format, &mut wish, &self.output, self.force)
        } else if format == export::GraphFormat::Parquet {
            return Err(CommandFailure::Usage("the format parquet is two files; name them with -o FILE".to_owned()));
        } else {
            export::to_stream(graph, format, &mut wish, Box::new(out::content()))
        };
        match (failed, written) {
            (Some(e), _) => Err(e.into()),
            (None, Err(GraphError::Io { source, .. })) if source.kind() == ErrorKind::BrokenPipe => {
                Err(CommandFailure::OutputClosed)
            }
            (None, written) => Ok(written?),
        }
    }
}
