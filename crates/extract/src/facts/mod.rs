//! Who wrote a page, when, and for whom?
//!
//! Title, author, days of publication and change, site and language, from what the page declares
//! (JSON-LD, `<meta>`, `<time>`) and from the text near its headline. Declarations are written by
//! templates and lie: an author counts if the text names him or two declarations agree, a day only
//! if a calendar has it, and a change only after the publication. Nothing is better than a guess.

mod dates;
mod linked;
mod months;

use crate::html::hints::Declared;
use crate::html::outline::Outline;
use crate::main_content::Scene;
use crate::prose::folded;
use linked::Claims;

/// Maximum length of a fact in characters.
const LONGEST: usize = 300;
/// Maximum length of an author's name in characters.
const NAME: usize = 80;
/// How many blocks around the headline are searched for a day or a name.
const NEAR: usize = 8;
/// Maximum length of such a block in bytes.
const SHORT: usize = 200;

/// `<meta>` names of authors.
const AUTHORS: &[&str] =
    &["author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "citation_author"];
/// `<meta>` names of the day of publication.
const PUBLISHED: &[&str] = &[
    "article:published_time",
    "datepublished",
    "date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.created",
    "pubdate",
    "parsely-pub-date",
    "citation_publication_date",
    "og:published_time",
    "sailthru.date",
    "publish-date",
];
/// `<meta>` names of the day of the last change.
const MODIFIED: &[&str] = &[
    "article:modified_time",
    "datemodified",
    "og:updated_time",
    "dcterms.modified",
    "last-modified",
    "dc.date.modified",
];
/// Words before a name in a byline.
const BY: &[&str] = &["by", "von", "par", "por", "di", "da", "door", "av", "af", "text", "autor", "author", "words"];

/// What is known about a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// Its headline, or else its title.
    pub title: Option<String>,
    /// Who wrote it, several separated by commas.
    pub author: Option<String>,
    /// When it was published, in ISO 8601.
    pub published: Option<String>,
    /// When it was last changed, in ISO 8601; never before it was published.
    pub modified: Option<String>,
    /// The site it belongs to.
    pub site_name: Option<String>,
    /// Its language, as declared or, failing that, as detected.
    pub language: Option<String>,
}

/// What links to a heading from behind it.
const SIGNS: [char; 5] = ['¶', '§', '#', '🔗', ' '];

/// The facts of a page.
pub(crate) fn facts(scene: &Scene<'_>) -> PageFacts {
    let outline = scene.outline;
    let claims = linked::claims(&outline.declared, |headline| scene.is_like_title(headline));
    let near = Surroundings::of(scene);
    let published = published(outline, &claims, &near);
    PageFacts {
        title: title(scene, &claims),
        author: author(outline, &claims, &near),
        modified: modified(&outline.declared, &claims, published.as_deref()),
        published,
        site_name: meta(&outline.declared, &["og:site_name", "application-name"]).or(claims.site),
        language: language(outline),
    }
}

/// The short blocks around the headline.
struct Surroundings<'a> {
    range: std::ops::Range<usize>,
    blocks: Vec<(&'a str, bool)>,
}

impl<'a> Surroundings<'a> {
    fn of(scene: &'a Scene<'_>) -> Self {
        let Some(headline) = scene.headline() else { return Self { range: 0..0, blocks: Vec::new() } };
        let range = headline.saturating_sub(NEAR)..headline + NEAR + 1;
        let known = range.clone().filter(|i| *i != headline).map(|i| (scene.text(i), scene.is_byline(i)));
        Self { range, blocks: known.filter(|(text, _)| !text.is_empty() && text.len() <= SHORT).collect() }
    }
}

fn meta(declared: &Declared<'_>, names: &[&str]) -> Option<String> {
    declared.meta(names).map(|text| folded(text, LONGEST)).filter(|text| !text.is_empty())
}

fn title(scene: &Scene<'_>, claims: &Claims) -> Option<String> {
    let declared = &scene.outline.declared;
    let site = meta(declared, &["og:site_name"]);
    // A heading that repeats the name of the site is its banner.
    let headline = scene.headline().filter(|i| scene.is_title(*i)).map(|i| scene.text(i));
    let headline =
        headline.map(|text| text.trim_end_matches(SIGNS).to_owned()).filter(|text| Some(text) != site.as_ref());
    let said = || meta(declared, &["og:title"]).or_else(|| claims.headline.clone());
    let title = headline.or_else(said).or_else(|| scene.outline.title.clone());
    title.filter(|t| !t.is_empty()).map(|t| t.chars().take(LONGEST).collect())
}

fn published(outline: &Outline<'_>, claims: &Claims, near: &Surroundings<'_>) -> Option<String> {
    let declared = || outline.declared.meta(PUBLISHED).and_then(dates::date);
    let marked = || {
        let is_published = |name: &str| name.to_ascii_lowercase().contains("publish");
        let marked = outline.declared.times.iter().find(|time| time.names.iter().any(|name| is_published(name)));
        marked.and_then(|time| dates::date(time.datetime))
    };
    let beside = || {
        let mut times = outline.declared.times.iter().filter(|time| near.range.contains(&time.block));
        times.find_map(|time| dates::date(time.datetime))
    };
    let written = || near.blocks.iter().find_map(|(text, _)| dates::date(text));
    let claimed = claims.published.as_deref().and_then(dates::date);
    claimed.or_else(declared).or_else(marked).or_else(beside).or_else(written)
}

fn modified(declared: &Declared<'_>, claims: &Claims, published: Option<&str>) -> Option<String> {
    let claimed = claims.modified.as_deref().and_then(dates::date);
    let found = claimed.or_else(|| declared.meta(MODIFIED).and_then(dates::date))?;
    // The day decides; times of day may be in different zones.
    let is_later = published.is_none_or(|first| found.get(..10) >= first.get(..10));
    is_later.then_some(found)
}

fn author(outline: &Outline<'_>, claims: &Claims, near: &Surroundings<'_>) -> Option<String> {
    let claimed: Vec<&str> = claims.authors.iter().map(String::as_str).filter(|name| is_name(name)).collect();
    let declared = meta(&outline.declared, AUTHORS).filter(|name| is_name(name));
    let is_said = |name: &str| outline.text.contains(name) || outline.text.contains(&name.to_uppercase());
    let believed: Vec<&str> =
        claimed.iter().copied().filter(|name| is_said(name) || declared.as_deref() == Some(*name)).take(5).collect();
    if !believed.is_empty() {
        return Some(believed.join(", "));
    }
    let signed = || near.blocks.iter().filter(|(_, is_byline)| *is_byline).find_map(|(text, _)| byline(text));
    declared.filter(|name| is_said(name)).or_else(signed)
}

/// Whether a text can be a name: not an address, a number or a sentence.
fn is_name(text: &str) -> bool {
    let words = text.split_whitespace().count();
    (1..=6).contains(&words)
        && text.chars().count() <= NAME
        && text.chars().any(char::is_alphabetic)
        && !text.contains("://")
        && !text.contains(['@', '<', '{', '/'])
        && !text.chars().any(|c| c.is_ascii_digit())
}

/// The name in a byline.
fn byline(text: &str) -> Option<String> {
    let mut rest = text.trim();
    while let Some((first, after)) = rest.split_once([' ', ':']) {
        if !BY.contains(&first.trim_end_matches(':').to_lowercase().as_str()) {
            break;
        }
        rest = after.trim_start_matches([' ', ':']);
    }
    let name = rest.split([',', '|', '·', '•', '–']).next().unwrap_or("").trim();
    let is_capital = name.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_lowercase());
    (is_name(name) && is_capital && name.split_whitespace().count() >= 2).then(|| name.to_owned())
}

fn language(outline: &Outline<'_>) -> Option<String> {
    let declared = [Some(outline.declared.lang), outline.declared.meta(&["language", "dc.language", "og:locale"])];
    let declared = declared.into_iter().flatten().find_map(crate::html::language_tag);
    declared.or_else(|| crate::language(&outline.text).map(str::to_owned))
}

#[cfg(test)]
mod tests;
