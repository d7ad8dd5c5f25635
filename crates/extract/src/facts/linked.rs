//! What does a page's JSON-LD say about it?
//!
//! JSON-LD is written by templates: it may describe the site, the pages that are linked, or another
//! page altogether. Only descriptions of articles and pages count, and only if their headline has
//! words in common with the page's own title. What they say is a claim, to be compared with the
//! text by its users.

use crate::html::hints::Declared;
use crate::prose::folded;
use serde_json::Value;

/// Maximum number of values that are visited.
const MOST_VALUES: usize = 5_000;
/// Maximum length of a claim in characters.
const LONGEST: usize = 300;

/// What JSON-LD claims about a page, as written.
#[derive(Debug, Default)]
pub(super) struct Claims {
    pub(super) headline: Option<String>,
    pub(super) authors: Vec<String>,
    pub(super) published: Option<String>,
    pub(super) modified: Option<String>,
    pub(super) site: Option<String>,
}

/// The claims of all scripts. `is_about` tells whether a headline may be that of the page.
pub(super) fn claims(declared: &Declared<'_>, is_about: impl Fn(&str) -> bool) -> Claims {
    let parsed: Vec<Value> = declared.scripts.iter().filter_map(|text| parse(text)).collect();
    let mut found: Vec<&Value> = Vec::new();
    let mut waiting: Vec<&Value> = parsed.iter().rev().collect();
    let mut left = MOST_VALUES;
    while let Some(value) = waiting.pop().filter(|_| left > 0) {
        left -= 1;
        match value {
            Value::Array(items) => waiting.extend(items.iter().rev()),
            Value::Object(fields) => {
                if rank(value) > 0 {
                    found.push(value);
                }
                let nested = ["@graph", "mainEntity", "mainEntityOfPage"].into_iter().filter_map(|key| fields.get(key));
                waiting.extend(nested);
            }
            _ => {}
        }
    }
    found.sort_by_key(|node| std::cmp::Reverse(rank(node)));
    let mut out = Claims::default();
    for node in found {
        let headline = text(&node["headline"]).or_else(|| text(&node["name"]));
        if headline.as_deref().is_none_or(&is_about) {
            out.take(node, headline);
        }
    }
    out
}

impl Claims {
    /// Adds what is not known yet.
    fn take(&mut self, node: &Value, headline: Option<String>) {
        self.headline = self.headline.take().or(headline);
        if self.authors.is_empty() {
            self.authors = names(&node["author"]);
        }
        self.published = self.published.take().or_else(|| text(&node["datePublished"]));
        self.modified = self.modified.take().or_else(|| text(&node["dateModified"]));
        self.site = self.site.take().or_else(|| names(&node["publisher"]).into_iter().next());
    }
}

/// Parses JSON, with the comment or CDATA marks around it that some pages write.
fn parse(text: &str) -> Option<Value> {
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?;
    let text = text.get(start..=end)?;
    // Line breaks inside strings are no JSON, and frequent.
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&text.replace(['\n', '\r', '\t'], " "))).ok()
}

/// How likely a description is that of the page: 2 for an article, 1 for a page, 0 for others.
fn rank(node: &Value) -> u8 {
    let of = |kind: &str| match kind {
        _ if kind.ends_with("Article") || kind.ends_with("Posting") => 2,
        "Report" | "Recipe" | "Review" | "HowTo" | "QAPage" | "FAQPage" => 2,
        _ if kind.ends_with("Page") => 1,
        _ => 0,
    };
    match &node["@type"] {
        Value::String(kind) => of(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).map(of).max().unwrap_or(0),
        _ => 0,
    }
}

fn text(value: &Value) -> Option<String> {
    let text = folded(value.as_str()?, LONGEST);
    (!text.is_empty()).then_some(text)
}

/// The names of a person or organisation, or of several.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::String(_) => text(value).into_iter().collect(),
        Value::Object(fields) => fields.get("name").map(names).unwrap_or_default(),
        Value::Array(items) => items.iter().take(10).filter(|item| !item.is_array()).flat_map(names).collect(),
        _ => Vec::new(),
    }
}
