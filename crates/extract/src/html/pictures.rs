//! Which images are on the page?

use super::attributes::Slots;
use super::name::Attr;
use super::reader::HtmlReader;
use super::srcset;
use crate::gather::{MAX_ANCHOR, has_scheme, trim};
use crate::prose::folded;
use orb_page::{Image, LinkKind};

impl<'a> HtmlReader<'a, '_> {
    /// Handles an `<img>`: its sources and its text.
    pub(super) fn picture(&mut self, at: usize, attrs: &Slots<'a>) {
        let alt = attrs.written(Attr::Alt).map(|a| folded(a, MAX_ANCHOR));
        let words = alt.as_deref().unwrap_or_default();
        self.alt_in_anchor(words);
        let shown = shown_source(attrs);
        for attr in [Attr::Src, Attr::DataSrc, Attr::DataLazySrc, Attr::DataOriginal, Attr::Lowsrc, Attr::Dynsrc] {
            if let Some(target) = attrs.get(attr)
                && let Some(link) = self.found.link(LinkKind::Img, &target, at)
            {
                words.clone_into(&mut link.anchor);
            }
        }
        self.candidates(Attr::Srcset, at, attrs);
        self.candidates(Attr::DataSrcset, at, attrs);
        if let Some(src) = shown
            && !self.nested
        {
            let (width, height) = (attrs.pixels(Attr::Width), attrs.pixels(Attr::Height));
            self.found.image(Image { src, alt, width, height });
        }
    }

    /// Handles the image of an `<input type=image>`.
    pub(super) fn input_picture(&mut self, at: usize, attrs: &Slots<'a>) {
        if attrs.has(Attr::Src) && attrs.lower(Attr::Type) == "image" {
            self.picture(at, attrs);
        }
    }
}

/// The source that is meant to be shown: `src`, or the attribute a lazy-loading script will copy
/// into it, in the place of nothing or of a picture in the page itself that is shown meanwhile.
fn shown_source(attrs: &Slots<'_>) -> Option<String> {
    let direct = [Attr::Src, Attr::DataSrc, Attr::DataLazySrc, Attr::DataOriginal].into_iter();
    let direct = direct.filter_map(|a| attrs.get(a)).map(|s| trim(&s).to_owned()).filter(|s| !s.is_empty());
    let (within, mut direct): (Vec<String>, Vec<String>) = direct.partition(|source| has_scheme(source, "data"));
    if !direct.is_empty() {
        return Some(direct.swap_remove(0));
    }
    let set = attrs.get(Attr::Srcset).or_else(|| attrs.get(Attr::DataSrcset));
    let candidate = set.and_then(|set| srcset::candidates(&set).next().map(str::to_owned));
    candidate.or_else(|| within.into_iter().next())
}
