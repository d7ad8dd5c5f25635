//! Which element, which attribute?
//!
//! The two tables of the HTML reader: the element and attribute names it acts upon, each with what
//! the reader must know about it. Names are compared as integers: up to eight lower-case bytes,
//! packed into a `u64` while the scanner passes over them, so recognising a name costs one `match`
//! and no second pass over its bytes. Pure tables, no logic.

/// A name's bytes packed in order, lower case. Names longer than eight bytes have the key [`LONG`].
pub(crate) type NameKey = u64;

/// The key of every name longer than eight bytes. No shorter name has it, since 0xFF never occurs
/// in UTF-8.
pub(crate) const LONG: NameKey = NameKey::MAX;

/// The key of a lower-case name.
pub(crate) const fn key(name: &str) -> NameKey {
    let bytes = name.as_bytes();
    if bytes.len() > 8 {
        return LONG;
    }
    let mut key = 0;
    let mut i = 0;
    while i < bytes.len() {
        key = (key << 8) | bytes[i] as NameKey;
        i += 1;
    }
    key
}

/// Starts and ends a line of its own in the visible text.
pub(crate) const BLOCK: u8 = 1;
/// Separates words in the visible text.
pub(crate) const SPACED: u8 = 2;
/// Breaks out of SVG and MathML (WHATWG 13.2.6.5).
pub(crate) const BREAKOUT: u8 = 4;
/// A void element.
pub(crate) const VOID: u8 = 8;
/// Part of a table: closes an anchor that was opened in another part of it.
pub(crate) const CELL: u8 = 16;

/// Does more than separate words: it links, opens or contains something.
pub(crate) const ACTS: u8 = 32;

macro_rules! tags {
    ($($variant:ident $name:literal $flags:expr,)*) => {
        /// The elements the reader acts upon.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Tag { $($variant,)* Other }

        static FLAGS: &[u8] = &[$($flags,)* 0];

        #[allow(non_upper_case_globals, reason = "named like the variants, so that a match on them is one switch")]
        mod tag_keys { $(pub(super) const $variant: super::NameKey = super::key($name);)* }

        impl Tag {
            /// The element of a key; `name` is consulted only for long names.
            #[allow(unreachable_patterns, reason = "all long names share one key")]
            #[inline]
            pub(crate) fn of(key: NameKey, name: &[u8]) -> Self {
                match key {
                    LONG => Self::of_long(name),
                    $(tag_keys::$variant => Self::$variant,)*
                    _ => Self::Other,
                }
            }

            #[cold]
            fn of_long(name: &[u8]) -> Self {
                const LONG_NAMES: &[(&str, Tag)] = &[$(($name, Tag::$variant),)*];
                LONG_NAMES
                    .iter()
                    .filter(|(n, _)| n.len() > 8)
                    .find(|(n, _)| name.eq_ignore_ascii_case(n.as_bytes()))
                    .map_or(Self::Other, |&(_, tag)| tag)
            }

            /// Its flags.
            pub(crate) fn flags(self) -> u8 { FLAGS.get(self as usize).copied().unwrap_or(0) }
        }
    };
}

tags! {
    A "a" ACTS,
    Address "address" BLOCK,
    Annotation "annotation" 0,
    AnnotationXml "annotation-xml" ACTS,
    Applet "applet" ACTS,
    Area "area" VOID | ACTS,
    Article "article" BLOCK,
    Aside "aside" BLOCK,
    Audio "audio" ACTS,
    B "b" BREAKOUT,
    Base "base" VOID | ACTS,
    Bgsound "bgsound" VOID | ACTS,
    Big "big" BREAKOUT,
    Blockquote "blockquote" BLOCK | BREAKOUT,
    Body "body" BLOCK | BREAKOUT,
    Br "br" BLOCK | BREAKOUT | VOID,
    Button "button" SPACED | ACTS,
    Caption "caption" BLOCK | CELL,
    Center "center" BLOCK | BREAKOUT,
    Code "code" BREAKOUT,
    Col "col" VOID,
    Dd "dd" BLOCK | BREAKOUT,
    Del "del" 0,
    Desc "desc" 0,
    Details "details" BLOCK,
    Dialog "dialog" BLOCK,
    Dir "dir" BLOCK,
    Div "div" BLOCK | BREAKOUT,
    Dl "dl" BLOCK | BREAKOUT,
    Dt "dt" BLOCK | BREAKOUT,
    Em "em" BREAKOUT,
    Embed "embed" BREAKOUT | VOID | ACTS,
    FeImage "feimage" 0,
    Fieldset "fieldset" BLOCK | ACTS,
    Figcaption "figcaption" BLOCK,
    Figure "figure" BLOCK,
    Font "font" 0,
    Footer "footer" BLOCK,
    ForeignObject "foreignobject" 0,
    Form "form" BLOCK | ACTS,
    Frame "frame" VOID | ACTS,
    Frameset "frameset" BLOCK,
    H1 "h1" BLOCK | BREAKOUT | ACTS,
    H2 "h2" BLOCK | BREAKOUT | ACTS,
    H3 "h3" BLOCK | BREAKOUT | ACTS,
    H4 "h4" BLOCK | BREAKOUT | ACTS,
    H5 "h5" BLOCK | BREAKOUT | ACTS,
    H6 "h6" BLOCK | BREAKOUT | ACTS,
    Head "head" BREAKOUT,
    Header "header" BLOCK,
    Hgroup "hgroup" BLOCK,
    Hr "hr" BLOCK | BREAKOUT | VOID,
    Html "html" BLOCK | ACTS,
    I "i" BREAKOUT,
    Iframe "iframe" ACTS,
    Image "image" ACTS,
    Img "img" BREAKOUT | VOID | ACTS,
    Input "input" VOID | ACTS,
    Ins "ins" 0,
    Legend "legend" BLOCK | ACTS,
    Li "li" BLOCK | BREAKOUT,
    Link "link" VOID | ACTS,
    Listing "listing" BLOCK | BREAKOUT,
    Main "main" BLOCK,
    Marquee "marquee" BLOCK,
    Math "math" 0,
    Menu "menu" BLOCK | BREAKOUT,
    Meta "meta" BREAKOUT | VOID | ACTS,
    Mi "mi" 0,
    Mn "mn" 0,
    Mo "mo" 0,
    Ms "ms" 0,
    Mtext "mtext" 0,
    Nav "nav" BLOCK,
    Nobr "nobr" BREAKOUT,
    Noembed "noembed" ACTS,
    Object "object" ACTS,
    Ol "ol" BLOCK | BREAKOUT,
    Optgroup "optgroup" BLOCK | ACTS,
    Choice "option" BLOCK | ACTS,
    P "p" BLOCK | BREAKOUT,
    Param "param" VOID | ACTS,
    Plaintext "plaintext" BLOCK | ACTS,
    Pre "pre" BLOCK | BREAKOUT,
    Q "q" 0,
    Ruby "ruby" BREAKOUT,
    S "s" BREAKOUT,
    Script "script" ACTS,
    Search "search" BLOCK,
    Section "section" BLOCK,
    Select "select" SPACED | ACTS,
    Small "small" BREAKOUT,
    Source "source" VOID | ACTS,
    Span "span" BREAKOUT,
    Strike "strike" BREAKOUT,
    Strong "strong" BREAKOUT,
    Style "style" ACTS,
    Sub "sub" BREAKOUT,
    Summary "summary" BLOCK,
    Sup "sup" BREAKOUT,
    Svg "svg" 0,
    Table "table" BLOCK | BREAKOUT | ACTS,
    Tbody "tbody" BLOCK | CELL,
    Td "td" SPACED | CELL,
    Template "template" ACTS,
    Textarea "textarea" SPACED | ACTS,
    Tfoot "tfoot" BLOCK | CELL,
    Th "th" SPACED | CELL,
    Thead "thead" BLOCK | CELL,
    Title "title" ACTS,
    Tr "tr" BLOCK | CELL,
    Track "track" VOID | ACTS,
    Tt "tt" BREAKOUT,
    U "u" BREAKOUT,
    Ul "ul" BLOCK | BREAKOUT,
    Use "use" 0,
    Var "var" BREAKOUT,
    Video "video" ACTS,
    Wbr "wbr" VOID,
    Xmp "xmp" BLOCK | ACTS,
}

macro_rules! attributes {
    ($($variant:ident $name:literal,)*) => {
        /// The attributes the reader acts upon.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Attr { $($variant,)* }

        #[allow(non_upper_case_globals, reason = "named like the variants, so that a match on them is one switch")]
        mod attr_keys { $(pub(super) const $variant: super::NameKey = super::key($name);)* }

        impl Attr {
            /// Number of attributes: at most 64, since a set of them is a `u64`.
            pub(crate) const COUNT: usize = {
                let count = [$(Self::$variant,)*].len();
                assert!(count <= 64);
                count
            };

            /// The attribute of a key; `name` is consulted only for long names.
            #[allow(unreachable_patterns, reason = "all long names share one key")]
            #[inline]
            pub(crate) fn of(key: NameKey, name: &[u8]) -> Option<Self> {
                match key {
                    LONG => Self::of_long(name),
                    $(attr_keys::$variant => Some(Self::$variant),)*
                    _ => None,
                }
            }

            #[cold]
            fn of_long(name: &[u8]) -> Option<Self> {
                const LONG_NAMES: &[(&str, Attr)] = &[$(($name, Attr::$variant),)*];
                LONG_NAMES
                    .iter()
                    .filter(|(n, _)| n.len() > 8)
                    .find(|(n, _)| name.eq_ignore_ascii_case(n.as_bytes()))
                    .map(|&(_, attr)| attr)
            }

            /// Its bit in a set of attributes.
            pub(crate) const fn bit(self) -> u64 { 1 << self as u8 }
        }
    };
}

attributes! {
    AcceptCharset "accept-charset",
    Action "action",
    Alt "alt",
    Archive "archive",
    As "as",
    Background "background",
    Checked "checked",
    Cite "cite",
    Class "class",
    Code "code",
    Codebase "codebase",
    Color "color",
    Content "content",
    Data "data",
    DataHref "data-href",
    DataLazySrc "data-lazy-src",
    DataLink "data-link",
    DataOriginal "data-original",
    DataSrc "data-src",
    DataSrcset "data-srcset",
    DataUri "data-uri",
    DataUrl "data-url",
    Disabled "disabled",
    Dynsrc "dynsrc",
    Encoding "encoding",
    Enctype "enctype",
    Face "face",
    Form "form",
    Formaction "formaction",
    Formenctype "formenctype",
    Formmethod "formmethod",
    Height "height",
    Href "href",
    HttpEquiv "http-equiv",
    Id "id",
    Imagesrcset "imagesrcset",
    IsPermaLink "ispermalink",
    Lang "lang",
    Longdesc "longdesc",
    Lowsrc "lowsrc",
    Manifest "manifest",
    Method "method",
    Multiple "multiple",
    Name "name",
    Poster "poster",
    Rel "rel",
    Role "role",
    Selected "selected",
    Size "size",
    SpreadsheetHref "ss:href",
    Src "src",
    Srcdoc "srcdoc",
    Srcset "srcset",
    Style "style",
    Title "title",
    Type "type",
    Url "url",
    Value "value",
    Width "width",
    XlinkHref "xlink:href",
    XmlLang "xml:lang",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_by_its_key() {
        for (name, tag) in
            [("a", Tag::A), ("blockquote", Tag::Blockquote), ("noembed", Tag::Noembed), ("x", Tag::Other)]
        {
            assert_eq!(Tag::of(key(name), name.as_bytes()), tag);
        }
        assert_eq!(Attr::of(key("http-equiv"), b"HTTP-Equiv"), Some(Attr::HttpEquiv));
        assert_eq!(Attr::of(key("href"), b"href"), Some(Attr::Href));
        assert_eq!(Attr::of(key("hre"), b"hre"), None);
    }
}
