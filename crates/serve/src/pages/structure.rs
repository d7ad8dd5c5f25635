//! Which pages matter, and how do they hang together?

use super::graph_build::GraphWork;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::{FilterChoice, ListSteps};
use crate::view::{Frame, measure, minute};
use askama::Template;
use orb_answers::{AnswerError, By, GraphStats, RankedKind, Top, TopRow, Window, graph_stats, grouped, top};
use serde::Serialize;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/structure",
    Right::Read,
    |request| Box::pin(show(request)),
    "The best pages by measure, the bow-tie and the degrees",
)
.for_guests()];

/// Pages on one screen.
const ROWS: u64 = 50;

/// The structure of a collection.
#[derive(Serialize)]
struct Structure {
    graph: GraphStats,
    top: Top,
}

#[derive(Template)]
#[template(path = "structure.html")]
struct StructurePage<'a> {
    frame: Frame,
    p: &'a str,
    /// Why there is nothing to show.
    missing: Option<&'a str>,
    work: GraphWork,
    /// The page that offers to build the graph.
    back: &'static str,
    facts: Vec<(&'static str, String)>,
    bow_tie: Vec<(&'a str, String, &'static str)>,
    choices: Vec<FilterChoice>,
    of_hosts: bool,
    measure: &'static str,
    rows: Vec<RankLine<'a>>,
    note: Option<&'a str>,
    steps: ListSteps,
}

struct RankLine<'a> {
    row: &'a TopRow,
    score: String,
    into: String,
    out_of: String,
}

async fn show(request: AdmittedRequest) -> Handled {
    let (fields, offset) = (request.query(), request.offset()?);
    let by = match fields.one("by") {
        None => By::Pagerank,
        Some(name) => By::ALL
            .into_iter()
            .find(|by| by.name() == name)
            .ok_or_else(|| ProblemDetails::malformed(format!("there is no measure '{name}'")))?,
    };
    let of_hosts = fields.one("of") == Some("hosts");
    let kind = if of_hosts { RankedKind::Hosts } else { RankedKind::Pages };
    let window = Window { limit: ROWS + 1, offset };
    let asked = request.ask(move |collection| {
        let found = graph_stats(collection).and_then(|graph| Ok((graph, top(collection, by, kind, window)?)));
        // Without a graph the page says how to get one.
        match found {
            Ok((graph, top)) => Ok(Ok(Structure { graph, top })),
            Err(AnswerError::NotBuilt(why)) => Ok(Err(why)),
            Err(e) => Err(e),
        }
    });
    let mut found = asked.await?;
    let has_more = found.as_ref().is_ok_and(|found| found.top.rows.len() as u64 > ROWS);
    if let Ok(found) = &mut found {
        found.top.rows.truncate(ROWS as usize);
    }
    let page = StructurePage {
        frame: request.frame(),
        p: &request.project()?.name,
        missing: found.as_ref().err().map(String::as_str),
        work: GraphWork::of(&request).await?,
        back: "structure",
        facts: found.as_ref().map(|found| facts(&found.graph)).unwrap_or_default(),
        bow_tie: found.as_ref().map(|found| bow_tie(&found.graph)).unwrap_or_default(),
        choices: choices(&request, by, of_hosts),
        of_hosts,
        measure: called(by),
        rows: found.as_ref().map(|found| found.top.rows.iter().map(line).collect()).unwrap_or_default(),
        note: found.as_ref().ok().and_then(|found| found.top.note.as_deref()),
        steps: request.around(offset, ROWS, has_more),
    };
    match &found {
        Err(why) if request.wants_json() => Err(ProblemDetails::conflict("not-built", why)),
        Err(_) => request.page(&page, &()),
        Ok(found) => request.page(&page, found),
    }
}

fn choices(request: &AdmittedRequest, by: By, of_hosts: bool) -> Vec<FilterChoice> {
    let measure = |measure: By| FilterChoice {
        label: called(measure).to_owned(),
        path: request.here_with(&[("by", Some(measure.name())), ("offset", None)]),
        is_chosen: measure == by,
    };
    let hosts = FilterChoice {
        label: "Of hosts".to_owned(),
        path: request.here_with(&[("of", (!of_hosts).then_some("hosts")), ("offset", None)]),
        is_chosen: of_hosts,
    };
    By::ALL.into_iter().map(measure).chain([hosts]).collect()
}

/// A measure as people call it.
fn called(by: By) -> &'static str {
    match by {
        By::Pagerank => "PageRank",
        By::Backlinks => "Links in",
        By::Hub => "Hub",
        By::Authority => "Authority",
        By::Harmonic => "Harmonic centrality",
        By::Outdegree => "Links out",
    }
}

/// What a part of the bow-tie is.
fn told(part: &str) -> &'static str {
    match part {
        "core" => "reach each other",
        "in" => "lead to the core",
        "out" => "are led to from the core",
        "tube" => "lead past the core, from in to out",
        "tendril" => "hang on in or out",
        _ => "have nothing to do with the core",
    }
}

fn facts(graph: &GraphStats) -> Vec<(&'static str, String)> {
    let figures = &graph.figures;
    let mut facts = vec![
        ("Pages", grouped(figures.nodes)),
        ("Links between them", grouped(figures.arcs)),
        (
            "Links out of a page",
            format!("{:.1} on average, {} at most", figures.out_degree.mean, figures.out_degree.max),
        ),
        ("Links into a page", format!("{:.1} on average, {} at most", figures.in_degree.mean, figures.in_degree.max)),
        ("Pages without links", grouped(figures.dangling)),
        ("Pages nobody links to", grouped(figures.unlinked)),
        ("Hosts", grouped(figures.hosts)),
        ("Links between hosts", grouped(figures.host_arcs)),
        ("Built", minute(&figures.built_at)),
    ];
    if let Some(ranks) = &graph.ranks {
        facts.push(("Strongly connected components", grouped(ranks.pages.components)));
        facts.push(("Pages in the largest", grouped(ranks.pages.largest_component)));
    }
    facts
}

fn bow_tie(graph: &GraphStats) -> Vec<(&str, String, &'static str)> {
    let parts = graph.ranks.iter().flat_map(|ranks| &ranks.pages.bow_tie);
    parts.map(|(part, n)| (*part, grouped(*n), told(part))).collect()
}

fn line(row: &TopRow) -> RankLine<'_> {
    let score = measure(row.score);
    RankLine { score, into: grouped(row.merit.indegree.into()), out_of: grouped(row.merit.outdegree.into()), row }
}
