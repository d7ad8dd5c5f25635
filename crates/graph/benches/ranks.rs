//! How fast are pages ranked?
//!
//! Builds and ranks a graph with web-like locality through the public API and times each stage. The
//! figure that counts is how many arcs per second a PageRank iteration gathers on one core. `--arcs
//! N` (millions) sets the size.
#![expect(clippy::print_stdout, reason = "a bench tells its figures")]

use orb_graph::{
    CatalogueMark, GraphError, GraphOptions, Naming, PageRank, Ranking, RankingStats, SeenLink, WebGraph, unwatched,
};
use orb_page::{HostId, LinkKind, PageId};
use std::path::Path;
use std::time::Instant;

/// Pages per host, and average out-degree.
const HOST: u64 = 200;
const DEGREE: u64 = 12;

struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * u128::from(n)) >> 64) as u64
    }
}

/// The target of a link: mostly a nearby page of the same host, sometimes a hub, sometimes any
/// page.
fn target(page: u64, pages: u64, draw: &mut Draw) -> u64 {
    match draw.below(20) {
        0 => draw.below(pages),
        1 | 2 => {
            let near = draw.below(1 << 16);
            ((u128::from(pages) * u128::from(near * near * near)) >> 48) as u64
        }
        _ => {
            let host = page / HOST * HOST;
            (host + (page + draw.below(16) * draw.below(16)) % HOST).min(pages - 1)
        }
    }
}

fn build(dir: &Path, arcs: u64) -> Result<(), GraphError> {
    let pages = (arcs / DEGREE).max(HOST);
    let mut naming = Naming::begin(dir, GraphOptions::default(), CatalogueMark::default(), unwatched())?;
    for host in 0..=pages / HOST {
        naming.host(HostId(host as u32 + 1), &format!("http://h{host:06}.test"))?;
    }
    for page in 0..pages {
        let (host, within) = (page / HOST, page % HOST);
        naming.page(PageId(page + 1), HostId(host as u32 + 1), &format!("http://h{host:06}.test/{within:03}"))?;
    }
    let mut linking = naming.number()?;
    let mut draw = Draw(0x1234_5678_9abc_def1);
    for page in 0..pages {
        // A tenth of the pages are dangling; duplicates reduce the number of arcs.
        let degree = if page % 10 == 9 { 0 } else { draw.below(DEGREE * 29 / 10) };
        for _ in 0..degree {
            let (src, dst) = (PageId(page + 1), PageId(target(page, pages, &mut draw) + 1));
            linking.link(&SeenLink { src, dst, kind: LinkKind::A, nofollow: false, gone: false })?;
        }
    }
    linking.finish().map(|_| ())
}

/// A stage and its duration in seconds.
type Stage = (&'static str, f64);

/// Ranks the graph and returns the account of the pages and every stage.
fn rank(graph: &WebGraph, ranking: &Ranking) -> Result<(RankingStats, Vec<Stage>), GraphError> {
    let mut stages: Vec<Stage> = Vec::new();
    let mut since = Instant::now();
    let mut told = |stage| {
        if let Some(last) = stages.last_mut() {
            last.1 = since.elapsed().as_secs_f64();
        }
        since = Instant::now();
        stages.push((stage, 0.0));
    };
    let [pages, _] = graph.rank(ranking, u64::MAX, &mut told)?;
    Ok((pages, stages))
}

fn main() -> Result<(), GraphError> {
    let args: Vec<String> = std::env::args().collect();
    let wanted = args.iter().position(|arg| arg == "--arcs").and_then(|at| args.get(at + 1)?.parse::<u64>().ok());
    let home = std::env::temp_dir().join(format!("orb-bench-{}-ranks", std::process::id()));
    let measured =
        std::fs::create_dir_all(&home).map_err(|source| GraphError::Io { what: "make", path: home.clone(), source });
    let measured = measured.and_then(|()| measure(&home.join("graph"), wanted.unwrap_or(50) * 1_000_000));
    let _ = std::fs::remove_dir_all(&home);
    measured
}

fn measure(dir: &Path, arcs: u64) -> Result<(), GraphError> {
    let begin = Instant::now();
    build(dir, arcs)?;
    let graph = WebGraph::open(dir)?;
    println!("built in {:.1} s", begin.elapsed().as_secs_f64());
    let ranking = Ranking { pagerank: PageRank { tolerance: 1e-6, ..PageRank::default() }, ..Ranking::default() };
    let (pages, stages) = rank(&graph, &ranking)?;
    println!("{} pages, {} arcs", pages.nodes, pages.arcs);
    // The host graph comes after the page graph.
    for (stage, seconds) in stages.iter().take(5) {
        println!("{stage}: {seconds:.2} s");
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let seconds = stages.iter().find(|(stage, _)| *stage == "pagerank").map_or(f64::NAN, |(_, seconds)| *seconds);
    let speed = pages.arcs as f64 * f64::from(pages.pagerank_rounds) / seconds / cores / 1e6;
    println!(
        "PageRank to 1e-6: {} rounds, {speed:.1} million arcs a second and core in a round",
        pages.pagerank_rounds
    );
    println!("hubs and authorities: {} rounds", pages.hits_rounds);
    println!("speed {speed:.3}");
    Ok(())
}
