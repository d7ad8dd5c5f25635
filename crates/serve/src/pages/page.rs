//! What is known about one page?

use crate::foreign::outward;
use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::view::{Frame, bytes, measure, minute};
use askama::Template;
use orb_answers::{
    AnswerError, Collection, HostRow, ImageRow, LinkChange, LinkFilter, LinkRow, LinksIn, Merit, ShownPage, VisitRow,
    Window, grouped, host, links_in_at_hand, links_since, show,
};
use orb_page::RunId;
use serde::Serialize;
use std::ops::ControlFlow;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/pages/{id}",
    Right::Read,
    |request| Box::pin(record(request)),
    "A page: its record, versions, ranks, links and images",
)
.for_guests()];

/// Links of one direction on one screen.
const LINKS: u64 = 100;

/// A page with the links that point to it.
#[derive(Serialize)]
struct LinkedPage {
    #[serde(flatten)]
    shown: ShownPage,
    links_in: LinksIn,
    host: HostRow,
    /// Its links that are new, lost or others since the run that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links_since: Vec<LinkNews>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct RecordPage<'a> {
    frame: Frame,
    p: &'a str,
    shown: &'a ShownPage,
    host: &'a HostRow,
    title: &'a str,
    /// Whether the title is the URL, for want of one.
    is_untitled: bool,
    original: Option<&'a str>,
    facts: Vec<(&'static str, String)>,
    versions: Vec<VersionLine<'a>>,
    ranks: Vec<(&'static str, String)>,
    links: [LinkCards<'a>; 2],
    /// Since which run links are compared, and what became of them.
    since: Option<u32>,
    news: Vec<LinkNews>,
    images: Vec<ImageLine<'a>>,
}

/// A link that is new, lost or another since a run.
#[derive(Serialize)]
struct LinkNews {
    /// `new`, `lost` or `changed`.
    change: &'static str,
    url: String,
    kind: &'static str,
    words: String,
}

/// A visit in the timeline.
struct VersionLine<'a> {
    run: u32,
    flag: &'a str,
    when: String,
    status: String,
    length: String,
    digest: &'a str,
    problem: &'a str,
    has_content: bool,
}

/// Links of one direction.
struct LinkCards<'a> {
    heading: &'static str,
    empty: &'static str,
    rows: Vec<LinkLine<'a>>,
    note: Option<&'a str>,
    before: Option<String>,
    after: Option<String>,
}

/// A link, seen from this page.
struct LinkLine<'a> {
    id: u64,
    url: &'a str,
    words: &'a str,
    kind: &'a str,
    count: u64,
    lost: Option<u32>,
}

struct ImageLine<'a> {
    url: &'a str,
    original: Option<&'a str>,
    alt: &'a str,
    size: String,
}

async fn record(request: AdmittedRequest) -> Handled {
    let id: u64 = request.number("id")?;
    let fields = request.query();
    let (into, out_of) = (fields.parsed("in")?.unwrap_or(0), fields.parsed("out")?.unwrap_or(0));
    let since: Option<u32> = fields.parsed("since")?;
    let found = request.ask(move |collection| {
        let page = collection.numbered(id)?;
        let mut shown = show(collection, &page.url, 0)?;
        let window = |offset| Window { limit: LINKS + 1, offset };
        shown.links = orb_answers::links_out(collection, &page.url, window(out_of))?;
        let links_in = links_in_at_hand(collection, &page.url, window(into))?;
        let host = host(collection, page.host_id)?;
        let links_since = since.map(|run| news(collection, &page.url, run)).transpose()?.unwrap_or_default();
        Ok::<_, AnswerError>(LinkedPage { shown, links_in, host, links_since })
    });
    let mut found = found.await?;
    let news = if request.wants_json() { Vec::new() } else { std::mem::take(&mut found.links_since) };
    let page = &found.shown.page;
    let shown = RecordPage {
        frame: request.frame(),
        p: &request.project()?.name,
        title: page.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&page.url),
        is_untitled: page.title.as_deref().is_none_or(str::is_empty),
        original: outward(&page.url),
        facts: facts(&found.shown),
        versions: versions(&found.shown),
        ranks: found.shown.ranks.as_ref().map(ranks).unwrap_or_default(),
        links: [
            cards(&request, &found.links_in.links, ("in", into), found.links_in.note.as_deref()),
            cards(&request, &found.shown.links, ("out", out_of), None),
        ],
        since,
        news,
        images: images(&found.shown),
        host: &found.host,
        shown: &found.shown,
    };
    request.page(&shown, &found)
}

/// What became of the links of a page since a run.
fn news(collection: &Collection, url: &str, run: u32) -> Result<Vec<LinkNews>, AnswerError> {
    let (mut out, rows) = (Vec::new(), Window { limit: LINKS, offset: 0 });
    links_since(collection, (RunId(run), Some(url)), LinkFilter::default(), rows, |row| {
        let words = row.now.as_ref().or(row.before.as_ref()).map(|values| values.anchor.clone());
        let words = words.unwrap_or_default();
        let change = match row.change {
            LinkChange::New => "new",
            LinkChange::Lost => "lost",
            LinkChange::Changed => "changed",
        };
        out.push(LinkNews { change, url: row.url.clone(), kind: row.kind, words });
        ControlFlow::Continue(())
    })?;
    Ok(out)
}

fn facts(shown: &ShownPage) -> Vec<(&'static str, String)> {
    let page = &shown.page;
    let text = |value: &Option<String>| value.clone();
    let said = shown.document.clone().unwrap_or_default();
    let size = said.width.zip(said.height).map(|(width, height)| format!("{width} × {height} pixels"));
    let facts = [
        ("Status", page.status.map(|status| status.to_string())),
        ("Type", text(&page.mime)),
        ("Language", text(&page.lang)),
        ("Encoding", text(&page.charset)),
        ("Length", page.length.map(bytes)),
        ("Author", said.author),
        ("Made", said.created),
        ("Changed", said.modified),
        ("Pages", said.pages.map(|pages| grouped(pages.into()))),
        ("Picture", size),
        ("Depth", Some(page.depth.to_string())),
        ("Read", page.fetched_at.as_deref().map(minute)),
        ("Read by", text(&page.fetched_by)),
        ("Took", page.elapsed_ms.map(|ms| format!("{} ms", grouped(ms.into())))),
        ("Found", Some(minute(&page.discovered_at))),
        ("Found by", text(&page.discovered_by)),
        ("Changes", Some(format!("{} in {} visits", page.changes, page.visits))),
        ("Due again", page.next_due.as_deref().map(minute)),
        ("Last modified", text(&page.last_modified)),
        ("ETag", text(&page.etag)),
        ("sha256", text(&page.digest)),
        ("Archived in", text(&page.warc_file)),
        ("Not fetched", text(&page.why)),
        ("Problem", text(&page.problem)),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn versions<'a>(shown: &'a ShownPage) -> Vec<VersionLine<'a>> {
    let line = |visit: &'a VisitRow| {
        let VisitRow { run, flag, at, status, digest, length, problem, warc_file, around, .. } = visit;
        VersionLine {
            run: *run,
            flag,
            when: minute(at),
            status: status.map(|status| status.to_string()).unwrap_or_default(),
            length: bytes(*length),
            digest: digest.as_deref().and_then(|digest| digest.get(..12)).unwrap_or_default(),
            problem: problem.as_deref().or(around.as_deref()).unwrap_or_default(),
            has_content: warc_file.is_some(),
        }
    };
    shown.visits.iter().map(line).collect()
}

fn ranks(merit: &Merit) -> Vec<(&'static str, String)> {
    vec![
        ("PageRank", measure(merit.pagerank)),
        ("Authority", measure(merit.authority)),
        ("Hub", measure(merit.hub)),
        ("Harmonic centrality", format!("{:.1}", merit.harmonic)),
        ("Pages that link to it", grouped(merit.indegree.into())),
        ("Pages it links to", grouped(merit.outdegree.into())),
    ]
}

/// The links of one direction, of which one more than is shown was asked for.
fn cards<'a>(
    request: &AdmittedRequest,
    links: &'a [LinkRow],
    (field, offset): (&str, u64),
    note: Option<&'a str>,
) -> LinkCards<'a> {
    let other = |link: &LinkRow| if field == "in" { link.src } else { link.dst };
    let line = |link: &'a LinkRow| LinkLine {
        id: other(link),
        url: &link.url,
        words: &link.anchor,
        kind: &link.kind,
        count: link.count,
        lost: link.last_run,
    };
    let at = |offset: u64| {
        let text = offset.to_string();
        request.here_with(&[(field, (offset > 0).then_some(text.as_str()))])
    };
    let (heading, empty) = match field {
        "in" if note.is_some() => ("Links to it", "None are known."),
        "in" => ("Links to it", "No page of the collection links to it."),
        _ => ("Links on it", "It links nowhere."),
    };
    LinkCards {
        heading,
        empty,
        rows: links.iter().take(LINKS as usize).map(line).collect(),
        note,
        before: (offset > 0).then(|| at(offset.saturating_sub(LINKS))),
        after: (links.len() as u64 > LINKS).then(|| at(offset + LINKS)),
    }
}

fn images<'a>(shown: &'a ShownPage) -> Vec<ImageLine<'a>> {
    let line = |image: &'a ImageRow| {
        let ImageRow { url, alt, width, height, .. } = image;
        let size = width.zip(*height).map(|(width, height)| format!("{width} × {height}"));
        ImageLine {
            url,
            original: outward(url),
            alt: alt.as_deref().unwrap_or_default(),
            size: size.unwrap_or_default(),
        }
    };
    shown.images.iter().map(line).collect()
}
