//! What does a graph answer?
//!
//! Opening a graph costs a few reads. The compressed lists are memory-mapped on first use, after
//! their checksums are verified, because the decoder trusts its input. Callers identify pages by
//! their catalogue numbers; nodes are internal to this crate.

use crate::error::{GraphError, Result};
use crate::manifest::Manifest;
use crate::nodes::{NameList, NodeNumbers};
use dsi_bitstream::traits::BE;
use orb_page::{HostId, PageId};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use webgraph::graphs::bvgraph::{BvGraph, ConstCodesDecoderFactory, EF, Static};
use webgraph::traits::RandomAccessGraph as _;
use webgraph::utils::MmapHelper;

/// A compressed graph, as the library reads it.
pub(crate) type Lists = BvGraph<ConstCodesDecoderFactory<BE, MmapHelper<u32>, EF>>;

/// The compressed graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Pages.
    Web,
    /// Pages, transposed.
    WebT,
    /// Links that are not arcs of the page graph, transposed.
    RestT,
    /// Hosts.
    Host,
    /// Hosts, transposed.
    HostT,
}

impl Which {
    /// The common base name of its files.
    pub(crate) fn base(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::WebT => "web-t",
            Self::RestT => "rest-t",
            Self::Host => "host",
            Self::HostT => "host-t",
        }
    }

    /// The file with the names of its nodes.
    pub(crate) fn names(self) -> &'static str {
        if matches!(self, Self::Host | Self::HostT) { "hosts" } else { "urls" }
    }

    /// The file with the catalogue numbers of its nodes.
    pub(crate) fn numbers(self) -> &'static str {
        if matches!(self, Self::Host | Self::HostT) { "hosts.ids" } else { "urls.ids" }
    }
}

/// A graph on disk.
pub struct WebGraph {
    dir: PathBuf,
    manifest: Manifest,
    urls: NameList,
    pages: NodeNumbers,
    hosts: NameList,
    host_ids: NodeNumbers,
    lists: [OnceLock<Lists>; 5],
}

impl WebGraph {
    /// Opens the graph in a directory.
    pub fn open(dir: &Path) -> Result<Self> {
        // A build may replace the graph meanwhile; then open the new one.
        let mut tries = 0;
        loop {
            let manifest = Manifest::read(dir)?;
            let opened = Self::open_as(dir, &manifest);
            tries += 1;
            if tries >= 5 || Manifest::read(dir)?.id == manifest.id {
                return opened;
            }
        }
    }

    fn open_as(dir: &Path, manifest: &Manifest) -> Result<Self> {
        let (urls, pages) = opened(dir, Which::Web, manifest.nodes)?;
        let (hosts, host_ids) = opened(dir, Which::Host, manifest.hosts)?;
        let (dir, manifest) = (dir.to_owned(), manifest.clone());
        Ok(Self { dir, manifest, urls, pages, hosts, host_ids, lists: Default::default() })
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether no other graph has been built in its place since it was opened.
    pub fn is_latest(&self) -> bool {
        Manifest::read(&self.dir).is_ok_and(|manifest| manifest.id == self.manifest.id)
    }

    /// The page with this URL.
    pub fn page_at(&self, url: &str) -> Result<Option<PageId>> {
        match self.urls.find(url)? {
            Some(node) => self.page_of(node as u32),
            None => Ok(None),
        }
    }

    /// The URL of a page.
    pub fn url_of(&self, page: PageId) -> Result<Option<String>> {
        match self.node_of(page)? {
            Some(node) => self.urls.name(u64::from(node)),
            None => Ok(None),
        }
    }

    /// The pages with any link to this one, of whatever kind, in URL order.
    pub fn pages_pointing_to(&self, page: PageId) -> Result<PagesPointing<'_>> {
        let node = self.node_of(page)?;
        let list = |which| node.map_or(Ok(Vec::new()), |node| self.successors(which, node));
        let (arcs, rest) = (list(Which::WebT)?, list(Which::RestT)?);
        Ok(PagesPointing { graph: self, arcs: arcs.into_iter().peekable(), rest: rest.into_iter().peekable() })
    }

    /// The pages this one has arcs to, in URL order.
    pub fn pages_pointed_to(&self, page: PageId) -> Result<Vec<PageId>> {
        let Some(node) = self.node_of(page)? else { return Ok(Vec::new()) };
        let nodes = self.successors(Which::Web, node)?;
        nodes.into_iter().filter_map(|node| self.page_of(node).transpose()).collect()
    }

    /// Verifies every file's checksum.
    pub fn verify(&self) -> Result<()> {
        self.manifest.files.keys().try_for_each(|name| self.manifest.verify(&self.dir, name))
    }
}

/// Access by node, for this crate only.
impl WebGraph {
    /// Number of nodes in one of the graphs.
    pub(crate) fn nodes(&self, which: Which) -> u32 {
        if matches!(which, Which::Host | Which::HostT) { self.host_ids.nodes() } else { self.pages.nodes() }
    }

    /// The node of a page.
    pub(crate) fn node_of(&self, page: PageId) -> Result<Option<u32>> {
        self.pages.node(page.0)
    }

    /// The page of a node.
    pub(crate) fn page_of(&self, node: u32) -> Result<Option<PageId>> {
        Ok(self.pages.number(node)?.map(|number| PageId(u64::from(number))))
    }

    /// The pages of all nodes, in node order.
    pub(crate) fn pages(&self) -> Result<Vec<u32>> {
        self.pages.all()
    }

    /// The URL of a node.
    pub(crate) fn url(&self, node: u32) -> Result<Option<String>> {
        self.urls.name(u64::from(node))
    }

    /// Calls `tell` with the URLs of all nodes, in order.
    pub(crate) fn urls(&self, tell: impl FnMut(u64, &[u8])) -> Result<()> {
        self.urls.all(tell)
    }

    /// The host of a node of the host graph.
    pub(crate) fn host_of(&self, node: u32) -> Result<Option<HostId>> {
        Ok(self.host_ids.number(node)?.map(HostId))
    }

    /// The common URL prefix of a host graph node's pages.
    pub(crate) fn origin(&self, node: u32) -> Result<Option<String>> {
        self.hosts.name(u64::from(node))
    }

    /// The node of a page's host.
    pub(crate) fn host_node_of(&self, page: PageId) -> Result<Option<u32>> {
        let Some(url) = self.url_of(page)? else { return Ok(None) };
        let end = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
        Ok(self.hosts.find(&url[..end])?.map(|node| node as u32))
    }

    /// One of the compressed graphs; its checksums are verified on first use.
    pub(crate) fn lists(&self, which: Which) -> Result<&Lists> {
        let place = &self.lists[which as usize];
        if let Some(lists) = place.get() {
            return Ok(lists);
        }
        for ending in ["graph", "properties", "ef"] {
            self.manifest.verify(&self.dir, &format!("{}.{ending}", which.base()))?;
        }
        let base = self.dir.join(which.base());
        let load = BvGraph::with_basename(&base).endianness::<BE>().dispatch::<Static>().load();
        let lists = load.map_err(|e| GraphError::damaged(&base, format!("{e:#}")))?;
        if Manifest::read(&self.dir)?.id != self.manifest.id {
            return Err(GraphError::damaged(&self.dir, "another graph took its place while it was read"));
        }
        Ok(place.get_or_init(|| lists))
    }

    /// The successors of a node, in order.
    pub(crate) fn successors(&self, which: Which, node: u32) -> Result<Vec<u32>> {
        // A graph without hosts has no nodes.
        if node >= self.nodes(which) {
            return Ok(Vec::new());
        }
        Ok(self.lists(which)?.successors(node as usize).map(|to| to as u32).collect())
    }
}

fn opened(dir: &Path, which: Which, nodes: u64) -> Result<(NameList, NodeNumbers)> {
    let (list, numbers) = (dir.join(which.names()), dir.join(which.numbers()));
    let (names, ids) = (NameList::open(&list)?, NodeNumbers::open(&numbers)?);
    if names.len() != nodes || u64::from(ids.nodes()) != nodes {
        return Err(GraphError::damaged(&list, "it belongs to another graph"));
    }
    Ok((names, ids))
}

/// The distinct pages that link to one, in URL order.
pub struct PagesPointing<'a> {
    graph: &'a WebGraph,
    arcs: Peekable<std::vec::IntoIter<u32>>,
    rest: Peekable<std::vec::IntoIter<u32>>,
}

impl Iterator for PagesPointing<'_> {
    type Item = Result<PageId>;

    fn next(&mut self) -> Option<Self::Item> {
        let node = match (self.arcs.peek(), self.rest.peek()) {
            (Some(a), Some(b)) => *a.min(b),
            (Some(a), None) => *a,
            (None, Some(b)) => *b,
            (None, None) => return None,
        };
        self.arcs.next_if_eq(&node);
        self.rest.next_if_eq(&node);
        self.graph.page_of(node).transpose()
    }
}
