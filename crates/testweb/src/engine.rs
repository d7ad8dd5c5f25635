//! What would a search engine answer?
//!
//! A small engine over a list of pages: the pages that contain every word, some to a page, as HTML,
//! JSON or RSS. Its own pages link to each other, as those of real ones do.

use std::fmt::Write as _;

/// Results on one page of an answer.
const A_PAGE: usize = 3;

/// A search engine over these pages: URL and text of each.
#[derive(Clone, Debug)]
pub struct SearchEngine {
    pages: Vec<(String, String)>,
}

impl SearchEngine {
    /// An engine that knows these pages.
    pub fn new(pages: &[(&str, &str)]) -> Self {
        let owned = pages.iter().map(|(url, text)| ((*url).to_owned(), (*text).to_owned()));
        Self { pages: owned.collect() }
    }

    /// Media type and body of the answer to `/search?q=…&page=…&format=html|json|rss`; `None` for
    /// anything else.
    pub fn answer(&self, target: &str) -> Option<(&'static str, String)> {
        let query = target.strip_prefix("/search?")?;
        let field = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next_back()
        };
        let (words, page) =
            (field("q").unwrap_or_default(), field("page").and_then(|page| page.parse().ok()).unwrap_or(1));
        let wanted: Vec<&str> = words.split('+').filter(|word| !word.is_empty()).collect();
        let fits = |text: &str| !wanted.is_empty() && wanted.iter().all(|word| text.contains(word));
        let found = self.pages.iter().filter(|(_, text)| fits(text)).skip((page - 1) * A_PAGE).take(A_PAGE);
        let found: Vec<&(String, String)> = found.collect();
        Some(match field("format").as_deref() {
            Some("json") => ("application/json", json(&found)),
            Some("rss") => ("application/rss+xml", rss(&found)),
            _ => ("text/html; charset=utf-8", html(&found, &words, page)),
        })
    }
}

fn html(found: &[&(String, String)], words: &str, page: usize) -> String {
    let mut out = String::from(
        "<!doctype html><title>Search</title><nav><a href=/about>About</a> <a href=/ads>Ads</a></nav><ol class=results>",
    );
    for (url, text) in found {
        let _ = write!(out, "<li><a href=\"{url}\">{text}</a></li>");
    }
    let _ = write!(out, "</ol><a href=\"/search?q={words}&amp;page={}\">More</a>", page + 1);
    out
}

fn json(found: &[&(String, String)]) -> String {
    let rows = found.iter().map(|(url, text)| format!("{{\"url\":\"{url}\",\"title\":\"{text}\",\"engine\":\"own\"}}"));
    format!("{{\"query\":\"x\",\"results\":[{}]}}", rows.collect::<Vec<_>>().join(","))
}

fn rss(found: &[&(String, String)]) -> String {
    let rows = found.iter().map(|(url, text)| format!("<item><title>{text}</title><link>{url}</link></item>"));
    format!(
        "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Search</title>{}</channel></rss>",
        rows.collect::<String>()
    )
}
