//! What does a plain page look like?
//!
//! The bulk of the web: a title, content links in several spellings, prose to fill it up, and, if
//! the spec asks for furniture, everything that surrounds an article on a real page. Benches
//! exercise this path: everything is appended to one buffer, and nothing is allocated.

use crate::chance::{Chance, mixed};
use crate::links::{Plain, parent, targets};
use crate::paper;
use crate::prose;
use crate::reply::{Ask, Reply};
use crate::spec::{Feature, Spec};
use crate::vocabulary;
use crate::words::DIRECTORIES;
use std::cell::RefCell;

thread_local! {
    static TARGETS: RefCell<Vec<Plain>> = const { RefCell::new(Vec::new()) };
}

/// Photographs per host.
pub(crate) const PHOTOGRAPHS: u32 = 8;

/// Bytes of an advertisement's words.
const SLOGAN: usize = 64;

/// How a plain page changes over the epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// It never changes.
    Steady,
    /// Its article is rewritten every this many epochs.
    Renewed(u64),
    /// Its article stays, its advertisement changes.
    Advertised,
}

/// The random seed of this page.
pub(crate) fn key(spec: &Spec, plain: Plain) -> u64 {
    mixed(&[spec.seed, u64::from(plain.host), u64::from(plain.page)])
}

/// The habit of a page.
pub(crate) fn habit(spec: &Spec, plain: Plain) -> Habit {
    if !spec.features.has(Feature::Changes) {
        return Habit::Steady;
    }
    match mixed(&[key(spec, plain), 19]) % 10 {
        0 => Habit::Renewed(1),
        1 => Habit::Renewed(3),
        2 => Habit::Advertised,
        _ => Habit::Steady,
    }
}

/// Since which epoch the article has been as it is at `epoch`.
pub(crate) fn article_since(spec: &Spec, plain: Plain, epoch: u64) -> u64 {
    match habit(spec, plain) {
        Habit::Renewed(period) => epoch - epoch % period,
        Habit::Steady | Habit::Advertised => 0,
    }
}

/// Since which epoch the bytes have been as they are at `epoch`.
fn bytes_since(spec: &Spec, plain: Plain, epoch: u64) -> u64 {
    if habit(spec, plain) == Habit::Advertised { epoch } else { article_since(spec, plain, epoch) }
}

/// Appends a number in decimal.
pub(crate) fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn directory(key: u64) -> &'static str {
    DIRECTORIES[(key % DIRECTORIES.len() as u64) as usize]
}

/// Whether a page's path ends in a slash instead of `.html`.
fn is_folder(key: u64) -> bool {
    key >> 40 & 3 == 0
}

/// Appends the path of a page without its first slash: `essays/river-12.html`, `maps/clock-7/`, or
/// nothing for the home page.
pub(crate) fn write_path(spec: &Spec, plain: Plain, out: &mut Vec<u8>) {
    if plain.page == 0 {
        return;
    }
    let key = key(spec, plain);
    out.extend_from_slice(directory(key).as_bytes());
    out.push(b'/');
    out.extend_from_slice(prose::subject(key).as_bytes());
    out.push(b'-');
    decimal(u64::from(plain.page), out);
    out.extend_from_slice(if is_folder(key) { b"/" } else { b".html" });
}

/// The page with this path on this host.
pub(crate) fn read_path(spec: &Spec, host: u32, path: &str) -> Option<Plain> {
    let inner = path.strip_prefix('/')?;
    if inner.is_empty() {
        return Some(Plain { host, page: 0 });
    }
    let stem = inner.strip_suffix(".html").or_else(|| inner.strip_suffix('/'))?;
    let page = stem.rsplit_once('-')?.1.parse().ok().filter(|page| (1..spec.pages_per_host).contains(page))?;
    let plain = Plain { host, page };
    let mut written = Vec::with_capacity(64);
    write_path(spec, plain, &mut written);
    (written == inner.as_bytes()).then_some(plain)
}

/// One page being written.
struct PageWriter<'a> {
    ask: &'a Ask<'a>,
    spec: &'a Spec,
    plain: Plain,
    key: u64,
    /// Whether the page has a `<base>`, so that relative links begin at the root.
    based: bool,
    furnished: bool,
}

/// Renders the page into the reply.
pub(crate) fn render(ask: &Ask<'_>, plain: Plain, reply: &mut Reply) {
    let spec = ask.scene.web.spec();
    let writer = PageWriter {
        ask,
        spec,
        plain,
        key: key(spec, plain),
        based: spec.features.has(Feature::Markup) && plain.page % 7 == 3,
        furnished: spec.features.has(Feature::Furniture),
    };
    if spec.features.has(Feature::Validators) {
        let since = bytes_since(spec, plain, ask.scene.epoch);
        let tag = mixed(&[writer.key, since, 23]);
        reply.version = Some((tag, since));
        if ask.has(tag) {
            return;
        }
    }
    if is_document(spec, plain) {
        return writer.document(reply);
    }
    let out = &mut reply.body;
    writer.head(out);
    if writer.furnished {
        writer.navigation(out);
    }
    out.extend_from_slice(b"<main>\n<h1>");
    writer.title(plain, out);
    out.extend_from_slice(b"</h1>\n");
    writer.news(out);
    writer.link_list(out);
    writer.foot(&mut reply.scratch);
    writer.fill(reply);
    reply.body.extend_from_slice(&reply.scratch);
}

/// Whether a page is a document. The home page is none.
fn is_document(spec: &Spec, plain: Plain) -> bool {
    spec.documents > 0 && plain.page > 0 && plain.page.is_multiple_of(spec.documents)
}

impl PageWriter<'_> {
    /// The same page as a PDF.
    fn document(&self, reply: &mut Reply) {
        let mut title = Vec::new();
        self.title(self.plain, &mut title);
        let urls: Vec<Vec<u8>> = TARGETS.with_borrow_mut(|list| {
            targets(self.spec, self.plain, list);
            let url = |target: &Plain| {
                let mut url = Vec::new();
                self.origin(target.host, &mut url);
                url.push(b'/');
                write_path(self.spec, *target, &mut url);
                url
            };
            list.iter().map(url).collect()
        });
        reply.mime = "application/pdf";
        let text = prose::padding(self.key, self.spec.page_bytes / 4);
        paper::write(&title, text, &urls, &mut reply.body);
    }

    fn title(&self, plain: Plain, out: &mut Vec<u8>) {
        let key = key(self.spec, plain);
        match (plain.page, self.spec.vocabulary) {
            (0, _) => prose::site_name(key, out),
            (_, true) => vocabulary::title(key, out),
            (_, false) => prose::title(key, out),
        }
    }

    fn head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<!doctype html>\n<html lang=\"");
        out.extend_from_slice(if self.spec.vocabulary { vocabulary::tag(self.key) } else { "en" }.as_bytes());
        out.extend_from_slice(b"\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
        self.title(self.plain, out);
        out.extend_from_slice(b"</title>\n<meta name=\"description\" content=\"A page ");
        prose::gist(self.key, out);
        out.extend_from_slice(b".\">\n");
        if self.based {
            out.extend_from_slice(b"<base href=\"");
            self.origin(self.ask.host, out);
            out.extend_from_slice(b"/\">\n");
        }
        if self.furnished {
            out.extend_from_slice(
                b"<link rel=\"stylesheet\" href=\"/assets/style.css\">\n<link rel=icon href=/assets/dot.gif>\n\
                  <script src=\"/assets/site.js\" defer></script>\n",
            );
        }
        out.extend_from_slice(b"</head>\n<body>\n");
    }

    fn navigation(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<header><a href=\"/\"><img src=\"/assets/logo.svg\" alt=\"Home of ");
        self.title(Plain { page: 0, ..self.plain }, out);
        out.extend_from_slice(b"\" width=\"48\" height=\"48\"></a>\n<nav><ul>\n");
        let last = self.spec.pages_per_host - 1;
        let page = self.plain.page;
        let around = [("Up", parent(self.spec, page)), ("Back", page.saturating_sub(1)), ("On", (page + 1).min(last))];
        for (style, (word, page)) in around.into_iter().enumerate() {
            out.extend_from_slice(b"<li>");
            self.anchor(Plain { page, ..self.plain }, style as u64, out);
            out.extend_from_slice(word.as_bytes());
            out.extend_from_slice(b"</a>\n");
        }
        out.extend_from_slice(b"</ul></nav></header>\n<p class=\"crumbs\"><a href=\"");
        out.extend_from_slice(self.way_up().as_bytes());
        out.extend_from_slice(b"\">Home</a> &rsaquo; ");
        self.title(self.plain, out);
        out.extend_from_slice(b"</p>\n");
    }

    /// The relative path from here to the root of the host.
    fn way_up(&self) -> &'static str {
        match (self.based, self.plain.page, is_folder(self.key)) {
            (true, ..) | (_, 0, _) => "./",
            (_, _, true) => "../../",
            _ => "../",
        }
    }

    /// The advertisement and the note on the edition, on pages that have them.
    fn news(&self, out: &mut Vec<u8>) {
        let epoch = self.ask.scene.epoch;
        match habit(self.spec, self.plain) {
            Habit::Steady => {}
            Habit::Renewed(_) => {
                out.extend_from_slice(b"<p class=\"edition\">Edition ");
                decimal(article_since(self.spec, self.plain, epoch), out);
                out.extend_from_slice(b", ");
                prose::gist(mixed(&[self.key, article_since(self.spec, self.plain, epoch)]), out);
                out.extend_from_slice(b".</p>\n");
            }
            Habit::Advertised => {
                out.extend_from_slice(b"<aside class=\"advertisement\">Buy now: ");
                let end = out.len() + SLOGAN;
                prose::title(mixed(&[self.key, epoch, 29]), out);
                out.push(b'!');
                // Always as long, or the article would be cut elsewhere to make the page as long.
                out.resize(out.len().max(end), b' ');
                out.extend_from_slice(b"</aside>\n");
            }
        }
    }

    fn link_list(&self, out: &mut Vec<u8>) {
        if self.furnished {
            self.figure(out);
        }
        TARGETS.with_borrow_mut(|list| {
            targets(self.spec, self.plain, list);
            out.extend_from_slice(b"<h2>Read on</h2>\n<ul>\n");
            for (n, target) in list.iter().enumerate() {
                let style = mixed(&[self.key, n as u64, 31]) % 20;
                out.extend_from_slice(b"<li>");
                self.anchor(*target, style, out);
                self.title(*target, out);
                out.extend_from_slice(b"</a>\n");
            }
            out.extend_from_slice(b"</ul>\n");
        });
    }

    fn figure(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<figure><img src=\"/assets/photo-");
        decimal(u64::from(self.plain.page % PHOTOGRAPHS), out);
        out.extend_from_slice(b".png\" width=\"8\" height=\"8\" alt=\"A picture of ");
        self.title(self.plain, out);
        out.extend_from_slice(b"\"></figure>\n");
    }

    /// Opens an anchor to another plain page, in one of many spellings.
    fn anchor(&self, to: Plain, style: u64, out: &mut Vec<u8>) {
        let (open, close): (&[u8], &[u8]) = match style {
            17 => (b"<A HREF='", b"'>"),
            18 => (b"<a\n  class=\"more\" href =  \"", b"\" >"),
            19 => (b"<a href=", b">"),
            _ => (b"<a href=\"", b"\">"),
        };
        out.extend_from_slice(open);
        if to.host != self.plain.host || style % 4 == 3 {
            self.origin(to.host, out);
            out.push(b'/');
        } else if style % 4 == 2 {
            out.extend_from_slice(self.way_up().as_bytes());
        } else {
            out.push(b'/');
        }
        write_path(self.spec, to, out);
        if style == 16 {
            out.extend_from_slice(b"#more");
        }
        out.extend_from_slice(close);
    }

    /// Writes the scheme and host in the form in which the page was requested.
    fn origin(&self, host: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.ask.secure { b"https://" } else { b"http://" });
        if host == self.ask.host {
            out.extend_from_slice(self.ask.authority.as_bytes());
        } else {
            let mut name = String::new();
            self.ask.scene.naming.write(host, &mut name);
            out.extend_from_slice(name.as_bytes());
        }
    }

    fn foot(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</main>\n");
        if self.furnished {
            out.extend_from_slice(
                b"<footer><a href=\"mailto:editor@example.test\">Write to us</a> <a href=\"tel:+490000000\">Call</a> \
                  <a href=\"javascript:void(0)\">Print</a> <a href=\"#\">Top</a> \
                  <img src=\"/assets/dot.gif\" alt=\"\" width=\"1\" height=\"1\"></footer>\n",
            );
        }
        if self.plain.page == 0 && self.spec.features.has(Feature::Robots) {
            out.extend_from_slice(b"<p><a href=\"/admin/login.html\">Staff only</a></p>\n");
        }
        if self.plain == (Plain { host: 0, page: 0 }) && self.ask.scene.web.has_corners() {
            out.extend_from_slice(b"<p><a href=\"/corners/\">Corners of this web</a></p>\n");
        }
        out.extend_from_slice(b"</body>\n</html>\n");
    }

    /// Adds paragraphs up to the page's size, minus the footer that is still to come.
    fn fill(&self, reply: &mut Reply) {
        const FRAME: usize = "<p></p>\n".len();
        let since = article_since(self.spec, self.plain, self.ask.scene.epoch);
        let mut chance = Chance::of(&[self.key, since, 37]);
        let mut room = self.spec.page_bytes.saturating_sub(reply.body.len() + reply.scratch.len());
        if self.spec.vocabulary {
            let before = reply.body.len();
            vocabulary::fill(self.key, chance, room, &mut reply.body);
            reply.body.extend(std::iter::repeat_n(b'\n', room.saturating_sub(reply.body.len() - before)));
            return;
        }
        reply.filler.start = reply.body.len();
        loop {
            let number = if room > prose::PASSAGE_ROOM {
                prose::SINGLE + chance.below(prose::STOCK - prose::SINGLE)
            } else {
                chance.below(prose::SINGLE)
            };
            let html = prose::stock(number);
            if html.len() > room {
                break;
            }
            reply.body.extend_from_slice(html);
            reply.filler.pieces.push(number as u16);
            room -= html.len();
        }
        reply.filler.end = reply.body.len();
        if room >= FRAME {
            reply.text("<p>");
            reply.body.extend_from_slice(prose::padding(self.key, room - FRAME));
            reply.text("</p>\n");
        } else {
            reply.body.extend(std::iter::repeat_n(b'\n', room));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostNaming, Web};

    fn body(spec: Spec, path: &str) -> String {
        let web = Web::new(spec).unwrap();
        String::from_utf8(web.get(HostNaming::Names { port: 80 }, 0, path).body).unwrap()
    }

    #[test]
    fn every_path_leads_back_to_its_page() {
        let spec = Spec { pages_per_host: 300, ..Spec::default() };
        for page in 0..300 {
            let mut path = b"/".to_vec();
            let plain = Plain { host: 2, page };
            write_path(&spec, plain, &mut path);
            assert_eq!(read_path(&spec, 2, std::str::from_utf8(&path).unwrap()), Some(plain));
        }
    }

    #[test]
    fn a_path_that_is_no_pages_is_told() {
        let spec = Spec::default();
        for odd in ["", "//", "/a", "/essays/river-1.htm", "/x-99999999999.html", "/essays/-1/", "/é-1.html", "/-.html"]
        {
            assert_eq!(read_path(&spec, 0, odd), None, "{odd}");
        }
    }

    #[test]
    fn a_page_has_exactly_its_size() {
        for page_bytes in [3_000, 3_001, 3_007, 3_008, 20_000] {
            assert_eq!(body(Spec { page_bytes, ..Spec::default() }, "/").len(), page_bytes);
        }
    }

    #[test]
    fn a_page_of_real_texts_has_its_size_and_its_language() {
        for page_bytes in [9_000, 20_000] {
            let page = body(Spec { page_bytes, vocabulary: true, ..Spec::default() }, "/");
            assert_eq!(page.len(), page_bytes);
            assert!(page.split_whitespace().count() > page_bytes / 20 && page.contains("</main>"));
        }
    }

    #[test]
    fn a_renewed_page_changes_and_a_steady_one_does_not() {
        let spec = Spec::default().with(Feature::Changes);
        let web = Web::new(spec.clone()).unwrap();
        let naming = HostNaming::Names { port: 80 };
        for page in 0..20 {
            let plain = Plain { host: 0, page };
            let mut path = b"/".to_vec();
            write_path(&spec, plain, &mut path);
            let path = String::from_utf8(path).unwrap();
            web.set_epoch(0);
            let before = web.get(naming, 0, &path).body;
            web.set_epoch(1);
            let same = web.get(naming, 0, &path).body == before;
            assert_eq!(same, bytes_since(&spec, plain, 1) == 0, "{path}");
        }
    }
}
