//! How is a graph built?
//!
//! In three phases: pages are added ([`Naming`]), then their links ([`Linking`]), then everything
//! is compressed, checksummed and moved into place. The caller owns the catalogue; this crate knows
//! none. Links that the options exclude are not lost: they form a separate graph of which only the
//! transpose is kept (`rest-t`), so that backlink queries are complete.

use crate::arcs::{self, ArcSorter, Orders};
use crate::compress::{CompressionStats, compress};
use crate::error::{GraphError, Result};
use crate::manifest::{CatalogueMark, Manifest, seal};
use crate::nodes::{self, NONE, NameSorter};
use crate::options::{GraphOptions, SeenLink};
use crate::place::{BuildDirectory, sync};
use crate::progress::{BuildProgress, BuildStep};
use crate::read::Which;
use orb_page::{HostId, Moment, PageId};
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

/// Arcs between hosts per in-memory sort. Most are duplicates.
const HOST_BUFFER: usize = 1 << 20;

/// Links between two progress reports.
const BEAT: u64 = 1 << 17;

/// The first phase: adding pages and hosts.
pub struct Naming {
    options: GraphOptions,
    watch: BuildProgress,
    expected: CatalogueMark,
    pages: NameSorter,
    hosts: NameSorter,
    /// Host of each page, indexed by page number.
    host_of: Vec<u32>,
    place: BuildDirectory,
}

impl Naming {
    /// Starts building a graph in `dir` from the catalogue's state `mark`.
    pub fn begin(dir: &Path, options: GraphOptions, mark: CatalogueMark, watch: BuildProgress) -> Result<Self> {
        let place = BuildDirectory::take(dir)?;
        let pages = NameSorter::new(place.new_dir(), "pages-run", nodes::BUFFER);
        let hosts = NameSorter::new(place.new_dir(), "hosts-run", nodes::BUFFER);
        Ok(Self { place, options, watch, expected: mark, pages, hosts, host_of: Vec::new() })
    }

    /// Adds a host: its number and the common prefix of its pages' URLs.
    pub fn host(&mut self, host: HostId, origin: &str) -> Result<()> {
        self.hosts.push(u64::from(host.0), origin)
    }

    /// Adds a page.
    pub fn page(&mut self, page: PageId, host: HostId, url: &str) -> Result<()> {
        self.pages.push(page.0, url)?;
        let place = usize::try_from(page.0).map_err(|_| GraphError::TooLarge)?;
        if self.host_of.len() <= place {
            self.host_of.resize(place + 1, NONE);
        }
        self.host_of[place] = host.0;
        if self.pages.count().is_multiple_of(BEAT) {
            (self.watch)(BuildStep::Pages, self.pages.count(), self.expected.pages);
        }
        Ok(())
    }

    /// Ends the phase and assigns node numbers.
    pub fn number(self) -> Result<Linking> {
        if self.pages.count() == 0 || self.hosts.count() == 0 {
            return Err(GraphError::Empty);
        }
        let dir = self.place.new_dir().to_owned();
        let (nodes, hosts) = (self.pages.count() as u32, self.hosts.count() as u32);
        let at = |which: Which| (dir.join(which.names()), dir.join(which.numbers()));
        let (list, numbers) = at(Which::Host);
        let host_nodes = self.hosts.finish(&list, &numbers, &self.watch)?;
        let (list, numbers) = at(Which::Web);
        let node_of = self.pages.finish(&list, &numbers, &self.watch)?;
        let mut host_of = self.host_of;
        for host in &mut host_of {
            *host = host_nodes.get(*host as usize).copied().unwrap_or(NONE);
        }
        let sorter = |name, nodes, orders, size| ArcSorter::new(&dir, name, nodes, orders, size);
        Ok(Linking {
            web: sorter("web-run", nodes, Orders::Both, arcs::BUFFER),
            rest: sorter("rest-run", nodes, Orders::Backward, arcs::BUFFER),
            between: sorter("host-run", hosts, Orders::Both, HOST_BUFFER),
            place: self.place,
            options: self.options,
            watch: self.watch,
            mark: self.expected,
            node_of,
            host_of,
            sizes: (nodes, hosts),
            links: 0,
            last: (NONE, NONE),
        })
    }
}

/// The second phase: adding links.
pub struct Linking {
    options: GraphOptions,
    watch: BuildProgress,
    mark: CatalogueMark,
    /// Node of each page, indexed by page number.
    node_of: Vec<u32>,
    /// Node of each page's host, indexed by page number.
    host_of: Vec<u32>,
    sizes: (u32, u32),
    web: ArcSorter,
    rest: ArcSorter,
    between: ArcSorter,
    links: u64,
    last: (u32, u32),
    // Declared last, so that it is dropped after everything that writes into it.
    place: BuildDirectory,
}

impl Linking {
    /// Adds a link. Links from or to unknown pages are ignored.
    #[inline]
    pub fn link(&mut self, link: &SeenLink) -> Result<()> {
        let (Some(src), Some(dst)) = (find(&self.node_of, link.src), find(&self.node_of, link.dst)) else {
            return Ok(());
        };
        self.links += 1;
        if self.links.is_multiple_of(BEAT) {
            (self.watch)(BuildStep::Links, self.links, 0);
        }
        if !self.options.takes(link) {
            return self.rest.push(src, dst);
        }
        if let (Some(from), Some(to)) = (find(&self.host_of, link.src), find(&self.host_of, link.dst))
            && from != to
            && self.last != (from, to)
        {
            self.last = (from, to);
            self.between.push(from, to)?;
        }
        self.web.push(src, dst)
    }

    /// Ends the phase: compresses the graph and moves it into place.
    pub fn finish(self) -> Result<Manifest> {
        let Self { place, options, watch, mark, sizes, web, rest, between, links, node_of, host_of, .. } = self;
        drop((node_of, host_of));
        let dir = place.new_dir().to_owned();
        let (web, web_t) = both(&dir, [Which::Web, Which::WebT], web, &watch)?;
        let (_, rest_t) = both(&dir, [Which::RestT, Which::RestT], rest, &watch)?;
        let (host, host_t) = both(&dir, [Which::Host, Which::HostT], between, &watch)?;
        watch(BuildStep::Closing, 0, 0);
        let manifest = Manifest {
            format: Manifest::FORMAT,
            id: RandomState::new().hash_one(mark.nonce),
            built_at: Moment::now(),
            mark,
            options,
            nodes: u64::from(sizes.0),
            links,
            web,
            web_t,
            rest_t,
            hosts: u64::from(sizes.1),
            host,
            host_t,
            files: sealed(&dir)?,
        };
        manifest.write(&dir)?;
        place.settle()?;
        Ok(manifest)
    }
}

/// The entry of a page.
#[inline]
fn find(list: &[u32], page: PageId) -> Option<u32> {
    let place = usize::try_from(page.0).ok()?;
    list.get(place).copied().filter(|entry| *entry != NONE)
}

/// Compresses the sorted arcs: the graph, if wanted, and its transpose.
fn both(
    dir: &Path,
    [out, back]: [Which; 2],
    arcs: ArcSorter,
    watch: &BuildProgress,
) -> Result<(CompressionStats, CompressionStats)> {
    let (forward, backward) = arcs.finish()?;
    let mut tally = CompressionStats::default();
    if out != back {
        tally = compress(&dir.join(out.base()), &forward, watch)?;
        forward.remove()?;
    }
    let turned = compress(&dir.join(back.base()), &backward, watch)?;
    backward.remove()?;
    Ok((tally, turned))
}

/// Syncs every file to disk and returns their checksums.
fn sealed(dir: &Path) -> Result<BTreeMap<String, crate::FileSeal>> {
    let entries = std::fs::read_dir(dir).map_err(GraphError::io("list", dir))?;
    let mut files = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(GraphError::io("list", dir))?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            sync(&path)?;
            files.insert(name.to_owned(), seal(&path)?);
        }
    }
    Ok(files)
}
