//! Which pages does a sitemap list?
//!
//! `<urlset>` and `<sitemapindex>` of sitemaps.org, with the image and translation extensions. A
//! sitemap listed in an index has `rel` `sitemap`; the anchor text of an entry is its `lastmod`, if
//! present. Plain-text sitemaps are read by [`crate::text`], compressed ones by [`crate::gzip`].

use crate::gather::{Gather, MAX_TARGET};
use crate::html::name::Attr;
use crate::xml::{Event, local, note_entities, walk};
use crate::{Extract, TypedContent};
use orb_page::LinkKind;

/// Maximum length of a date in characters.
const MAX_DATE: usize = 40;

/// Extracts sitemaps and sitemap indexes.
#[derive(Debug)]
pub(crate) struct SitemapExtractor;

impl Extract for SitemapExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        matches!(source.root(), Some(b"urlset" | b"sitemapindex"))
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let text = source.text(found);
        note_entities(&text, found);
        let rel = if source.root() == Some(b"sitemapindex") { "sitemap" } else { "" };
        let mut open: Option<(LinkKind, usize, String)> = None;
        // The current entry and its last modification.
        let (mut entry, mut changed) = (None, None::<String>);
        walk(&text, |event, attrs| match event {
            Event::Start(name, at) if local(name) == "loc" => {
                let kind = if name.starts_with("image:") { LinkKind::Img } else { LinkKind::Sitemap };
                open = Some((kind, at, String::new()));
            }
            Event::Start(name, _) if local(name) == "lastmod" => changed = Some(String::new()),
            Event::Start(name, at) if local(name) == "link" => {
                if let Some(target) = attrs.get(Attr::Href)
                    && let Some(link) = found.link(LinkKind::Link, &target, at)
                {
                    link.rel = attrs.tokens(Attr::Rel);
                }
            }
            Event::Text(text) => {
                if let Some((_, _, target)) = &mut open
                    && target.len() <= MAX_TARGET
                {
                    target.push_str(&text);
                } else if let Some(changed) = changed.as_mut().filter(|changed| changed.len() < MAX_DATE) {
                    changed.push_str(&text);
                }
            }
            Event::End(name) if local(name) == "lastmod" => {
                let link = entry.and_then(|at: usize| found.doc.links.get_mut(at));
                if let (Some(link), Some(changed)) = (link, changed.take()) {
                    link.anchor = changed.trim().chars().take(MAX_DATE).collect();
                }
            }
            Event::End(name) if matches!(local(name), "url" | "sitemap") => entry = None,
            Event::End(name) if local(name) == "loc" => {
                if let Some((kind, at, target)) = open.take()
                    && let Some(link) = found.link(kind, &target, at)
                    && kind == LinkKind::Sitemap
                {
                    link.rel = rel.to_owned();
                    entry = Some(found.doc.links.len() - 1);
                }
            }
            _ => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};

    fn links(xml: &str) -> Vec<(&'static str, String, String)> {
        let doc = extract(&Content { bytes: xml.as_bytes(), mime: Some("text/xml"), charset: None, url: "" });
        doc.links.into_iter().map(|l| (l.kind.name(), l.target, l.rel)).collect()
    }

    #[test]
    fn a_sitemap_in_utf_16_is_one() {
        let xml =
            "\u{feff}<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://a.example/ü</loc></url></urlset>";
        let bytes: Vec<u8> = xml.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let doc = extract(&Content { bytes: &bytes, mime: Some("text/xml"), charset: None, url: "" });
        assert_eq!(doc.links.iter().map(|link| link.target.as_str()).collect::<Vec<_>>(), ["http://a.example/ü"]);
        assert_eq!(doc.charset.as_deref(), Some("UTF-16LE"));
    }

    #[test]
    fn every_entry_is_a_link() {
        let xml = "<?xml version='1.0' encoding='UTF-8'?><!-- c --><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
            <url><loc>\n http://a.example/?x=1&amp;y=2 </loc><lastmod>2020-01-01</lastmod>\
            <image:image><image:loc>http://a.example/i.png</image:loc></image:image>\
            <xhtml:link rel='alternate' hreflang='de' href='http://a.example/de'/></url>\
            <url><loc><![CDATA[http://a.example/<b>]]></loc></url><url><loc>http://a.example/unfinished</urlset>";
        let found = links(xml);
        assert_eq!(found.len(), 4);
        assert_eq!(found[0], ("sitemap", "http://a.example/?x=1&y=2".into(), String::new()));
        assert_eq!(found[1], ("img", "http://a.example/i.png".into(), String::new()));
        assert_eq!(found[2], ("link", "http://a.example/de".into(), "alternate".into()));
        assert_eq!(found[3].1, "http://a.example/<b>");
        let doc = extract(&Content { bytes: xml.as_bytes(), mime: Some("text/xml"), charset: None, url: "" });
        let words: Vec<&str> = doc.links.iter().map(|link| link.anchor.as_str()).collect();
        assert_eq!(words, ["2020-01-01", "", "", ""]);
    }

    #[test]
    fn an_index_names_sitemaps() {
        let xml = "<sm:sitemapindex xmlns:sm='x'><sm:sitemap><sm:loc>http://a.example/s.xml</sm:loc></sm:sitemap></sm:sitemapindex>";
        assert_eq!(links(xml), [("sitemap", "http://a.example/s.xml".into(), "sitemap".into())]);
    }
}
