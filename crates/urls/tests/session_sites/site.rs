//! What do the links of one generated site look like, with and without its session ids?

use crate::chance::Chance;

const HEX: &str = "0123456789abcdef";
const UPPER_HEX: &str = "0123456789ABCDEF";
const DIGITS: &str = "0123456789";
const SMALL: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const CAPITAL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORDS: &[&str] = &[
    "about",
    "archive",
    "books",
    "catalogue",
    "contact",
    "garden",
    "history",
    "kitchen",
    "letters",
    "music",
    "news",
    "people",
    "pictures",
    "reports",
    "science",
    "shop",
    "sport",
    "travel",
    "weather",
    "workshop",
];

/// How an id is generated.
#[derive(Clone, Copy)]
enum Maker {
    Hex,
    UpperHex,
    Small,
    Capital,
    Mixed,
    Groups,
    Uuid,
    Digits,
}

impl Maker {
    fn draw(self, chance: &mut Chance, length: u64) -> String {
        match self {
            Self::Hex => chance.text(HEX, length.max(16)),
            Self::UpperHex => chance.text(UPPER_HEX, length.max(16)),
            Self::Small => chance.text(SMALL, length),
            Self::Capital => chance.text(CAPITAL, length),
            Self::Mixed => chance.text(MIXED, length),
            Self::Groups => [3, 7, 7].map(|n| chance.text(DIGITS, n)).join("-"),
            Self::Uuid => [8, 4, 4, 4, 12].map(|n| chance.text(HEX, n)).join("-"),
            Self::Digits => format!("{}{}", chance.between(3, 9), chance.text(DIGITS, length.max(17) - 1)),
        }
    }
}

/// Where an id appears.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Query(&'static str),
    Parameter(&'static str),
    First,
    Last,
}

/// An id of the site.
#[derive(Clone, Copy)]
struct Place {
    style: Style,
    maker: Maker,
    length: u64,
}

/// A link, and what it would be without ids.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) url: String,
    pub(crate) identity: String,
}

/// A site.
pub(crate) struct Site {
    number: u64,
    places: Vec<Place>,
    pages: Vec<Page>,
    key: Option<(&'static str, String)>,
    badge: Option<String>,
}

/// The parts of a link other than ids.
struct Page {
    path: String,
    query: Vec<String>,
    /// A static page, whose links have no ids.
    is_static: bool,
    /// It passes on another page's URL in a parameter.
    hands_on: bool,
}

impl Site {
    pub(crate) fn new(number: u64) -> Self {
        let chance = &mut Chance::new(number, 0);
        let (places, count) =
            (places(chance), if chance.percent(15) { chance.between(2, 5) } else { chance.between(6, 40) });
        let hashes = places.first().map_or(Maker::Hex, |place: &Place| place.maker);
        let mut pages: Vec<Page> = (0..count).map(|n| page(chance, n, hashes)).collect();
        // The first two pages are dynamic: with fewer than two generated links, no id can be found.
        for (number, page) in pages.iter_mut().enumerate().take(2).filter(|(_, page)| page.is_static) {
            *page = Page { path: format!("/start/{number}"), query: Vec::new(), is_static: false, hands_on: false };
        }
        let key = chance.percent(30).then(|| {
            let name = chance.one(&["key", "apikey", "client_id", "account", "merchant", "tag", "partner"]);
            (name, chance.text(MIXED, 24))
        });
        Self { number, places, pages, key, badge: None }
    }

    /// The same site with a parameter in all its links that looks like an id in every way but one:
    /// it never changes.
    pub(crate) fn with_badge(self) -> Self {
        let badge = Some(format!("zk={}", Chance::new(self.number, 4_000).text(HEX, 32)));
        Self { badge, ..self }
    }

    /// The ids of a session.
    pub(crate) fn ids(&self, session: u64) -> Vec<String> {
        let draw = |(n, place): (u64, &Place)| {
            place.maker.draw(&mut Chance::new(self.number, 1_000 + session * 10 + n), place.length)
        };
        (0..).zip(&self.places).map(draw).collect()
    }

    /// The links of a page of the site in one session.
    pub(crate) fn session(&self, session: u64) -> Vec<Link> {
        let ids = self.ids(session);
        let chance = &mut Chance::new(self.number, 2_000 + session);
        let campaign = chance.between(0, self.pages.len() as u64 * 2);
        let mut links = Vec::new();
        for (number, page) in (0..).zip(&self.pages) {
            // Between two visits pages may disappear and appear, but never the first two.
            let gone = session == 2 && number >= 2 && Chance::new(self.number, 3_000 + number).percent(10);
            let path = if gone { format!("/new/{}", chance.text(HEX, 40)) } else { page.path.clone() };
            let mut query = page.query.clone();
            if !page.is_static {
                query.extend(self.key.iter().map(|(name, value)| format!("{name}={value}")));
                query.extend(self.badge.clone());
            }
            if number == campaign {
                query.push(format!("utm_id={}", chance.text(MIXED, 20)));
            }
            let ids: &[String] = if page.is_static { &[] } else { &ids };
            links.push(self.link(&path, &query, ids, page.hands_on));
        }
        links
    }

    fn link(&self, path: &str, query: &[String], ids: &[String], hands_on: bool) -> Link {
        let (mut with, mut without) = (path.to_owned(), path.to_owned());
        let (mut query, mut plain) = (query.to_vec(), query.to_vec());
        for (place, id) in self.places.iter().zip(ids) {
            match place.style {
                Style::First => with = format!("/{id}{with}"),
                Style::Last => {
                    with = format!("{with}/{id}");
                    without.push('/');
                }
                Style::Parameter(name) => with = format!("{with};{name}={id}"),
                Style::Query(name) => {
                    let at = id.len() % (query.len() + 1);
                    query.insert(at, format!("{name}={id}"));
                }
            }
        }
        if let (true, Some(id)) = (hands_on, ids.first()) {
            query.push(format!("back=%2Fa%2F{id}%3Fb%3D1"));
            plain.push("back=%2Fa%2F%3Fb%3D1".to_owned());
        }
        let whole = |path: &str, query: &[String]| {
            let sign = if query.is_empty() { "" } else { "?" };
            format!("http://site.example{path}{sign}{}", query.join("&"))
        };
        Link { url: whole(&with, &query), identity: whole(&without, &plain) }
    }
}

fn places(chance: &mut Chance) -> Vec<Place> {
    let styles: &[Style] = match chance.between(0, 9) {
        0..=2 => &[],
        3 => &[Style::Query("x7")],
        4 => &[Style::Query("ticket")],
        5 => &[Style::Parameter("nsid")],
        6 => &[Style::First],
        7 => &[Style::Last],
        8 => &[Style::First, Style::Query("rq")],
        _ => [&[Style::Query("PHPSESSID")][..], &[Style::Parameter("jsessionid")]][chance.between(0, 1) as usize],
    };
    let mut place = |style: &Style| {
        let makers = [
            Maker::Hex,
            Maker::UpperHex,
            Maker::Small,
            Maker::Capital,
            Maker::Mixed,
            Maker::Groups,
            Maker::Uuid,
            Maker::Digits,
        ];
        let maker = makers[chance.between(0, 7) as usize];
        Place { style: *style, maker, length: chance.between(16, 40) }
    };
    styles.iter().map(&mut place).collect()
}

/// A page's own URL, with parts that may be mistaken for an id.
fn page(chance: &mut Chance, number: u64, hashes: Maker) -> Page {
    let word = chance.one(WORDS);
    let hash = hashes.draw(chance, 32);
    let (path, query, is_static) = match chance.between(0, 11) {
        0 => (format!("/{word}/{number}"), vec![], false),
        1 => (format!("/{word}/view"), vec![format!("item={}", chance.between(10_000, 9_999_999_999_999))], false),
        2 => (format!("/{word}/{hash}"), vec![], false),
        3 => (format!("/{word}/{hash}/{number}.html"), vec![], false),
        4 => (format!("/{word}"), vec![format!("page={number}"), format!("h={hash}")], false),
        5 => (format!("/{word}/2024/0{}/1{}", chance.between(1, 9), number % 9), vec![], false),
        6 => (format!("/{word}-{number}-best-of-2024-edition"), vec![], false),
        7 => (format!("/static/{}/app{number}.js", chance.text(HEX, 20)), vec![], true),
        8 => (
            format!("/{word}/{number}/{}", chance.text(DIGITS, 10)),
            vec![format!("lang={}", chance.one(&["de", "en"]))],
            false,
        ),
        9 => (format!("/{word}{number}.html"), vec![], true),
        10 => (format!("/files/3f9a41bd77c0e2a1b5d8/{word}{number}.html"), vec![], false),
        _ => (format!("/{word}/list"), vec![format!("start={}", number * 20), "sort=price".to_owned()], false),
    };
    Page { path, query, is_static, hands_on: chance.percent(8) }
}
