//! Does a graph contain what was put into it?
//!
//! The files are also read with the `webgraph` crate directly, as any other tool would.
#![expect(clippy::unwrap_used, reason = "a graph that cannot be built fails the test")]

use lender::prelude::*;
use orb_graph::{CatalogueMark, GraphError, GraphOptions, Manifest, Naming, SeenLink, WebGraph, Witness, unwatched};
use orb_page::{HostId, LinkKind, PageId, RunId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use webgraph::graphs::bvgraph::BvGraphSeq;
use webgraph::traits::SequentialLabeling as _;

/// A link between two pages of the small web below.
fn link(src: u64, dst: u64, kind: LinkKind) -> SeenLink {
    SeenLink { src: PageId(src), dst: PageId(dst), kind, nofollow: false, gone: false }
}

/// Pages are spread over three hosts, so that URL order differs from number order.
fn host(page: u64) -> u32 {
    (page % 3) as u32 + 1
}

fn url(page: u64) -> String {
    format!("http://h{}/{}", host(page), page * 7919 % 100_003)
}

fn build(dir: &Path, pages: u64, links: &[SeenLink], options: GraphOptions) -> Result<Manifest, GraphError> {
    let mark = CatalogueMark { batch: 3, nonce: 77, run: RunId(1), pages, sources: 1 };
    let mut naming = Naming::begin(dir, options, mark, unwatched())?;
    for id in 1..=3 {
        naming.host(HostId(id), &format!("http://h{id}"))?;
    }
    for page in 1..=pages {
        naming.page(PageId(page), HostId(host(page)), &url(page))?;
    }
    let mut linking = naming.number()?;
    links.iter().try_for_each(|link| linking.link(link))?;
    linking.finish()
}

/// Every arc of one of the graphs, as the library's own reader returns them.
fn arcs(base: &Path) -> BTreeSet<(usize, usize)> {
    let graph = BvGraphSeq::with_basename(base).load().unwrap();
    let mut all = BTreeSet::new();
    for_!((src, to) in graph.iter() {
        all.extend(to.into_iter().map(|dst| (src, dst)));
    });
    all
}

/// The pages in URL order.
fn order(pages: u64) -> BTreeMap<u64, usize> {
    let mut list: Vec<(String, u64)> = (1..=pages).map(|page| (url(page), page)).collect();
    list.sort();
    list.into_iter().enumerate().map(|(node, (_, page))| (page, node)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn every_link_is_found_from_both_ends(
        pages in 1u64..300,
        ends in prop::collection::vec((0u64..300, 0u64..300, 0usize..4), 0..900),
    ) {
        let kinds = [LinkKind::A, LinkKind::A, LinkKind::Img, LinkKind::Redirect];
        let links: Vec<_> = ends.iter().map(|(s, d, k)| link(s % pages + 1, d % pages + 1, kinds[*k])).collect();
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("graph");
        let manifest = build(&dir, pages, &links, GraphOptions::default()).unwrap();
        let node = order(pages);
        let taken = |l: &&SeenLink| l.kind != LinkKind::Img && l.src != l.dst;
        let forward: BTreeSet<_> = links.iter().filter(taken).map(|l| (node[&l.src.0], node[&l.dst.0])).collect();
        let backward: BTreeSet<_> = forward.iter().map(|(s, d)| (*d, *s)).collect();
        prop_assert_eq!(manifest.web.arcs, forward.len() as u64);
        prop_assert_eq!(&arcs(&dir.join("web")), &forward);
        prop_assert_eq!(arcs(&dir.join("web-t")), backward);
        let hosts: BTreeSet<_> = links.iter().filter(taken).map(|l| (host(l.src.0) as usize - 1, host(l.dst.0) as usize - 1)).collect();
        prop_assert_eq!(arcs(&dir.join("host")), hosts.into_iter().filter(|(a, b)| a != b).collect::<BTreeSet<_>>());
        let graph = WebGraph::open(&dir).unwrap();
        graph.verify().unwrap();
        for page in 1..=pages {
            prop_assert_eq!(graph.page_at(&url(page)).unwrap(), Some(PageId(page)));
            prop_assert_eq!(graph.url_of(PageId(page)).unwrap(), Some(url(page)));
            let mut pointing: Vec<u64> = links.iter().filter(|l| l.dst.0 == page).map(|l| l.src.0).collect();
            pointing.sort_by_key(|p| node[p]);
            pointing.dedup();
            let found: Vec<u64> = graph.pages_pointing_to(PageId(page)).unwrap().map(|p| p.unwrap().0).collect();
            prop_assert_eq!(found, pointing);
            let to: Vec<_> = graph.pages_pointed_to(PageId(page)).unwrap().iter().map(|p| node[&p.0]).collect();
            prop_assert_eq!(to, forward.range((node[&page], 0)..(node[&page] + 1, 0)).map(|a| a.1).collect::<Vec<_>>());
        }
        prop_assert_eq!(graph.page_at("http://h9/").unwrap(), None);
        prop_assert_eq!(graph.url_of(PageId(pages + 1)).unwrap(), None);
    }
}

#[test]
fn the_options_say_which_links_are_arcs() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("graph");
    let links = [
        link(1, 2, LinkKind::A),
        link(1, 1, LinkKind::A),
        SeenLink { nofollow: true, ..link(2, 3, LinkKind::A) },
        SeenLink { gone: true, ..link(3, 1, LinkKind::A) },
        link(3, 2, LinkKind::Img),
    ];
    let default = GraphOptions::default();
    let with = |options: GraphOptions| build(&dir, 3, &links, options).unwrap().web.arcs;
    assert_eq!(with(default.clone()), 2);
    assert_eq!(with(GraphOptions { nofollow: false, ..default.clone() }), 1);
    assert_eq!(with(GraphOptions { self_loops: true, ..default.clone() }), 3);
    assert_eq!(with(GraphOptions { gone: true, ..default.clone() }), 3);
    assert_eq!(with(GraphOptions { kinds: vec![LinkKind::Img], ..default }), 1);
    let graph = WebGraph::open(&dir).unwrap();
    let sources = |page| graph.pages_pointing_to(PageId(page)).unwrap().map(|p| p.unwrap().0).collect::<BTreeSet<_>>();
    assert_eq!([1, 2, 3].map(sources), [BTreeSet::from([1, 3]), BTreeSet::from([1, 3]), BTreeSet::from([2])]);
}

#[test]
fn there_is_no_graph_of_nothing_and_none_before_it_is_built() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("graph");
    assert!(matches!(build(&dir, 0, &[], GraphOptions::default()), Err(GraphError::Empty)));
    assert!(matches!(WebGraph::open(&dir), Err(GraphError::Missing { .. })));
    build(&dir, 1, &[], GraphOptions::default()).unwrap();
    let graph = WebGraph::open(&dir).unwrap();
    assert_eq!(graph.pages_pointing_to(PageId(1)).unwrap().count(), 0);
    assert_eq!(graph.pages_pointing_to(PageId(2)).unwrap().count(), 0);
}

#[test]
fn a_graph_compressed_in_several_parts_is_the_same_graph() {
    // More pages than fit in one part.
    let pages = 70_000;
    let links: Vec<_> = (1..=pages)
        .flat_map(|p| [1, 7, 500, 65_537].map(|step| link(p, (p * step + step) % pages + 1, LinkKind::A)))
        .collect();
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("graph");
    build(&dir, pages, &links, GraphOptions::default()).unwrap();
    let node = order(pages);
    let arc = |l: &SeenLink| (l.src != l.dst).then(|| (node[&l.src.0], node[&l.dst.0]));
    let forward: BTreeSet<_> = links.iter().filter_map(arc).collect();
    assert!(arcs(&dir.join("web")) == forward);
    assert!(arcs(&dir.join("web-t")) == forward.iter().map(|(s, d)| (*d, *s)).collect::<BTreeSet<_>>());
    let graph = WebGraph::open(&dir).unwrap();
    for page in (1..=pages).step_by(997) {
        let found: BTreeSet<_> = graph.pages_pointing_to(PageId(page)).unwrap().map(|p| node[&p.unwrap().0]).collect();
        let here = node[&page];
        let mut expected: BTreeSet<_> = forward.iter().filter(|a| a.1 == here).map(|a| a.0).collect();
        expected.extend(links.iter().any(|l| l.src == l.dst && l.src.0 == page).then_some(here));
        assert_eq!(found, expected);
    }
    let witness = |changed: bool| {
        let mut witness = Witness::new(&GraphOptions::default(), pages);
        (1..=pages).rev().for_each(|page| witness.page(PageId(page), &url(page)));
        links.iter().skip(usize::from(changed)).for_each(|link| witness.link(link));
        witness.finish()
    };
    assert!(graph.fingerprint().unwrap() != witness(true));
}

#[test]
fn damage_to_any_file_is_told_by_its_name() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("graph");
    let links: Vec<_> = (1..200).flat_map(|p| [link(p, p + 1, LinkKind::A), link(p, 1, LinkKind::Img)]).collect();
    build(&dir, 200, &links, GraphOptions::default()).unwrap();
    let look = || -> Result<usize, GraphError> {
        let graph = WebGraph::open(&dir)?;
        graph.verify()?;
        Ok(graph.pages_pointing_to(PageId(1))?.count())
    };
    assert_eq!(look().unwrap(), 199);
    let names: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.len() > 20, "{names:?}");
    for path in names {
        let whole = fs::read(&path).unwrap();
        for what in ["cut", "flipped", "emptied", "removed"] {
            let mut bytes = whole.clone();
            match what {
                "cut" => bytes.truncate(whole.len() - 1),
                // A bit flip in the middle of the manifest could turn one valid number into
                // another.
                "flipped" if path.ends_with("graph.json") => bytes[0] ^= 0x10,
                "flipped" => bytes[whole.len() / 2] ^= 0x10,
                "emptied" => bytes.clear(),
                _ => {}
            }
            if what == "removed" { fs::remove_file(&path) } else { fs::write(&path, bytes) }.unwrap();
            let said = look().map_err(|e| e.to_string());
            let said = said.expect_err(&format!("{} {what}", path.display()));
            assert!(said.contains(path.file_name().unwrap().to_str().unwrap()), "{said}");
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(look().unwrap(), 199);
}
