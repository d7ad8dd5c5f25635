//! What does a feed announce?
//!
//! RSS 0.9 to 2.0 and Atom: the entries with their titles, their enclosures, and the links in their
//! descriptions, which are HTML embedded in XML.

use crate::entity::{self, ReferenceContext};
use crate::gather::{Gather, MAX_ANCHOR, trim};
use crate::html::{self, Slots, name::Attr};
use crate::prose::{Prose, folded};
use crate::xml::{Event, local, note_entities, walk};
use crate::{Extract, TypedContent};
use orb_page::LinkKind;

/// How many preceding links are searched for a duplicate of a permalink.
const NEAR: usize = 8;

/// Extracts RSS and Atom.
#[derive(Debug)]
pub(crate) struct FeedExtractor;

impl Extract for FeedExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        let by_name = matches!(source.mime, "application/rss+xml" | "application/atom+xml" | "application/rdf+xml");
        by_name || matches!(source.root(), Some(b"rss" | b"feed" | b"RDF"))
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        note_entities(&text, found);
        let mut reader = FeedReader { prose: Prose::with_room_for(text.len()), ..FeedReader::default() };
        walk(&text, |event, attrs| match event {
            Event::Start(name, at) => reader.start(name, at, attrs, found),
            Event::Text(text) => reader.text.push_str(&text),
            Event::End(name) => reader.end(name, found),
            Event::Instruction(..) => {}
        });
        found.doc.text = reader.prose.finish();
    }
}

#[derive(Debug, Default)]
struct FeedReader {
    prose: Prose,
    /// Characters since the last start tag.
    text: String,
    at: usize,
    /// Whether the element's text is a permalink.
    is_permanent: bool,
    in_image: bool,
    /// Title of the current entry, and the index of its first link.
    title: String,
    first: usize,
}

impl FeedReader {
    fn start(&mut self, name: &str, at: usize, attrs: &Slots<'_>, found: &mut Gather) {
        self.text.clear();
        self.at = at;
        self.is_permanent = true;
        match local(name) {
            "item" | "entry" => {
                self.title.clear();
                self.first = found.doc.links.len();
            }
            "image" => self.in_image = true,
            "link" => {
                if let Some(target) = attrs.get(Attr::Href)
                    && let Some(link) = found.link(LinkKind::Feed, &target, at)
                {
                    link.rel = attrs.tokens(Attr::Rel);
                }
            }
            "guid" => self.is_permanent = attrs.lower(Attr::IsPermaLink) != "false",
            "enclosure" | "content" | "thumbnail" => {
                for attr in [Attr::Url, Attr::Src] {
                    if let Some(target) = attrs.get(attr) {
                        found.link(LinkKind::Media, &target, at);
                    }
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, found: &mut Gather) {
        let text = std::mem::take(&mut self.text);
        match local(name) {
            "title" => self.end_of_title(&text, found),
            "link" | "comments" | "origLink" if !self.in_image => {
                found.link(LinkKind::Feed, &text, self.at);
            }
            "guid" | "id" if self.is_permanent && is_web(&text) => {
                let known = found.doc.links.iter().skip(self.first).rev().take(NEAR).any(|l| l.target == trim(&text));
                if !known {
                    found.link(LinkKind::Feed, &text, self.at);
                }
            }
            "url" | "logo" | "icon" => {
                found.link(LinkKind::Img, &text, self.at);
            }
            "description" | "encoded" | "summary" | "content" => {
                self.prose.line();
                let read = html::fragment(&text, self.at, found);
                self.prose.lines(&read);
            }
            "image" => self.in_image = false,
            "item" | "entry" => {
                let entry = found.doc.links.iter_mut().skip(self.first);
                for link in entry.filter(|l| l.kind == LinkKind::Feed && l.anchor.is_empty()) {
                    link.anchor.clone_from(&self.title);
                }
                self.first = found.doc.links.len();
            }
            _ => {}
        }
    }

    fn end_of_title(&mut self, text: &str, found: &mut Gather) {
        let plain = entity::unescape(text, ReferenceContext::Text);
        if self.in_image {
            return;
        }
        let title = folded(&plain, MAX_ANCHOR);
        self.prose.line();
        self.prose.literal(&title);
        if found.doc.title.is_none() {
            found.doc.title = Some(title.clone());
        }
        self.title = title;
    }
}

fn is_web(text: &str) -> bool {
    trim(text).starts_with("http://") || trim(text).starts_with("https://")
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(xml: &str) -> Document {
        extract(&Content { bytes: xml.as_bytes(), mime: Some("application/xml"), charset: None, url: "" })
    }

    fn links(doc: &Document) -> Vec<(&str, &str, &str)> {
        doc.links.iter().map(|l| (l.kind.name(), l.target.as_str(), l.anchor.as_str())).collect()
    }

    #[test]
    fn rss_entries_have_links_titles_and_descriptions() {
        let doc = read(
            "<rss version='2.0'><channel><title>News</title><link>http://a.example/</link>\
            <image><title>x</title><url>http://a.example/i.png</url><link>http://a.example/</link></image>\
            <item><title>One &amp;amp; only</title><link>http://a.example/1</link><guid>http://a.example/1</guid>\
            <description>&lt;p&gt;See &lt;a href='/2'&gt;two&lt;/a&gt;</description>\
            <enclosure url='http://a.example/1.mp3' length='3'/></item>\
            <item><guid isPermaLink='false'>http://a.example/no</guid><guid>http://a.example/3</guid></item></channel></rss>",
        );
        assert_eq!(doc.title.as_deref(), Some("News"));
        assert_eq!(
            links(&doc),
            [
                ("feed", "http://a.example/", ""),
                ("img", "http://a.example/i.png", ""),
                ("feed", "http://a.example/1", "One & only"),
                ("a", "/2", "two"),
                ("media", "http://a.example/1.mp3", ""),
                ("feed", "http://a.example/3", ""),
            ]
        );
        assert_eq!(doc.text, "News\nOne & only\nSee two");
    }

    #[test]
    fn atom_entries_have_links_with_rel() {
        let doc = read(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>T</title><link rel=' Self  x' href='f.atom'/>\
            <entry><title type='html'>E</title><link href='e.html'/><id>http://a.example/e</id><content type='html'><![CDATA[<b>x</b>]]></content></entry></feed>",
        );
        assert_eq!(links(&doc), [("feed", "f.atom", ""), ("feed", "e.html", "E"), ("feed", "http://a.example/e", "E")]);
        assert_eq!(doc.links[0].rel, "self x");
    }
}
