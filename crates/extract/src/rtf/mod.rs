//! What does a rich text say?
//!
//! RTF 1.9: groups in braces, control words, text in the code page of its font. A group may be a
//! destination, whose text belongs elsewhere: to the font table, the properties, the code of a
//! field. Those that are not known and marked with `\*` are skipped, as the specification asks.

mod fonts;
mod object;
mod reader;
mod tokens;

pub(crate) use fonts::page_of_charset;

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::{Extract, TypedContent};
use reader::RtfReader;

/// Extracts RTF.
#[derive(Debug)]
pub(crate) struct RtfExtractor;

impl Extract for RtfExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        matches!(source.mime, "application/rtf" | "text/rtf" | "text/richtext") || source.bytes.starts_with(b"{\\rtf")
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        found.doc.mime = "application/rtf".to_owned();
        let mut flow = TextFlow::new(found, source.bytes.len() / 2);
        RtfReader::new(source.bytes).run(&mut flow);
        flow.finish();
    }
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(rtf: &[u8]) -> Document {
        extract(&Content { bytes: rtf, mime: Some("application/msword"), charset: None, url: "" })
    }

    #[test]
    fn a_text_is_read_with_its_properties_and_links() {
        let doc = read(
            b"{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Times;}{\\f1\\fcharset204 Arial Cyr;}}{\\colortbl;\\red0;}\
            {\\stylesheet{\\s0 Normal;}{\\s15 heading 2;}}{\\info{\\title A \\'e4 B}{\\author Ann}{\\creatim\\yr2009\\mo3\\dy5\\hr10\\min20}{\\nofpages3}}\
            \\pard\\s15 Head\\par\\pard Caf\\'e9 \\u8364?uro \\f1\\'cc\\'e8\\'f0\\f0 .\\line next\\tab tab\\par\
            {\\field{\\*\\fldinst{ HYPERLINK \"http://a.example/x\" }}{\\fldrslt{\\ul here}}} and on\\par\
            {\\*\\unknown not this}{\\pict\\bin5 }}}}}0102}one\\cell two\\cell\\row {\\footnote note}{\\header top\\par}}",
        );
        assert_eq!(doc.mime, "application/rtf");
        assert_eq!(
            doc.text,
            "Head\nCaf\u{e9} \u{20ac}uro \u{41c}\u{438}\u{440}.\nnext tab\nhere and on\none\ntwo\nnote\ntop"
        );
        assert_eq!(
            (doc.title.as_deref(), doc.author.as_deref(), doc.page_count),
            (Some("A ä B"), Some("Ann"), Some(3))
        );
        assert_eq!(doc.created.as_deref(), Some("2009-03-05T10:20:00"));
        assert_eq!((doc.links[0].target.as_str(), doc.links[0].anchor.as_str()), ("http://a.example/x", "here"));
        assert_eq!((doc.headings[0].level, doc.headings[0].text.as_str()), (2, "Head"));
    }

    #[test]
    fn wide_characters_are_in_two_bytes_or_two_numbers() {
        let doc = read(b"{\\rtf1\\ansi\\ansicpg932\\uc2 \\'83\\'65\\'83X \\u-10179\\'81\\'40\\u-8704\\'81\\'40!}");
        assert_eq!(doc.text, "テス \u{1F600}!");
    }

    #[test]
    fn what_stands_behind_the_document_and_who_made_it_are_no_text() {
        let doc =
            read(b"{\\rtf1{\\info{\\comment StarWriter}{\\vern3200}}\\deftab709 text\\par}\0\xEF\xBF\xBD rubbish");
        assert_eq!(doc.text, "text");
    }

    #[test]
    fn text_without_a_font_of_its_own_is_in_that_of_the_document() {
        let doc = read(
            b"{\\rtf1\\ansi\\ansicpg1252\\deff1{\\fonttbl{\\f0 Times;}{\\f1\\fcharset204 Arial Cyr;}}\\'cc\\'e8\\'f0}",
        );
        assert_eq!(doc.text, "Мир");
    }

    #[test]
    fn a_star_says_something_of_its_group_only_at_its_beginning() {
        assert_eq!(read(b"{\\rtf1 {\\loch\\f2\\*\\cs7\\cf0 seen}{\\*\\cs7 not}}").text, "seen");
    }

    #[test]
    fn what_is_written_twice_is_read_in_unicode() {
        let doc = read(
            b"{\\rtf1{\\info{\\upr{\\title ??}{\\*\\ud{\\title \\u1052?ir}}}}{\\upr{a ?}{\\*\\ud{a \\u1052?}}} b}",
        );
        assert_eq!((doc.title.as_deref(), doc.text.as_str()), (Some("Мir"), "a М b"));
    }

    #[test]
    fn the_text_of_drawings_and_of_what_is_said_of_pictures_is_read_once() {
        let doc = read(
            b"{\\rtf1 on{\\*\\do\\dptxbx{\\dptxbxtext\\pard old\\par}}{\\shp{\\*\\shpinst{\\sp{\\sn gtextUNICODE}{\\sv WordArt}}\
            {\\sp{\\sn fLine}{\\sv 0}}{\\shptxt new\\par}}{\\shprslt{\\*\\do{\\dptxbxtext new\\par}}}}{\\*\\shppict{\\pict\
            {\\*\\picprop{\\sp{\\sn wzDescription}{\\sv A d\\'fcck}}{\\sp{\\sn pib}{\\sv {\\pict 00ff}}}}89504e47}}{\\nonshppict{\\pict 0a}}}",
        );
        assert_eq!(doc.text, "on\nold\nWordArt\nnew\nA dück");
    }

    #[test]
    fn embedded_objects_are_read_behind_the_text() {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let object = |kind: &[u8], file: &[u8]| {
            let counted =
                |bytes: &[u8]| [&u32::try_from(bytes.len()).expect("small").to_le_bytes()[..], bytes].concat();
            hex(&[&[1, 5, 0, 0, 2, 0, 0, 0][..], &counted(kind), &[0; 8], &counted(file)].concat())
        };
        let dragged = b"\x02\0notes.rtf\0C:\\x\0\0\0\x03\0\x02\0\0\0y\0\x0E\0\0\0{\\rtf1 dragged}";
        let inner = object(b"Package\0", dragged);
        let rich = object(b"Any\0", b"{\\rtf1 inside}");
        let doc = read(
            format!("{{\\rtf1 a {{\\object{{\\*\\objdata {inner}}}}}b{{\\object{{\\*\\objdata {rich}}}{{\\result shown}}}}}}")
                .as_bytes(),
        );
        assert_eq!(doc.text, "a bshown\nnotes.rtf\ndragged\ninside");
    }

    #[test]
    fn a_formula_field_says_what_is_in_its_code() {
        let doc = read(b"{\\rtf1 {\\field{\\*\\fldinst EQ \\\\o\\\\ad(\\\\s\\\\up 10(ruby),base)}{\\fldrslt }} on}");
        assert_eq!(doc.text, "ruby base on");
    }

    #[test]
    fn groups_without_end_and_numbers_without_sense_end() {
        read(&b"{".repeat(1_000_000));
        read(&[&b"{\\rtf1 "[..], &b"{".repeat(1_000_000), &b"x}".repeat(1_000_000)].concat());
        assert_eq!(read(b"{\\rtf1 a\\bin4294967295 b}").text, "a");
        assert_eq!(read(b"{\\rtf1 a\\uc-5\\u99999999 b\\u").text.chars().next(), Some('a'));
        read(&[&b"{\\rtf1"[..], &b"{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt ".repeat(50_000)].concat());
    }
}
