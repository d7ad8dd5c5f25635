//! Are pages and hosts ranked, found and written as the arcs say?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use orb_graph::export::{self, GraphExportRequest, GraphFormat, Selection};
use orb_graph::{
    BowTie, By, CatalogueMark, Direction, GraphError, GraphOptions, Naming, Ranking, Reach, SeenLink, WebGraph,
    unwatched,
};
use orb_page::{HostId, LinkKind, PageId};
use std::path::Path;

/// Pages by number with host and path; number order differs from URL order.
const PAGES: [(u64, u32, &str); 7] = [
    (1, 1, "http://b.test/"),
    (2, 1, "http://b.test/one"),
    (3, 1, "http://b.test/two"),
    (5, 2, "http://a.test/"),
    (6, 2, "http://a.test/x?<&\">"),
    (8, 3, "http://c.test/"),
    (9, 3, "http://c.test/alone"),
];

const LINKS: [(u64, u64); 9] = [(1, 2), (1, 3), (2, 1), (3, 1), (1, 5), (5, 6), (6, 5), (8, 5), (8, 1)];

fn built(dir: &Path) -> WebGraph {
    let mut naming = Naming::begin(dir, GraphOptions::default(), CatalogueMark::default(), unwatched()).unwrap();
    for (host, origin) in [(1, "http://b.test"), (2, "http://a.test"), (3, "http://c.test")] {
        naming.host(HostId(host), origin).unwrap();
    }
    for (page, host, url) in PAGES {
        naming.page(PageId(page), HostId(host), url).unwrap();
    }
    let mut linking = naming.number().unwrap();
    for (src, dst) in LINKS {
        let (src, dst) = (PageId(src), PageId(dst));
        linking.link(&SeenLink { src, dst, kind: LinkKind::A, nofollow: false, gone: false }).unwrap();
    }
    linking.finish().unwrap();
    WebGraph::open(dir).unwrap()
}

fn ranked(dir: &Path) -> WebGraph {
    let graph = built(dir);
    graph.rank(&Ranking::default(), u64::MAX, &mut |_| ()).unwrap();
    graph
}

#[test]
fn pages_and_hosts_have_merits_by_their_numbers() {
    let tmp = tempfile::tempdir().unwrap();
    let graph = ranked(&tmp.path().join("graph"));
    let ranks = graph.ranks().unwrap().unwrap();
    ranks.verify().unwrap();
    let of = |page| ranks.of(PageId(page)).unwrap().unwrap();
    assert_eq!((of(1).indegree, of(1).outdegree, of(1).bowtie), (3, 3, BowTie::Core));
    assert_eq!([of(5), of(6)].map(|s| (s.bowtie, s.component)), [(BowTie::Out, 1); 2]);
    assert_eq!((of(8).bowtie, of(9).bowtie), (BowTie::In, BowTie::Disconnected));
    assert_eq!((ranks.of(PageId(4)).unwrap(), ranks.of(PageId(99)).unwrap()), (None, None));
    let sum: f64 = ranks.pages().unwrap().map(|(_, merit)| merit.pagerank).sum();
    assert!((sum - 1.0).abs() < 1e-12);
    assert_eq!(ranks.pages().unwrap().map(|(page, _)| page).collect::<Vec<_>>(), [1, 2, 3, 5, 6, 8, 9]);
    assert_eq!(ranks.pageranks().unwrap()[8], of(8).pagerank);
    assert_eq!(ranks.of_host(HostId(2)).unwrap().unwrap().indegree, 2);
    let best = ranks.best(By::Backlinks, 3, 0).unwrap();
    let best: Vec<_> = best.iter().map(|r| (r.number, r.url.as_str(), r.score)).collect();
    assert_eq!(best, [(5, "http://a.test/", 3.0), (1, "http://b.test/", 3.0), (6, "http://a.test/x?<&\">", 1.0)]);
    assert_eq!(ranks.best_hosts(By::Outdegree, 1, 0).unwrap()[0].url, "http://c.test");
    assert_eq!(ranks.accounts().map(|a| (a.nodes, a.arcs)), [(7, 9), (3, 3)]);
}

#[test]
fn compressed_lists_rank_like_plain_arrays() {
    let tmp = tempfile::tempdir().unwrap();
    let graph = ranked(&tmp.path().join("graph"));
    let plain: Vec<_> = graph.ranks().unwrap().unwrap().pages().unwrap().collect();
    graph.rank(&Ranking::default(), 0, &mut |_| ()).unwrap();
    let ranks = graph.ranks().unwrap().unwrap();
    for ((page, plain), (same, compressed)) in plain.into_iter().zip(ranks.pages().unwrap()) {
        assert_eq!((page, plain.component, plain.bowtie), (same, compressed.component, compressed.bowtie));
        for (a, b) in [(plain.pagerank, compressed.pagerank), (plain.hub, compressed.hub)] {
            assert!((a - b).abs() < 1e-9, "page {page}: {plain:?} {compressed:?}");
        }
        assert_eq!(plain.harmonic, compressed.harmonic);
    }
}

#[test]
fn another_build_has_no_ranks_until_it_is_ranked() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("graph");
    let old = ranked(&dir);
    let file = std::fs::read(dir.join("ranks")).unwrap();
    let new = built(&dir);
    assert!(new.ranks().unwrap().is_none());
    // Ranks of another build that somehow got there are rejected.
    std::fs::write(dir.join("ranks"), file).unwrap();
    assert!(new.ranks().unwrap().is_none());
    assert!(old.rank(&Ranking::default(), u64::MAX, &mut |_| ()).is_err());
}

#[test]
fn the_neighbourhood_of_a_page_is_found_hop_by_hop() {
    let tmp = tempfile::tempdir().unwrap();
    let graph = ranked(&tmp.path().join("graph"));
    let around = |page, hops, direction, limit| -> Vec<(u64, u32)> {
        let found = graph.around(PageId(page), &Reach { hops, direction, limit }).unwrap();
        found.into_iter().map(|near| (near.page.0, near.hops)).collect()
    };
    assert_eq!(around(8, 1, Direction::Out, 99), [(8, 0), (5, 1), (1, 1)]);
    assert_eq!(around(5, 1, Direction::In, 99), [(5, 0), (6, 1), (1, 1), (8, 1)]);
    assert_eq!(around(3, 2, Direction::Both, 99).len(), 5);
    assert_eq!(around(3, 9, Direction::Both, 99).len(), 6);
    assert_eq!(around(5, 1, Direction::In, 2), [(5, 0), (6, 1)]);
    assert_eq!((around(9, 3, Direction::Both, 99), around(5, 0, Direction::Out, 9)), (vec![(9, 0)], vec![(5, 0)]));
    assert_eq!(around(4, 1, Direction::Out, 9), []);
}

fn wish<'a>(selection: Selection, titles: &'a mut dyn FnMut(PageId) -> Option<String>) -> GraphExportRequest<'a> {
    GraphExportRequest { selection, hosts: false, title: "a & b", titles }
}

#[test]
fn every_format_tells_the_selected_pages_and_the_arcs_between_them() {
    let tmp = tempfile::tempdir().unwrap();
    let graph = ranked(&tmp.path().join("graph"));
    let mut titles = |page: PageId| (page.0 == 1).then(|| "<One>".to_owned());
    for (format, page_one, arc) in [
        (GraphFormat::Graphml, "<data key=\"title\">&lt;One&gt;</data>", "<edge source=\"n1\" target=\"n5\"/>"),
        (GraphFormat::Gexf, "<node id=\"1\" label=\"&lt;One&gt;\">", "source=\"1\" target=\"5\"/>"),
        (GraphFormat::Dot, "n1 [label=\"<One>\", URL=\"http://b.test/\"", "n1 -> n5;"),
        (GraphFormat::Edges, "", "http://b.test/\thttp://a.test/\n"),
        (GraphFormat::Html, "\\u003cOne>", "\"arcs\":["),
    ] {
        let path = tmp.path().join(format.name());
        let written = export::to_file(&graph, format, &mut wish(Selection::Whole, &mut titles), &path, false).unwrap();
        assert_eq!((written.nodes, written.arcs), (7, 9));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(page_one) && text.contains(arc), "{text}");
        let again = export::to_file(&graph, format, &mut wish(Selection::Whole, &mut titles), &path, false);
        assert!(matches!(again, Err(GraphError::Exists { .. })));
        let top = Selection::Top { by: By::Backlinks, count: 2 };
        let written = export::to_file(&graph, format, &mut wish(top, &mut titles), &path, true).unwrap();
        assert_eq!((written.nodes, written.arcs), (2, 1));
        let reach = Reach { hops: 1, direction: Direction::Both, limit: 99 };
        let around = Selection::Around { page: PageId(6), reach };
        let written = export::to_file(&graph, format, &mut wish(around, &mut titles), &path, true).unwrap();
        assert_eq!((written.nodes, written.arcs), (2, 2));
        let mut hosts = wish(Selection::Whole, &mut titles);
        hosts.hosts = true;
        let written = export::to_file(&graph, format, &mut hosts, &path, true).unwrap();
        assert_eq!((written.nodes, written.arcs), (3, 3));
    }
}

#[test]
fn parquet_is_two_files_and_webgraph_seven() {
    let tmp = tempfile::tempdir().unwrap();
    let graph = ranked(&tmp.path().join("graph"));
    let mut titles = |_: PageId| None;
    let path = tmp.path().join("arcs.parquet");
    let written =
        export::to_file(&graph, GraphFormat::Parquet, &mut wish(Selection::Whole, &mut titles), &path, false).unwrap();
    assert_eq!((written.nodes, written.arcs), (7, 9));
    for name in ["arcs.parquet", "arcs.nodes.parquet"] {
        let bytes = std::fs::read(tmp.path().join(name)).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
    }
    let written = export::copy_lists(&graph, false, &tmp.path().join("copy"), false).unwrap();
    assert_eq!((written.nodes, written.arcs), (7, 9));
    for name in ["copy.graph", "copy.properties", "copy.offsets", "copy-t.graph", "copy-t.properties", "copy-t.offsets"]
    {
        let own = graph.dir().join(name.replace("copy", "web"));
        assert_eq!(std::fs::read(tmp.path().join(name)).unwrap(), std::fs::read(own).unwrap());
    }
    let urls = std::fs::read_to_string(tmp.path().join("copy.urls")).unwrap();
    assert_eq!(urls.lines().next(), Some("http://a.test/"));
    assert_eq!(urls.lines().count(), 7);
}

#[test]
fn the_best_of_a_graph_without_ranks_cannot_be_told() {
    let tmp = tempfile::tempdir().unwrap();
    let graph = built(&tmp.path().join("graph"));
    let mut titles = |_: PageId| None;
    let mut top = wish(Selection::Top { by: By::Pagerank, count: 2 }, &mut titles);
    let path = tmp.path().join("none");
    assert!(matches!(
        export::to_file(&graph, GraphFormat::Dot, &mut top, &path, false),
        Err(GraphError::NotRanked { .. })
    ));
    let whole = export::to_file(&graph, GraphFormat::Dot, &mut wish(Selection::Whole, &mut titles), &path, false);
    assert_eq!(whole.unwrap().nodes, 7);
}
