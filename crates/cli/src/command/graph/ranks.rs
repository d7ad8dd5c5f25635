//! How are ranks requested, and how are they shown?

use crate::failure::CommandFailure;
use crate::meter::MeterState;
use crate::out;
use clap::Args;
use orb_answers::{RankAccount, RankAccounts};
use orb_crawl::structure::{Harmonic, PageRank, Ranking, rank};
use orb_project::ProjectDir;
use orb_project::units::ByteSize;

/// How pages and hosts are ranked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ranks")]
pub(super) struct RankArgs {
    /// Build the graph without rankings
    #[arg(long)]
    no_ranks: bool,
    /// PageRank: damping factor, the probability of following a link
    #[arg(long, value_name = "P", default_value_t = PageRank::default().damping, value_parser = share)]
    damping: f64,
    /// PageRank: L1 norm of the change at which iteration stops
    #[arg(long, value_name = "X", default_value_t = PageRank::default().tolerance, value_parser = positive)]
    tolerance: f64,
    /// Harmonic centrality: number of sources to sample in a graph too large for all of them
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Load the arcs into arrays if they take no more than this; otherwise iterate over the
    /// compressed files
    #[arg(long, value_name = "SIZE", default_value = "4GB")]
    memory: ByteSize,
}

fn share(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x| (0.0..1.0).contains(x)).ok_or_else(|| "it lies between 0 and 1, 1 excluded".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x| (1e-15..=1.0).contains(x)).ok_or_else(|| "it lies between 1e-15 and 1".to_owned())
}

impl RankArgs {
    /// Sufficient iterations: the remaining change shrinks by the damping factor in each.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    fn rounds(&self) -> u32 {
        let needed = (self.tolerance / 2.0).ln() / self.damping.max(0.01).ln();
        needed.clamp(f64::from(PageRank::default().rounds), 100_000.0).ceil() as u32
    }

    /// Ranks the graph of a project, unless that is not wanted.
    pub(super) fn rank(&self, project: &ProjectDir, said: &MeterState) -> Result<Option<RankAccounts>, CommandFailure> {
        if self.no_ranks {
            return Ok(None);
        }
        let pagerank = PageRank { damping: self.damping, tolerance: self.tolerance, rounds: self.rounds() };
        let samples = usize::try_from(self.samples).unwrap_or(usize::MAX);
        let ranking = Ranking { pagerank, harmonic: Harmonic { samples, ..Harmonic::default() }, ..Ranking::default() };
        let [pages, hosts] = rank(project, &ranking, self.memory.0, &mut |stage| said.tell(stage, 0, 0))?;
        Ok(Some(RankAccounts::from(&[&pages, &hosts])))
    }
}

/// The statistics of the pages as rows of a table.
pub(super) fn rows(account: &RankAccount) -> Vec<(String, String)> {
    let n = out::grouped;
    let mut rows = vec![
        ("PageRank, rounds".to_owned(), n(account.pagerank_rounds.into())),
        ("hubs and authorities, rounds".to_owned(), n(account.hits_rounds.into())),
        ("harmonic centrality, sources".to_owned(), sources(account)),
        ("strongly connected components".to_owned(), n(account.components)),
        ("largest component".to_owned(), n(account.largest_component)),
    ];
    rows.extend(account.bow_tie.iter().map(|(part, count)| (format!("bow-tie: {part}"), n(*count))));
    rows
}

fn sources(account: &RankAccount) -> String {
    let exact = account.harmonic_sources == account.nodes;
    format!("{}{}", out::grouped(account.harmonic_sources), if exact { " (exact)" } else { " (sampled)" })
}

/// The statistics of the pages in a line.
pub(super) fn line(account: &RankAccount) -> String {
    let n = out::grouped;
    format!(
        "PageRank in {} rounds, hubs and authorities in {}, harmonic centrality from {} sources; {} components, the largest of {} pages",
        account.pagerank_rounds,
        account.hits_rounds,
        sources(account),
        n(account.components),
        n(account.largest_component)
    )
}
