//! `orb graph stats`: the graph's size, and how old it is.

use super::ranks;
use crate::args::{Common, ProjectArgs};
use crate::command::open_reader;
use crate::failure::Failure;
use crate::out;
use anyhow::anyhow;
use orb_crawl::structure::{Standing, standing};
use orb_graph::{GraphError, GraphOptions, Manifest, Tally, WebGraph};
use orb_store::{Extent, ProjectDir};
use serde::Serialize;
use std::io::Write as _;

/// The graph in figures.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    project: String,
    nodes: u64,
    arcs: u64,
    bits_per_link: f64,
    transpose_bits_per_link: f64,
    /// Nodes without an arc that leaves them.
    dangling: u64,
    /// Nodes without an arc that reaches them.
    unlinked: u64,
    out_degree: Degree,
    in_degree: Degree,
    hosts: u64,
    host_arcs: u64,
    /// Pairs of pages joined only by links that are no arcs.
    other_links: u64,
    bytes: u64,
    pub(super) built_at: String,
    run: u32,
    batch: u64,
    /// `current`, `behind` or `foreign`.
    standing: &'static str,
    behind: Behind,
    options: GraphOptions,
}

/// How many arcs a node has.
#[derive(Debug, Serialize)]
struct Degree {
    mean: f64,
    max: u64,
}

/// What the catalogue has that the graph has not.
#[derive(Debug, Default, Serialize)]
struct Behind {
    batches: u64,
    pages: u64,
    runs: u32,
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e3).round() / 1e3 }
}

impl Figures {
    pub(super) fn of(project: &ProjectDir, m: &Manifest, now: &Extent) -> Self {
        let (name, behind) = match standing(&m.mark, now) {
            Standing::Current => ("current", Behind::default()),
            Standing::Behind { batches, pages, runs } => ("behind", Behind { batches, pages, runs }),
            Standing::Foreign => ("foreign", Behind::default()),
        };
        let degree = |tally: &Tally| Degree { mean: ratio(tally.arcs, m.nodes), max: tally.most };
        Self {
            project: project.name.clone(),
            nodes: m.nodes,
            arcs: m.web.arcs,
            bits_per_link: ratio(m.web.bits, m.web.arcs),
            transpose_bits_per_link: ratio(m.web_t.bits, m.web_t.arcs),
            dangling: m.nodes - m.web.sources.min(m.nodes),
            unlinked: m.nodes - m.web_t.sources.min(m.nodes),
            out_degree: degree(&m.web),
            in_degree: degree(&m.web_t),
            hosts: m.hosts,
            host_arcs: m.host.arcs,
            other_links: m.rest_t.arcs,
            bytes: m.files.values().map(|file| file.length).sum(),
            built_at: m.built_at.to_string(),
            run: m.mark.run.0,
            batch: m.mark.batch,
            standing: name,
            behind,
            options: m.options.clone(),
        }
    }

    /// The size in a line.
    pub(super) fn line(&self) -> String {
        let n = out::grouped;
        format!(
            "{} pages, {} arcs ({:.2} bits a link), {} hosts, {} arcs between them",
            n(self.nodes),
            n(self.arcs),
            self.bits_per_link,
            n(self.hosts),
            n(self.host_arcs)
        )
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let n = out::grouped;
        let kinds: Vec<&str> = self.options.kinds.iter().map(|kind| kind.name()).collect();
        let choice = |keep: bool| if keep { "keep" } else { "drop" };
        let age = match self.standing {
            "current" => "nothing was recorded since".to_owned(),
            "behind" => {
                let b = &self.behind;
                format!("behind by {} batches, {} pages, {} runs: orb graph build", n(b.batches), n(b.pages), b.runs)
            }
            _ => "built from another catalogue: orb graph build".to_owned(),
        };
        let rows = [
            ("pages", n(self.nodes)),
            ("arcs", n(self.arcs)),
            ("bits per link", format!("{:.3}", self.bits_per_link)),
            ("bits per link, transposed", format!("{:.3}", self.transpose_bits_per_link)),
            ("out-degree, mean", format!("{:.2}", self.out_degree.mean)),
            ("out-degree, highest", n(self.out_degree.max)),
            ("in-degree, highest", n(self.in_degree.max)),
            ("dangling pages", n(self.dangling)),
            ("pages nobody points to", n(self.unlinked)),
            ("hosts", n(self.hosts)),
            ("arcs between hosts", n(self.host_arcs)),
            ("other links", n(self.other_links)),
            ("bytes", n(self.bytes)),
            ("kinds", kinds.join(",")),
            ("nofollow", choice(self.options.nofollow).to_owned()),
            ("self-loops", choice(self.options.self_loops).to_owned()),
            ("built at", self.built_at.clone()),
            ("from run", self.run.to_string()),
            ("age", age),
        ];
        rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect()
    }
}

pub(super) fn run(common: &Common, args: &ProjectArgs) -> Result<(), Failure> {
    let (project, reader) = open_reader(common, &args.project)?;
    let graph = match WebGraph::open(&project.graph()) {
        Err(GraphError::Missing { .. }) => {
            return Err(anyhow!("project {0} has no graph yet; orb graph build {0} makes one", project.name).into());
        }
        other => other?,
    };
    let figures = Figures::of(&project, graph.manifest(), &reader.extent()?);
    let accounts = ranks::accounts(&graph);
    let mut stdout = out::stdout();
    if common.json {
        let mut value = serde_json::to_value(&figures)?;
        value["ranks"] = ranks::told(accounts.as_ref());
        out::json(&mut stdout, &value)?;
    } else {
        let mut rows = figures.rows();
        rows.extend(accounts.iter().flat_map(|[pages, _]| ranks::rows(pages)).map(|(name, value)| vec![name, value]));
        out::table(&mut stdout, &["measured", "graph"], &rows)?;
    }
    Ok(stdout.flush()?)
}
