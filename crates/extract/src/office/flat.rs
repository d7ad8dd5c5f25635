//! What does a Word document say that is a single XML file?
//!
//! Word 2003 wrote a document into one file, and later versions can write what else is a zip file
//! into one, part by part. The elements of the text are those of a zip file, but for a few names;
//! pictures and objects stand between them as text, and are passed over.

use super::OfficeReading;
use super::docx;
use super::properties;
use super::relations::Relations;
use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::package::{ZipPackage, decode_xml};
use crate::sniff::{WORD_PARTS_XML, WORD_XML};
use crate::{Extract, TypedContent};

/// Where the properties begin, and where they end.
const PROPERTIES: [(&str, &str); 2] =
    [("<o:DocumentProperties", "</o:DocumentProperties>"), ("<cp:coreProperties", "</cp:coreProperties>")];

/// Extracts Word documents in a single XML file.
#[derive(Debug)]
pub(crate) struct FlatWordExtractor;

impl Extract for FlatWordExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        matches!(source.mime, WORD_XML | WORD_PARTS_XML)
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let xml = decode_xml(source.bytes.to_vec());
        for (start, end) in PROPERTIES {
            properties(between(&xml, start, end).unwrap_or(""), found);
        }
        let flow = TextFlow::new(found, xml.len() / 8);
        let mut reading = OfficeReading { package: ZipPackage::open(&[]), flow, sound: true };
        docx::read_flat(&mut reading, &xml, &Relations::of_flat(&xml));
        if !reading.sound {
            reading.flow.found.problem("xml-broken", "a part of the document is not well-formed XML");
        }
        reading.flow.finish();
    }
}

fn between<'x>(xml: &'x str, start: &str, end: &str) -> Option<&'x str> {
    let from = memchr::memmem::find(xml.as_bytes(), start.as_bytes())?;
    let rest = xml.get(from..)?;
    rest.get(..memchr::memmem::find(rest.as_bytes(), end.as_bytes())? + end.len())
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(xml: &str) -> Document {
        extract(&Content { bytes: xml.as_bytes(), mime: Some("application/xml"), charset: None, url: "" })
    }

    #[test]
    fn a_document_of_word_2003_is_read_without_its_pictures() {
        let doc = read(
            "<?xml version='1.0'?><?mso-application progid=\"Word.Document\"?>\
            <w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml'>\
            <o:DocumentProperties><o:Title>Report</o:Title><o:Author>Ann</o:Author><o:Pages>3</o:Pages>\
            <o:Created>2016-04-27T17:49:00Z</o:Created></o:DocumentProperties><w:fonts><w:t>no</w:t></w:fonts>\
            <w:styles><w:style w:styleId='H'><w:name w:val='heading 1'/></w:style></w:styles>\
            <w:body><w:p><w:pPr><w:pStyle w:val='H'/></w:pPr><w:r><w:t>Top</w:t></w:r></w:p>\
            <w:p><w:r><w:t>See </w:t></w:r><w:hlink w:dest='http://a.example/' w:bookmark='x'><w:r><w:t>there</w:t></w:r>\
            </w:hlink><w:pict><w:binData w:name='a'>AAAABBBB</w:binData></w:pict></w:p></w:body></w:wordDocument>",
        );
        assert_eq!((doc.mime.as_str(), doc.text.as_str()), ("application/vnd.ms-wordml", "Top\nSee there"));
        assert_eq!((doc.links[0].target.as_str(), doc.links[0].anchor.as_str()), ("http://a.example/#x", "there"));
        assert_eq!((doc.title.as_deref(), doc.author.as_deref()), (Some("Report"), Some("Ann")));
        assert_eq!((doc.created.as_deref(), doc.page_count), (Some("2016-04-27T17:49:00Z"), Some(3)));
        assert_eq!((doc.headings[0].level, doc.headings[0].text.as_str()), (1, "Top"));
    }

    #[test]
    fn a_package_in_one_file_is_read_like_one_in_a_zip_file() {
        let doc = read(
            "<?xml version='1.0'?><?mso-application progid=\"Word.Document\"?><pkg:package>\
            <pkg:part pkg:name='/_rels/.rels'><Relationships><Relationship Id='r1' Type='x/hyperlink' \
            Target='http://wrong.example/' TargetMode='External'/></Relationships></pkg:part>\
            <pkg:part pkg:name='/word/_rels/document.xml.rels'><Relationships><Relationship Id='r1' \
            Type='x/hyperlink' Target='http://a.example/' TargetMode='External'/></Relationships></pkg:part>\
            <pkg:part pkg:name='/word/document.xml'><w:document><w:p><w:hyperlink r:id='r1'><w:r><w:t>one</w:t></w:r>\
            </w:hyperlink></w:p></w:document></pkg:part><pkg:part pkg:name='/word/media/a.png'>\
            <pkg:binaryData>iVBORw0K</pkg:binaryData></pkg:part><pkg:part pkg:name='/docProps/core.xml'>\
            <cp:coreProperties><dc:title>A title</dc:title></cp:coreProperties></pkg:part></pkg:package>",
        );
        assert_eq!((doc.mime.as_str(), doc.text.as_str()), ("application/vnd.ms-word2006ml", "one"));
        assert_eq!((doc.title.as_deref(), doc.links[0].target.as_str()), (Some("A title"), "http://a.example/"));
        assert_eq!(doc.links.len(), 1);
    }
}
