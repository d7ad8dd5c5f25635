//! How are scores stored so that one score is a short read and a column a sequential one?
//!
//! One file per graph: `orbrank1`, the length of the header, the header (JSON: the parameters, the
//! outcome, and the columns with their offsets and checksums), then the columns, each with one
//! little-endian entry per node. The file is written under a temporary name and renamed, so there
//! is a complete one or none. The header names the build of the graph it belongs to.

use super::{BowTie, Ranking, RankingStats, Scores};
use crate::error::{GraphError, Result};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"orbrank1";

/// Maximum length of a header; anything longer is damage.
const LONGEST_HEAD: u64 = 1 << 20;

/// Entries per read of a column.
const AT_ONCE: usize = 1 << 16;

/// What nodes can be ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The stationary distribution of a random surfer.
    Pagerank,
    /// In-degree.
    Backlinks,
    /// Hub score: how much it links to authorities.
    Hub,
    /// Authority score: how much hubs link to it.
    Authority,
    /// Harmonic centrality.
    Harmonic,
    /// Out-degree.
    Outdegree,
}

/// All scores of one page or host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Merit {
    /// The probability that a random surfer is there.
    pub pagerank: f64,
    /// Its share of all hub scores.
    pub hub: f64,
    /// Its share of all authority scores.
    pub authority: f64,
    /// The sum of 1/d over all nodes at distance d from which it can be reached.
    pub harmonic: f64,
    /// In-degree.
    pub indegree: u32,
    /// Out-degree.
    pub outdegree: u32,
    /// Its strongly connected component; 0 is the largest.
    pub component: u32,
    /// Its place in the bow-tie.
    pub bowtie: BowTie,
}

/// A column: its name, bytes per entry, offset and checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RankColumn {
    name: String,
    width: u64,
    start: u64,
    xxh3: String,
}

/// The header of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RankHeader {
    build: u64,
    ranking: Ranking,
    account: RankingStats,
    columns: Vec<RankColumn>,
}

/// The columns in order, with their bytes per entry.
const COLUMNS: [(&str, u64); 8] = [
    ("pagerank", 8),
    ("hub", 8),
    ("authority", 8),
    ("harmonic", 8),
    ("indegree", 4),
    ("outdegree", 4),
    ("component", 4),
    ("bowtie", 1),
];

impl By {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Pagerank, Self::Backlinks, Self::Hub, Self::Authority, Self::Harmonic, Self::Outdegree];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pagerank => "pagerank",
            Self::Backlinks => "backlinks",
            Self::Hub => "hub",
            Self::Authority => "authority",
            Self::Harmonic => "harmonic",
            Self::Outdegree => "outdegree",
        }
    }

    /// The column that holds it.
    fn column(self) -> usize {
        match self {
            Self::Pagerank => 0,
            Self::Hub => 1,
            Self::Authority => 2,
            Self::Harmonic => 3,
            Self::Backlinks => 4,
            Self::Outdegree => 5,
        }
    }
}

impl Scores {
    /// Emits the bytes of a column, chunk by chunk.
    fn column(&self, place: usize, put: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        match place {
            0 => self.pagerank.iter().try_for_each(|x| put(&x.to_le_bytes())),
            1 => self.hub.iter().try_for_each(|x| put(&x.to_le_bytes())),
            2 => self.authority.iter().try_for_each(|x| put(&x.to_le_bytes())),
            3 => self.harmonic.iter().try_for_each(|x| put(&x.to_le_bytes())),
            4 => self.in_degree.iter().try_for_each(|x| put(&x.to_le_bytes())),
            5 => self.out_degree.iter().try_for_each(|x| put(&x.to_le_bytes())),
            6 => self.component.iter().try_for_each(|x| put(&x.to_le_bytes())),
            _ => self.bow_tie.iter().try_for_each(|x| put(&[x.code()])),
        }
    }
}

/// Writes the scores of a graph; `build` identifies the graph they belong to.
pub(crate) fn write(path: &Path, build: u64, ranking: &Ranking, scores: &Scores) -> Result<()> {
    let fail = GraphError::io("write", path);
    let columns = described(scores).map_err(&fail)?;
    let head = RankHeader { build, ranking: *ranking, account: scores.account.clone(), columns };
    let head = serde_json::to_vec(&head).map_err(|e| fail(e.into()))?;
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let written = File::create(&unfinished).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 18, file);
        out.write_all(MAGIC)?;
        out.write_all(&(head.len() as u64).to_le_bytes())?;
        out.write_all(&head)?;
        for place in 0..COLUMNS.len() {
            scores.column(place, &mut |bytes| out.write_all(bytes))?;
        }
        out.into_inner()?.sync_data()
    });
    written.and_then(|()| fs::rename(&unfinished, path)).map_err(fail)
}

/// Computes the offsets and checksums of the columns.
fn described(scores: &Scores) -> std::io::Result<Vec<RankColumn>> {
    let (mut start, nodes) = (0, scores.pagerank.len() as u64);
    let mut columns = Vec::with_capacity(COLUMNS.len());
    for (place, (name, width)) in COLUMNS.iter().enumerate() {
        let mut sum = Xxh3::new();
        scores.column(place, &mut |bytes| {
            sum.update(bytes);
            Ok(())
        })?;
        let xxh3 = format!("{:016x}", sum.digest());
        columns.push(RankColumn { name: (*name).to_owned(), width: *width, start, xxh3 });
        start += width * nodes;
    }
    Ok(columns)
}

/// The scores of a graph on disk.
pub(crate) struct RankFile {
    file: File,
    path: PathBuf,
    head: RankHeader,
    /// Offset of the first column.
    body: u64,
}

impl RankFile {
    /// Opens the file; `None` if there is none.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        let fail = GraphError::io("read", path);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(fail(e)),
        };
        let length = file.metadata().map_err(&fail)?.len();
        let strange = || GraphError::damaged(path, "it is not a file of ranks");
        let mut start = [0; 16];
        file.read_exact_at(&mut start, 0).map_err(|_| strange())?;
        let size = start[8..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        if &start[..8] != MAGIC || size > LONGEST_HEAD.min(length) {
            return Err(strange());
        }
        let mut head = vec![0; usize::try_from(size).map_err(|_| strange())?];
        file.read_exact_at(&mut head, 16).map_err(|_| strange())?;
        let head: RankHeader = serde_json::from_slice(&head).map_err(|_| strange())?;
        let ranks = Self { file, path: path.to_owned(), head, body: 16 + size };
        if !ranks.is_whole(length) {
            return Err(GraphError::damaged(path, "it is shorter or longer than its head says"));
        }
        Ok(Some(ranks))
    }

    /// Whether the columns are the expected ones and end where the file does.
    fn is_whole(&self, length: u64) -> bool {
        let nodes = self.head.account.nodes;
        let mut start = Some(0_u64);
        let known = self.head.columns.len() == COLUMNS.len()
            && self.head.columns.iter().zip(COLUMNS).all(|(column, (name, width))| {
                let here = start;
                start = nodes.checked_mul(width).and_then(|bytes| here?.checked_add(bytes));
                column.name == name && column.width == width && Some(column.start) == here
            });
        known && start.and_then(|end| end.checked_add(self.body)) == Some(length)
    }

    /// The build of the graph it belongs to.
    pub(crate) fn build(&self) -> u64 {
        self.head.build
    }

    /// The parameters of the ranking.
    pub(crate) fn ranking(&self) -> &Ranking {
        &self.head.ranking
    }

    /// The outcome of the ranking.
    pub(crate) fn account(&self) -> &RankingStats {
        &self.head.account
    }

    fn damaged(&self) -> GraphError {
        GraphError::damaged(&self.path, "it cannot be read to its end")
    }

    fn entry<const N: usize>(&self, column: usize, node: u32) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let at = self.body + self.head.columns[column].start + u64::from(node) * N as u64;
        self.file.read_exact_at(&mut bytes, at).map_err(|_| self.damaged())?;
        Ok(bytes)
    }

    /// The scores of a node, which must exist.
    pub(crate) fn merit(&self, node: u32) -> Result<Merit> {
        let real = |column| self.entry(column, node).map(f64::from_le_bytes);
        let whole = |column| self.entry(column, node).map(u32::from_le_bytes);
        let [bow_tie] = self.entry(7, node)?;
        Ok(Merit {
            pagerank: real(0)?,
            hub: real(1)?,
            authority: real(2)?,
            harmonic: real(3)?,
            indegree: whole(4)?,
            outdegree: whole(5)?,
            component: whole(6)?,
            bowtie: BowTie::ALL.get(usize::from(bow_tie)).copied().ok_or_else(|| self.damaged())?,
        })
    }

    /// The scores of all nodes, in order.
    pub(crate) fn merits(&self) -> Result<Vec<Merit>> {
        let nodes = usize::try_from(self.head.account.nodes).map_err(|_| self.damaged())?;
        let nobody = Merit {
            pagerank: 0.0,
            hub: 0.0,
            authority: 0.0,
            harmonic: 0.0,
            indegree: 0,
            outdegree: 0,
            component: 0,
            bowtie: BowTie::Disconnected,
        };
        let mut all = vec![nobody; nodes];
        self.reals(0, |node, x| all[node].pagerank = x)?;
        self.reals(1, |node, x| all[node].hub = x)?;
        self.reals(2, |node, x| all[node].authority = x)?;
        self.reals(3, |node, x| all[node].harmonic = x)?;
        self.wholes(4, |node, n| all[node].indegree = n)?;
        self.wholes(5, |node, n| all[node].outdegree = n)?;
        self.wholes(6, |node, n| all[node].component = n)?;
        let mut node = 0;
        self.bytes(7, |piece| {
            for code in piece {
                all[node].bowtie = BowTie::ALL.get(usize::from(*code)).copied().unwrap_or(BowTie::Disconnected);
                node += 1;
            }
        })?;
        Ok(all)
    }

    fn reals(&self, column: usize, mut each: impl FnMut(usize, f64)) -> Result<()> {
        let mut node = 0;
        self.bytes(column, |piece| {
            for entry in piece.as_chunks().0 {
                each(node, f64::from_le_bytes(*entry));
                node += 1;
            }
        })
    }

    fn wholes(&self, column: usize, mut each: impl FnMut(usize, u32)) -> Result<()> {
        let mut node = 0;
        self.bytes(column, |piece| {
            for entry in piece.as_chunks().0 {
                each(node, u32::from_le_bytes(*entry));
                node += 1;
            }
        })
    }

    /// One score of a node.
    pub(crate) fn score(&self, by: By, node: u32) -> Result<f64> {
        let column = by.column();
        if COLUMNS[column].1 == 8 {
            self.entry(column, node).map(f64::from_le_bytes)
        } else {
            self.entry(column, node).map(|bytes| f64::from(u32::from_le_bytes(bytes)))
        }
    }

    /// Calls `each` with every node's score.
    pub(crate) fn scores(&self, by: By, mut each: impl FnMut(u32, f64)) -> Result<()> {
        let column = by.column();
        let node = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
        if COLUMNS[column].1 == 8 {
            self.reals(column, |at, x| each(node(at), x))
        } else {
            self.wholes(column, |at, n| each(node(at), f64::from(n)))
        }
    }

    /// Calls `each` with the bytes of a column, whole entries at a time, and verifies the checksum.
    fn bytes(&self, column: usize, mut each: impl FnMut(&[u8])) -> Result<()> {
        let RankColumn { name, start, width, xxh3 } = &self.head.columns[column];
        let (mut at, end) = (self.body + start, self.body + start + width * self.head.account.nodes);
        let mut room = vec![0; AT_ONCE * usize::try_from(*width).unwrap_or(1)];
        let mut sum = Xxh3::new();
        while at < end {
            let size = usize::try_from(end - at).unwrap_or(usize::MAX).min(room.len());
            let piece = &mut room[..size];
            self.file.read_exact_at(piece, at).map_err(|_| self.damaged())?;
            sum.update(piece);
            each(piece);
            at += size as u64;
        }
        if format!("{:016x}", sum.digest()) != *xxh3 {
            return Err(GraphError::damaged(&self.path, format!("the column {name} has changed")));
        }
        Ok(())
    }

    /// The top nodes with their scores, best first, skipping the first `offset`; ties are in URL
    /// order.
    pub(crate) fn best(&self, by: By, limit: usize, offset: usize) -> Result<Vec<(u32, f64)>> {
        let wanted = limit.saturating_add(offset);
        let mut best: BinaryHeap<Reverse<RankedNode>> = BinaryHeap::new();
        self.scores(by, |node, score| {
            let place = RankedNode { score, node };
            if best.len() < wanted {
                best.push(Reverse(place));
            } else if best.peek().is_some_and(|Reverse(worst)| *worst < place) {
                best.pop();
                best.push(Reverse(place));
            }
        })?;
        let best = best.into_sorted_vec();
        Ok(best.into_iter().skip(offset).map(|Reverse(place)| (place.node, place.score)).collect())
    }

    /// Verifies the checksum of every column.
    pub(crate) fn check(&self) -> Result<()> {
        (0..COLUMNS.len()).try_for_each(|column| self.bytes(column, |_| ()))
    }
}

/// A node ordered by its score: greater is better.
#[derive(PartialEq)]
struct RankedNode {
    score: f64,
    node: u32,
}

impl Eq for RankedNode {}

impl PartialOrd for RankedNode {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RankedNode {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then(other.node.cmp(&self.node))
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::CsrGraph;
    use super::*;

    fn ranked(dir: &Path) -> (PathBuf, Scores) {
        let forward = CsrGraph::from_arcs(5, &[(0, 1), (1, 2), (2, 0), (3, 0), (4, 0), (0, 4)]);
        let scores = Ranking::default().of(&forward, &forward.transposed(), &mut |_| ());
        let path = dir.join("ranks");
        write(&path, 7, &Ranking::default(), &scores).unwrap();
        (path, scores)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let tmp = tempfile::tempdir().unwrap();
        let (path, scores) = ranked(tmp.path());
        let file = RankFile::open(&path).unwrap().unwrap();
        file.check().unwrap();
        assert_eq!((file.build(), file.ranking()), (7, &Ranking::default()));
        assert_eq!((file.account().arcs, file.account().bow_tie), (6, scores.account.bow_tie));
        assert_eq!(file.merits().unwrap()[3], file.merit(3).unwrap());
        for node in 0..5 {
            let merit = file.merit(node).unwrap();
            let at = node as usize;
            assert_eq!((merit.pagerank, merit.hub), (scores.pagerank[at], scores.hub[at]));
            assert_eq!((merit.harmonic, merit.bowtie), (scores.harmonic[at], scores.bow_tie[at]));
            assert_eq!((merit.indegree, merit.component), (scores.in_degree[at], scores.component[at]));
            assert_eq!(file.score(By::Authority, node).unwrap(), scores.authority[at]);
        }
        assert_eq!(file.best(By::Backlinks, 2, 0).unwrap(), [(0, 3.0), (1, 1.0)]);
        assert_eq!(file.best(By::Backlinks, 9, 3).unwrap(), [(4, 1.0), (3, 0.0)]);
        assert_eq!(file.best(By::Pagerank, 0, 0).unwrap(), []);
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);
        assert!(RankFile::open(&tmp.path().join("none")).unwrap().is_none());
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let tmp = tempfile::tempdir().unwrap();
        let (path, _) = ranked(tmp.path());
        let whole = fs::read(&path).unwrap();
        // A new file each time: overwriting an existing one takes some file systems ten
        // milliseconds.
        let put = |bytes: &[u8]| fs::remove_file(&path).and_then(|()| fs::write(&path, bytes)).unwrap();
        for length in 0..whole.len() {
            put(&whole[..length]);
            assert!(RankFile::open(&path).is_err(), "{length} bytes");
        }
        let mut noticed = 0;
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x11;
            put(&bytes);
            let Ok(Some(file)) = RankFile::open(&path) else {
                noticed += 1;
                continue;
            };
            noticed += usize::from(file.check().is_err());
            let _ = file.merit(4);
            let _ = file.best(By::Hub, 3, 0);
        }
        // The remaining bytes are figures in the header that nothing depends on.
        assert!(noticed > whole.len() / 2, "{noticed} of {}", whole.len());
    }
}
