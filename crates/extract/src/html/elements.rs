//! Which elements point somewhere?
//!
//! Every HTML attribute that holds a URL, by element, including obsolete ones, since old pages are
//! still online.

use super::attributes::Slots;
use super::name::{Attr, Tag};
use super::reader::{HtmlReader, OpenAnchor};
use super::srcset;
use crate::gather::{Gather, MAX_ANCHOR, has_scheme, trim};
use crate::prose::folded;
use crate::{css, script};
use orb_page::{Link, LinkKind};

/// Attributes that matter on any element.
pub(super) const ANYWHERE: u64 = Attr::Background.bit()
    | Attr::Cite.bit()
    | Attr::DataHref.bit()
    | Attr::DataLink.bit()
    | Attr::DataUri.bit()
    | Attr::DataUrl.bit()
    | Attr::Formaction.bit()
    | Attr::Longdesc.bit()
    | Attr::Style.bit();

impl<'a> HtmlReader<'a, '_> {
    /// Extracts the links of an HTML element.
    #[inline]
    pub(super) fn element(&mut self, tag: Tag, at: usize, attrs: &Slots<'a>) {
        match tag {
            Tag::A => self.anchor(at, attrs),
            Tag::Area => self.area(at, attrs),
            Tag::Img | Tag::Image => self.picture(at, attrs),
            Tag::Input => self.input_picture(at, attrs),
            Tag::Link => self.link_element(at, attrs),
            Tag::Meta => self.meta(at, attrs),
            Tag::Script => self.simple(LinkKind::Script, Attr::Src, at, attrs),
            Tag::Iframe | Tag::Frame => self.frame(at, attrs),
            Tag::Form => self.simple(LinkKind::Form, Attr::Action, at, attrs),
            Tag::Object | Tag::Applet | Tag::Param => self.object(tag, at, attrs),
            Tag::Embed => self.simple(LinkKind::Object, Attr::Src, at, attrs),
            Tag::Audio | Tag::Video | Tag::Track | Tag::Bgsound | Tag::Source => self.media(at, attrs),
            Tag::Base if self.found.doc.base.is_none() && !self.nested => {
                self.found.doc.base = attrs.get(Attr::Href).map(|v| trim(&v).to_owned());
            }
            Tag::Html => self.root(at, attrs),
            Tag::Select => self.is_jump_menu = attrs.handlers().next().is_some(),
            Tag::Choice if self.is_jump_menu => self.target_of_handlers(Attr::Value, at, attrs),
            _ => {}
        }
    }

    /// Extracts the links of an SVG or MathML element.
    pub(super) fn foreign_element(&mut self, tag: Tag, at: usize, attrs: &Slots<'a>) {
        let kind = match tag {
            Tag::A => LinkKind::A,
            Tag::Image | Tag::FeImage | Tag::Use => LinkKind::Img,
            Tag::Script => LinkKind::Script,
            _ => LinkKind::Xml,
        };
        let href = attrs.get(Attr::Href).or_else(|| attrs.get(Attr::XlinkHref));
        if let Some(target) = href.filter(|t| kind == LinkKind::A || !trim(t).starts_with('#')) {
            let index = self.found.doc.links.len();
            let link = self.found.link(kind, &target, at);
            if link.is_some() && tag == Tag::A {
                self.open_anchor(index, attrs);
            }
        }
        if attrs.any_of(ANYWHERE) {
            self.anywhere(at, attrs);
        }
    }

    fn anchor(&mut self, at: usize, attrs: &Slots<'a>) {
        self.close_anchor();
        let Some(target) = attrs.get(Attr::Href) else { return };
        let index = self.found.doc.links.len();
        if let Some(link) = self.found.link_or_self(LinkKind::A, &target, at) {
            describe(link, attrs);
            self.open_anchor(index, attrs);
        }
        if has_scheme(trim(&target), "javascript") {
            handler(self.found, &target, at);
        }
    }

    fn open_anchor(&mut self, link: usize, attrs: &Slots<'a>) {
        self.close_anchor();
        let title = attrs.written(Attr::Title).map_or_else(String::new, |t| folded(t, MAX_ANCHOR));
        self.anchor = Some(OpenAnchor { link, start: self.prose.len(), alts: Vec::new(), title, tables: 0 });
    }

    fn area(&mut self, at: usize, attrs: &Slots<'a>) {
        let Some(target) = attrs.get(Attr::Href) else { return };
        if let Some(link) = self.found.link_or_self(LinkKind::Area, &target, at) {
            describe(link, attrs);
            link.anchor = attrs.written(Attr::Alt).map_or_else(String::new, |t| folded(t, MAX_ANCHOR));
        }
        if has_scheme(trim(&target), "javascript") {
            handler(self.found, &target, at);
        }
    }

    pub(super) fn simple(&mut self, kind: LinkKind, attr: Attr, at: usize, attrs: &Slots<'a>) {
        if let Some(target) = attrs.get(attr) {
            self.found.link(kind, &target, at);
        }
    }

    fn link_element(&mut self, at: usize, attrs: &Slots<'a>) {
        let rel = attrs.tokens(Attr::Rel);
        let kind = kind_of_rel(&rel, &attrs.lower(Attr::As));
        if let (Some(kind), Some(target)) = (kind, attrs.get(Attr::Href)) {
            if kind == LinkKind::Canonical && self.found.doc.canonical.is_none() && !self.nested {
                self.found.doc.canonical = Some(trim(&target).to_owned()).filter(|t| !t.is_empty());
            }
            if let Some(link) = self.found.link(kind, &target, at) {
                link.anchor = attrs.written(Attr::Title).map_or_else(String::new, |t| folded(t, MAX_ANCHOR));
                link.rel = rel;
            }
        }
        self.candidates(Attr::Imagesrcset, at, attrs);
    }

    fn frame(&mut self, at: usize, attrs: &Slots<'a>) {
        let source = attrs.get(Attr::Src).or_else(|| attrs.get(Attr::DataSrc));
        if let Some(target) = source
            && let Some(link) = self.found.link(LinkKind::Frame, &target, at)
        {
            link.anchor = attrs.written(Attr::Title).map_or_else(String::new, |t| folded(t, MAX_ANCHOR));
        }
        if let Some(page) = attrs.get(Attr::Srcdoc).filter(|_| !self.nested) {
            super::fragment(&page, at, self.found);
        }
    }

    fn object(&mut self, tag: Tag, at: usize, attrs: &Slots<'a>) {
        if tag == Tag::Param {
            let holds = matches!(attrs.lower(Attr::Name).as_str(), "movie" | "src" | "url" | "filename" | "data");
            if holds {
                self.simple(LinkKind::Object, Attr::Value, at, attrs);
            }
            return;
        }
        let base = attrs.text(Attr::Codebase);
        let wanted: &[Attr] = if tag == Tag::Applet { &[Attr::Code] } else { &[Attr::Data] };
        for attr in wanted {
            if let Some(target) = attrs.get(*attr) {
                self.found.link(LinkKind::Object, &under(trim(&base), trim(&target)), at);
            }
        }
        for archive in attrs.text(Attr::Archive).split([',', ' ', '\n', '\t']).filter(|a| !a.is_empty()) {
            self.found.link(LinkKind::Object, &under(trim(&base), archive), at);
        }
    }

    fn media(&mut self, at: usize, attrs: &Slots<'a>) {
        self.simple(LinkKind::Media, Attr::Src, at, attrs);
        self.simple(LinkKind::Media, Attr::Poster, at, attrs);
        self.candidates(Attr::Srcset, at, attrs);
        self.candidates(Attr::DataSrcset, at, attrs);
    }

    /// Extracts every image candidate of a `srcset`.
    pub(super) fn candidates(&mut self, attr: Attr, at: usize, attrs: &Slots<'a>) {
        if let Some(set) = attrs.get(attr) {
            for target in srcset::candidates(&set) {
                self.found.link(LinkKind::Img, target, at);
            }
        }
    }

    fn root(&mut self, at: usize, attrs: &Slots<'a>) {
        self.simple(LinkKind::Link, Attr::Manifest, at, attrs);
        if self.found.doc.lang.is_none() && !self.nested {
            self.found.doc.lang =
                attrs.get(Attr::Lang).or_else(|| attrs.get(Attr::XmlLang)).and_then(|v| language_tag(&v));
        }
    }

    /// Extracts the links of attributes that matter on any element.
    #[cold]
    pub(super) fn anywhere(&mut self, at: usize, attrs: &Slots<'a>) {
        self.simple(LinkKind::Img, Attr::Background, at, attrs);
        self.simple(LinkKind::Cite, Attr::Cite, at, attrs);
        self.simple(LinkKind::Cite, Attr::Longdesc, at, attrs);
        self.simple(LinkKind::Form, Attr::Formaction, at, attrs);
        if let Some(style) = attrs.get(Attr::Style).filter(|s| s.contains('(')) {
            css::urls(&style, |target, _| {
                self.found.link(LinkKind::Css, target, at);
            });
        }
        for code in attrs.handlers() {
            handler(self.found, &code, at);
        }
        // Where scripts look for the target of a click.
        for attr in [Attr::DataHref, Attr::DataLink, Attr::DataUri, Attr::DataUrl] {
            self.target_of_handlers(attr, at, attrs);
        }
    }

    /// Extracts what a handler reads from an attribute: the target of a click, or that of a choice
    /// from a menu.
    fn target_of_handlers(&mut self, attr: Attr, at: usize, attrs: &Slots<'a>) {
        if let Some(target) = attrs.get(attr).filter(|target| script::is_target(trim(target))) {
            self.found.link(LinkKind::Handler, &target, at);
        }
    }
}

fn handler(found: &mut Gather, code: &str, at: usize) {
    script::handler_urls(code, |target| {
        found.link(LinkKind::Handler, target, at);
    });
}

fn describe(link: &mut Link, attrs: &Slots<'_>) {
    link.rel = attrs.tokens(Attr::Rel);
}

/// The kind of a `<link>` by its `rel`; `None` if it is a hint about a host (`preconnect`) and not
/// a resource.
fn kind_of_rel(rel: &str, preloaded_as: &str) -> Option<LinkKind> {
    let mut kind = LinkKind::Link;
    for token in rel.split(' ') {
        kind = match token {
            "canonical" => return Some(LinkKind::Canonical),
            "stylesheet" => return Some(LinkKind::Css),
            "icon" | "apple-touch-icon" | "apple-touch-icon-precomposed" | "mask-icon" | "image_src" => LinkKind::Img,
            "preload" | "prefetch" => match preloaded_as {
                "script" => LinkKind::Script,
                "style" | "font" => LinkKind::Css,
                "image" => LinkKind::Img,
                "audio" | "video" | "track" => LinkKind::Media,
                _ => kind,
            },
            "modulepreload" => LinkKind::Script,
            "dns-prefetch" | "preconnect" => return None,
            _ => kind,
        };
    }
    Some(kind)
}

/// Joins a `codebase` and a target textually.
fn under(base: &str, target: &str) -> String {
    let absolute = target.starts_with('/') || target.split(['/', '?', '#']).next().is_some_and(|s| s.contains(':'));
    if base.is_empty() || target.is_empty() || absolute {
        return target.to_owned();
    }
    let slash = if base.ends_with('/') { "" } else { "/" };
    format!("{base}{slash}{target}")
}

/// A declared language, if it is plausible.
pub(crate) fn language_tag(value: &str) -> Option<String> {
    let tag = value.trim();
    let plausible =
        (2..=35).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    plausible.then(|| tag.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(page: &str) -> Document {
        extract(&Content { bytes: page.as_bytes(), mime: Some("text/html"), charset: None, url: "" })
    }

    fn targets(doc: &Document) -> Vec<(&str, &str)> {
        doc.links.iter().map(|link| (link.kind.name(), link.target.as_str())).collect()
    }

    #[test]
    fn menus_that_jump_lead_somewhere() {
        let options = "<option value=''>Go<option value=a.html>A<option value='http://b.example/'>B<option value=red>C";
        let doc = read(&format!(
            "<select onchange='location=this.value'>{options}</select><select name=x>{options}</select>"
        ));
        assert_eq!(targets(&doc), [("onclick", "a.html"), ("onclick", "http://b.example/")]);
    }

    #[test]
    fn pictures_that_scripts_load_later_are_shown() {
        let doc = read(
            "<img src='data:image/gif;base64,R0lGOD' data-lazy-src=a.jpg><img src=wait.gif data-original=b.jpg><img src='data:image/gif;base64,R0'>",
        );
        let shown: Vec<&str> = doc.images.iter().map(|image| image.src.as_str()).collect();
        assert_eq!(shown, ["a.jpg", "wait.gif", "data:image/gif;base64,"]);
        assert_eq!(targets(&doc), [("img", "a.jpg"), ("img", "wait.gif"), ("img", "b.jpg")]);
    }

    #[test]
    fn attributes_for_scripts_are_read_where_they_hold_addresses() {
        let doc = read("<div data-uri=/a></div><div data-url=b.html></div><div data-uri='urn:x'></div>");
        assert_eq!(targets(&doc), [("onclick", "/a"), ("onclick", "b.html")]);
    }
}
