//! Where does a word occur?

use crate::problem::Handled;
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::ListSteps;
use crate::view::Frame;
use askama::Template;
use orb_answers::{TextField, Window, WordCount, WordPlace, WordRow, Words, grouped, words};
use std::borrow::Borrow;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/words/{w}",
    Right::Read,
    |request| Box::pin(show(request)),
    "Where a word occurs, or, with * at its end, which words begin so",
)
.for_guests()];

/// Rows on one screen.
const ROWS: u64 = 200;

#[derive(Template)]
#[template(path = "words.html")]
struct WordsPage<'a> {
    frame: Frame,
    p: &'a str,
    word: &'a str,
    note: Option<&'a str>,
    begin: &'a [WordRow],
    counts: Vec<ShownCount>,
    places: Vec<ShownPlaces<'a>>,
    steps: ListSteps,
}

/// How often the word is in one part of pages, in words.
struct ShownCount {
    times: String,
    place: &'static str,
    pages: String,
}

/// Where the word is in one part of a page.
struct ShownPlaces<'a> {
    page: u64,
    url: &'a str,
    field: &'static str,
    positions: String,
}

/// The places on this screen, those of one part of a page in one line.
fn by_page(places: &[WordPlace]) -> Vec<ShownPlaces<'_>> {
    let line = |same: &[WordPlace]| same.iter().map(|place| grouped(place.position.into())).collect::<Vec<_>>();
    let together = places.chunk_by(|a, b| (a.page, a.field) == (b.page, b.field));
    let lines = together.filter_map(|same| same.first().map(|first| (first, line(same).join(" · "))));
    lines
        .map(|(first, positions)| ShownPlaces {
            page: first.page,
            url: &first.url,
            field: part(first.field),
            positions,
        })
        .collect()
}

/// A part of a page as people call it.
fn part(field: impl Borrow<TextField>) -> &'static str {
    match field.borrow() {
        TextField::Title => "title",
        TextField::Headings => "headings",
        TextField::Body => "text",
        TextField::Url => "address",
        TextField::Anchor => "links to it",
        TextField::Around => "menus and footers",
    }
}

fn shown(count: &WordCount) -> ShownCount {
    let counted = |n: u64, what: &str| if n == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(n)) };
    let place = match count.field {
        TextField::Title => "the title of",
        TextField::Headings => "the headings of",
        TextField::Body => "the text of",
        TextField::Url => "the address of",
        TextField::Anchor => "links to",
        TextField::Around => "the menus and footers of",
    };
    ShownCount { times: counted(count.occurrences, "time"), place, pages: counted(count.documents, "page") }
}

async fn show(request: AdmittedRequest) -> Handled {
    let (word, offset) = (request.param("w")?.to_owned(), request.offset()?);
    let window = Window { limit: ROWS + 1, offset };
    let asked = word.clone();
    let (mut found, note) = request.ask(move |collection| words(collection, &asked, window)).await?;
    let cut = |length: usize| length as u64 > ROWS;
    let (has_more, begin, counts, places): (_, &[WordRow], &[WordCount], &[WordPlace]) = match &mut found {
        Words::Beginning(rows) => {
            let has_more = cut(rows.len());
            rows.truncate(ROWS as usize);
            (has_more, rows, &[], &[])
        }
        Words::Whole(whole) => {
            let has_more = cut(whole.places.len());
            whole.places.truncate(ROWS as usize);
            (has_more, &[], &whole.counts, &whole.places)
        }
    };
    let steps = request.around(offset, ROWS, has_more);
    let (frame, p, note) = (request.frame(), request.project()?.name.as_str(), note.as_deref());
    let counts = counts.iter().map(shown).collect();
    let page = WordsPage { frame, p, word: &word, note, begin, counts, places: by_page(places), steps };
    if begin.is_empty() { request.page(&page, &places) } else { request.page(&page, &begin) }
}
