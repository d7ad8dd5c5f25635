//! How does a page read as Markdown?
//!
//! Made on demand, never on the crawl's way: htmd walks html5ever's tree, which is quadratic in depth and in attributes a tag
//! (100,000 nested elements take it half a minute). Our own scanner looks first, and what would take too long is given as plain
//! text.

use crate::html::name::{Key, Tag, VOID};
use crate::html::scan::{Attributes, Scanner, Token};
use crate::{Content, extract};
use std::ops::Range;

/// The largest page made into Markdown, in bytes.
const MAX_SIZE: usize = 4 << 20;
/// The deepest nesting made into Markdown.
const MAX_DEPTH: u32 = 256;
/// The most attributes of one tag.
const MAX_ATTRIBUTES: u32 = 500;

/// A page as Markdown, or as plain text where that would take too long.
pub fn markdown(html: &str) -> String {
    let converted = is_tame(html).then(|| {
        let converter = htmd::HtmlToMarkdown::builder().skip_tags(vec!["script", "style", "head", "template"]).build();
        converter.convert(html).ok()
    });
    converted.flatten().unwrap_or_else(|| {
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: Some("utf-8"), url: "" };
        extract(&content).text
    })
}

#[derive(Default)]
struct Count(u32);

impl Attributes for Count {
    fn clear(&mut self) {
        self.0 = 0;
    }

    fn attribute(&mut self, _: Key, _: Range<usize>, _: Range<usize>) {
        self.0 += 1;
    }
}

/// Whether a tree of it is built in reasonable time.
fn is_tame(html: &str) -> bool {
    if html.len() > MAX_SIZE {
        return false;
    }
    let mut scanner = Scanner::new(html);
    let (mut attributes, mut depth, mut deepest, mut most) = (Count::default(), 0u32, 0, 0);
    while let Some(token) = scanner.next(&mut attributes) {
        match token {
            Token::Start(tag) => {
                let name = html.as_bytes().get(tag.name).unwrap_or(&[]);
                most = most.max(attributes.0);
                depth += u32::from(nests(Tag::of(tag.key, name)));
                deepest = deepest.max(depth);
            }
            Token::End(tag) => {
                let name = html.as_bytes().get(tag.name).unwrap_or(&[]);
                depth = depth.saturating_sub(u32::from(nests(Tag::of(tag.key, name))));
            }
            _ => {}
        }
    }
    deepest <= MAX_DEPTH && most <= MAX_ATTRIBUTES
}

/// Whether an element stays open until its end tag; others end by themselves.
fn nests(tag: Tag) -> bool {
    let ends_by_itself =
        matches!(tag, Tag::P | Tag::Li | Tag::Dt | Tag::Dd | Tag::Tr | Tag::Td | Tag::Th | Tag::Choice);
    !ends_by_itself && tag.flags() & VOID == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_lists_and_links_become_markdown() {
        let html = "<head><title>t</title></head><h1>A</h1><p>See <a href='b'>b</a>.<script>x()</script><ul><li>c</ul>";
        let made = markdown(html);
        assert!(made.contains("# A") && made.contains("See [b](b)."), "{made}");
        assert!(!made.contains("x()"), "{made}");
    }

    #[test]
    fn what_would_take_too_long_is_given_as_text() {
        let deep = format!("{}x{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
        assert_eq!(markdown(&deep), "x");
        let wide: String = (0..50_000).map(|i| format!(" a{i}")).collect();
        assert_eq!(markdown(&format!("<p{wide}>y")), "y");
    }
}
