//! How do the pages that matter link to each other?
//!
//! The table stands on the page; the drawing of the same pages is made by a script that asks this
//! address as a program, as guests may, too. So the map can be read without either, and nothing
//! from the web is in the page but as escaped text.

use super::graph_build::GraphWork;
use crate::api::graph::asked_part;
use crate::assets;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::FilterChoice;
use crate::view::{Frame, measure};
use askama::Template;
use orb_answers::{AnswerError, By, DrawnNode, GraphMap, MapPart, graph_map, grouped};

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/graph",
    Right::Read,
    |request| Box::pin(show(request)),
    "The best pages, or those around one, and the links between them",
)
.for_guests()];

/// How many pages are drawn without a wish, and how many one may choose.
const COUNTS: [usize; 5] = [100, 300, 1_000, 2_000, 5_000];

/// Rows of the table.
const ROWS: usize = 200;

#[derive(Template)]
#[template(path = "map.html")]
struct MapPage<'a> {
    frame: Frame,
    p: &'a str,
    style: &'static str,
    loader: &'static str,
    drawer: &'static str,
    /// Why there is nothing to show.
    missing: Option<&'a str>,
    work: GraphWork,
    /// The page that offers to build the graph.
    back: &'static str,
    note: Option<&'a str>,
    about: String,
    choices: Vec<FilterChoice>,
    around: &'a str,
    centre: Option<u64>,
    hops: u32,
    of_hosts: bool,
    place: &'static str,
    /// Where the script gets the same from.
    source: String,
    rows: Vec<MapLine<'a>>,
    is_cut: bool,
}

struct MapLine<'a> {
    node: &'a DrawnNode,
    title: &'a str,
    rank: String,
    into: String,
    out_of: String,
}

async fn show(request: AdmittedRequest) -> Handled {
    let query = request.query();
    let of_hosts = query.one("of") == Some("hosts");
    let part = asked_part(&query)?.unwrap_or(MapPart::Top { by: By::Pagerank, count: COUNTS[0] });
    let wanted = part.clone();
    let asked = request.ask(move |collection| match graph_map(collection, &wanted, of_hosts) {
        Ok(map) => Ok(Ok(map)),
        // Without a graph the page says how to get one.
        Err(AnswerError::NotBuilt(why)) => Ok(Err(why)),
        Err(e) => Err(e),
    });
    let found = asked.await?;
    let (map, missing) = (found.as_ref().ok(), found.as_ref().err());
    let p = &request.project()?.name;
    let [style, loader, drawer] = assets::map();
    let mut rows: Vec<MapLine<'_>> = map.into_iter().flat_map(|map| &map.graph.nodes).map(line).collect();
    let rank = |line: &MapLine<'_>| line.node.merit.as_ref().map_or(0.0, |merit| merit.pagerank);
    rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let is_cut = rows.len() > ROWS;
    rows.truncate(ROWS);
    let page = MapPage {
        frame: request.frame(),
        p,
        style,
        loader,
        drawer,
        missing: missing.map(String::as_str),
        work: GraphWork::of(&request).await?,
        back: "graph",
        note: map.and_then(|map| map.note.as_deref()),
        about: map.map(|map| about(map, of_hosts)).unwrap_or_default(),
        choices: choices(&request, &part, of_hosts),
        around: query.one("around").unwrap_or_default(),
        centre: map.and_then(|map| map.around),
        hops: if let MapPart::Around { hops, .. } = part { hops } else { 1 },
        of_hosts,
        place: if of_hosts { "hosts" } else { "pages" },
        source: source(&request, p, &part),
        rows,
        is_cut,
    };
    answer(&request, &page, &found)
}

/// How much is drawn.
fn about(map: &GraphMap, of_hosts: bool) -> String {
    let (nodes, links) = (map.graph.nodes.len() as u64, map.graph.arcs.len() as u64 / 2);
    let counted = |n: u64, word: &str| format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" });
    format!("{}, {}", counted(nodes, if of_hosts { "host" } else { "page" }), counted(links, "link"))
}

/// The page, or what it shows for programs.
fn answer(request: &AdmittedRequest, page: &MapPage<'_>, found: &Result<GraphMap, String>) -> Handled {
    match found {
        Err(why) if request.wants_json() => Err(ProblemDetails::conflict("not-built", why)),
        Err(_) => request.page(page, &()),
        Ok(map) => request.page(page, map),
    }
}

/// The same question, for the script.
fn source(request: &AdmittedRequest, p: &str, part: &MapPart) -> String {
    let kept = url::form_urlencoded::parse(request.parts.uri.query().unwrap_or_default().as_bytes());
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(kept.filter(|(name, _)| name != "top"));
    if let MapPart::Top { count, .. } = part {
        query.append_pair("top", &count.to_string());
    }
    format!("/p/{p}/graph?{}", query.finish())
}

fn choices(request: &AdmittedRequest, part: &MapPart, of_hosts: bool) -> Vec<FilterChoice> {
    let plain = [("around", None), ("hops", None), ("limit", None)];
    let top = |wanted: usize| {
        let text = wanted.to_string();
        let fields = [&plain[..], &[("top", Some(text.as_str()))]].concat();
        FilterChoice {
            label: format!("best {}", grouped(wanted as u64)),
            path: request.here_with(&fields),
            is_chosen: matches!(part, MapPart::Top { count, .. } if *count == wanted),
        }
    };
    let hosts = FilterChoice {
        label: "hosts".to_owned(),
        path: request.here_with(&[("of", (!of_hosts).then_some("hosts"))]),
        is_chosen: of_hosts,
    };
    COUNTS.into_iter().map(top).chain([hosts]).collect()
}

fn line(node: &DrawnNode) -> MapLine<'_> {
    let merit = node.merit.as_ref();
    MapLine {
        title: node.title.as_deref().unwrap_or(&node.name),
        rank: merit.map(|merit| measure(merit.pagerank)).unwrap_or_default(),
        into: merit.map(|merit| grouped(merit.indegree.into())).unwrap_or_default(),
        out_of: merit.map(|merit| grouped(merit.outdegree.into())).unwrap_or_default(),
        node,
    }
}
