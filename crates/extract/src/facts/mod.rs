//! Who wrote a page, when, and for whom?
//!
//! Title, author, days of publication and change, site and language, from what the page declares
//! (JSON-LD, `<meta>`, `<time>`) and from the text near its headline. Declarations are written by
//! templates and lie: an author counts if the text names him or two declarations agree, a day only
//! if a calendar has it, and a change only after the publication. Nothing is better than a guess.

mod author;
mod dates;
mod linked;
mod months;

use crate::html::hints::{Declared, SignedText};
use crate::html::outline::Outline;
use crate::main_content::Scene;
use crate::prose::folded;
use linked::Claims;

/// Maximum length of a fact in characters.
const LONGEST: usize = 300;
/// How many blocks around the headline are searched for a day or a name.
const NEAR: usize = 8;
/// How many blocks around it are searched for what the markup calls an author.
const SIGNED: usize = 14;
/// Maximum length of such a block in bytes.
const SHORT: usize = 200;

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
    let published = published(scene, &claims, &near);
    PageFacts {
        title: title(scene, &claims),
        author: author::author(outline, &claims, &near),
        modified: modified(&outline.declared, &claims, published.as_deref()),
        published,
        site_name: meta(&outline.declared, &["og:site_name", "application-name"]).or(claims.site),
        language: language(outline),
    }
}

/// A short block near the headline.
struct NearBlock<'a> {
    text: &'a str,
    is_byline: bool,
    /// Whether it may tell a day: it stands beside the headline, not in the head of the site, in a
    /// list or in a table.
    is_beside: bool,
}

/// The short blocks around the headline, the nearest first, and what the markup calls authors.
struct Surroundings<'a> {
    range: std::ops::Range<usize>,
    blocks: Vec<NearBlock<'a>>,
    signed: Vec<&'a SignedText>,
}

impl<'a> Surroundings<'a> {
    fn of(scene: &'a Scene<'_>) -> Self {
        let Some(headline) = scene.shown_headline() else {
            return Self { range: 0..0, blocks: Vec::new(), signed: Vec::new() };
        };
        let range = headline.saturating_sub(NEAR)..headline + NEAR + 1;
        let order = (1..=NEAR).flat_map(|step| [Some(headline + step), headline.checked_sub(step)]).flatten();
        let known = order.filter(|i| !scene.is_around(*i)).map(|i| NearBlock {
            text: scene.text(i),
            is_byline: scene.is_byline(i),
            is_beside: scene.is_beside(i, headline),
        });
        let signed = scene.outline.declared.signed.iter();
        let is_near = |block: usize| block + SIGNED >= headline && block <= headline + SIGNED;
        let (beside, apart): (Vec<_>, Vec<_>) =
            signed.filter(|s| is_near(s.block) && !scene.is_comment(s.block)).partition(|s| !scene.is_around(s.block));
        Self {
            blocks: known.filter(|block| !block.text.is_empty() && block.text.len() <= SHORT).collect(),
            signed: if beside.is_empty() { apart } else { beside },
            range,
        }
    }
}

fn meta(declared: &Declared<'_>, names: &[&str]) -> Option<String> {
    declared.meta(names).map(|text| folded(text, LONGEST)).filter(|text| !text.is_empty())
}

fn title(scene: &Scene<'_>, claims: &Claims) -> Option<String> {
    let declared = &scene.outline.declared;
    let site = meta(declared, &["og:site_name"]);
    // A heading that repeats the name of the site is its banner.
    let names_manual = |i: &usize| {
        let (text, title) = (scene.text(*i).trim_end_matches(SIGNS), scene.outline.title.as_deref().unwrap_or(""));
        // The headline is only what follows in the title.
        title.to_lowercase().trim_end_matches(')').ends_with(&text.to_lowercase())
    };
    let subject = || scene.subject().filter(|_| scene.headline().as_ref().is_some_and(names_manual));
    let headline = scene.shown_headline().filter(|i| scene.is_title(*i));
    let headline = subject().or(headline).map(|i| scene.text(i));
    let headline =
        headline.map(|text| text.trim_end_matches(SIGNS).to_owned()).filter(|text| Some(text) != site.as_ref());
    let said = || meta(declared, &["og:title"]).or_else(|| claims.headline.clone());
    let title = headline.or_else(said).or_else(|| scene.outline.title.clone());
    title.filter(|t| !t.is_empty()).map(|t| t.chars().take(LONGEST).collect())
}

fn published(scene: &Scene<'_>, claims: &Claims, near: &Surroundings<'_>) -> Option<String> {
    let outline = scene.outline;
    let times = || outline.declared.times.iter().filter(|time| !scene.is_around(time.block));
    let declared = || outline.declared.meta(PUBLISHED).and_then(dates::date);
    let marked = || {
        let is_published = |name: &str| name.to_ascii_lowercase().contains("publish");
        times()
            .find(|time| time.names.iter().any(|name| is_published(name)))
            .and_then(|time| dates::date(time.datetime))
    };
    let beside = || times().filter(|time| near.range.contains(&time.block)).find_map(|time| dates::date(time.datetime));
    let written = || near.blocks.iter().filter(|block| block.is_beside).find_map(|block| dates::date(block.text));
    let apart = || {
        let mut near = outline.declared.times.iter().filter(|time| near.range.contains(&time.block));
        near.find_map(|time| dates::date(time.datetime))
    };
    let named = || dates::in_address(outline.declared.meta(&["og:url"])?);
    let claimed = claims.published.as_deref().and_then(dates::date);
    claimed.or_else(declared).or_else(marked).or_else(beside).or_else(written).or_else(apart).or_else(named)
}

fn modified(declared: &Declared<'_>, claims: &Claims, published: Option<&str>) -> Option<String> {
    let claimed = claims.modified.as_deref().and_then(dates::date);
    let found = claimed.or_else(|| declared.meta(MODIFIED).and_then(dates::date))?;
    // The day decides; times of day may be in different zones.
    let is_later = published.is_none_or(|first| found.get(..10) >= first.get(..10));
    is_later.then_some(found)
}

fn language(outline: &Outline<'_>) -> Option<String> {
    let declared = [Some(outline.declared.lang), outline.declared.meta(&["language", "dc.language", "og:locale"])];
    let declared = declared.into_iter().flatten().find_map(crate::html::language_tag);
    declared.or_else(|| crate::language(&outline.text).map(str::to_owned))
}

#[cfg(test)]
mod tests;
