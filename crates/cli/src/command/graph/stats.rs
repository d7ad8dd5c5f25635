//! `orb graph stats`: how large is the graph, and how old?

use super::ranks;
use crate::args::{Common, ProjectArgs};
use crate::command::open;
use crate::failure::CommandFailure;
use crate::out;
use orb_answers::{GraphAge, GraphFigures};
use std::io::Write as _;

pub(super) fn run(common: &Common, args: &ProjectArgs) -> Result<(), CommandFailure> {
    let stats = orb_answers::graph_stats(&open(common, args)?)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &stats)?;
    } else {
        let mut rows = rows(&stats.figures);
        let ranks = stats.ranks.iter().flat_map(|ranks| ranks::rows(&ranks.pages));
        rows.extend(ranks.map(|(name, value)| vec![name, value]));
        out::table(&mut stdout, &["measured", "graph"], &rows)?;
    }
    Ok(stdout.flush()?)
}

/// The size in a line.
pub(super) fn line(figures: &GraphFigures) -> String {
    let n = out::grouped;
    format!(
        "{} pages, {} arcs ({:.2} bits a link), {} hosts, {} arcs between them",
        n(figures.nodes),
        n(figures.arcs),
        figures.bits_per_link,
        n(figures.hosts),
        n(figures.host_arcs)
    )
}

fn rows(figures: &GraphFigures) -> Vec<Vec<String>> {
    let n = out::grouped;
    let kinds: Vec<&str> = figures.options.kinds.iter().map(|kind| kind.name()).collect();
    let choice = |keep: bool| if keep { "keep" } else { "drop" };
    let age = match figures.standing {
        GraphAge::Current => "nothing was recorded since".to_owned(),
        GraphAge::Behind => {
            let b = &figures.behind;
            format!("behind by {} batches, {} pages, {} runs: orb graph build", n(b.batches), n(b.pages), b.runs)
        }
        GraphAge::Foreign => "built from another catalogue: orb graph build".to_owned(),
    };
    let rows = [
        ("pages", n(figures.nodes)),
        ("arcs", n(figures.arcs)),
        ("bits per link", format!("{:.3}", figures.bits_per_link)),
        ("bits per link, transposed", format!("{:.3}", figures.transpose_bits_per_link)),
        ("out-degree, mean", format!("{:.2}", figures.out_degree.mean)),
        ("out-degree, highest", n(figures.out_degree.max)),
        ("in-degree, highest", n(figures.in_degree.max)),
        ("dangling pages", n(figures.dangling)),
        ("pages nobody points to", n(figures.unlinked)),
        ("hosts", n(figures.hosts)),
        ("arcs between hosts", n(figures.host_arcs)),
        ("other links", n(figures.other_links)),
        ("bytes", n(figures.bytes)),
        ("kinds", kinds.join(",")),
        ("nofollow", choice(figures.options.nofollow).to_owned()),
        ("self-loops", choice(figures.options.self_loops).to_owned()),
        ("built at", figures.built_at.clone()),
        ("from run", figures.run.to_string()),
        ("age", age),
    ];
    rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect()
}
