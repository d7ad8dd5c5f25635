//! What does a mail of Outlook say?
//!
//! A compound file with a stream for each property, named by the number and type of the property
//! ([MS-OXMSG]). Attachments are directories of the same kind: they are named, and read if they are
//! documents or mails.

use super::packed::{unpacked, wrapped_links};
use super::{code_page, utf16};
use crate::compound::CompoundFile;
use crate::flow::TextFlow;
use crate::gather::{Gather, MAX_LINKS};
use crate::mail::write_page;
use crate::nested;
use crate::package::u32_at;
use crate::prose::folded_literal;
use crate::sniff::OUTLOOK;
use crate::stamp::windows_time;
use crate::{Content, Extract, TypedContent, extract};
use encoding_rs::WINDOWS_1252;
use orb_page::LinkKind;

/// Maximum length of a subject or name in characters.
const MAX_FIELD: usize = 1_000;
/// Maximum number of attachments that are named, and of people.
const MAX_ATTACHMENTS: usize = 1_000;
const MAX_PEOPLE: usize = 1_000;

const SUBJECT: &str = "0037";
const SENDER: &str = "0C1A";
const SENDER_ADDRESS: &str = "5D01";
/// Where a mail was sent to: names as they are shown, and the addresses of one of the people.
const RECIPIENTS: &str = "0E04";
const COPIES: &str = "0E03";
const ADDRESSES: [&str; 2] = ["39FE", "3003"];
const BODY: &str = "1000";
const PAGE: &str = "1013";
const RICH: &str = "1009";
const FILE_NAME: &str = "3707";
const SHORT_FILE_NAME: &str = "3704";
const CONTENT: &str = "3701";

/// Extracts mails of Outlook.
#[derive(Debug)]
pub(crate) struct OutlookExtractor;

impl Extract for OutlookExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime == OUTLOOK
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        if let Some(file) = CompoundFile::open(source.bytes) {
            Self::read_object(&file, found);
        }
    }
}

impl OutlookExtractor {
    /// Reads a mail in a compound file, or in a directory of one.
    pub(crate) fn read_object(file: &CompoundFile<'_>, found: &mut Gather) {
        let mut flow = TextFlow::new(found, 0);
        read(file, &mut flow);
        flow.finish();
    }
}

fn read(file: &CompoundFile<'_>, flow: &mut TextFlow<'_>) {
    let field =
        |name: &str| property(file, file, name).map(|t| folded_literal(&t, MAX_FIELD)).filter(|t| !t.is_empty());
    if let Some(subject) = field(SUBJECT) {
        flow.heading(1, &subject);
        flow.found.doc.title = Some(subject);
    }
    for name in [SENDER, SENDER_ADDRESS, RECIPIENTS, COPIES] {
        if let Some(people) = field(name) {
            flow.paragraph(&people);
        }
    }
    write_addresses(file, flow);
    flow.found.doc.author = field(SENDER);
    flow.found.doc.created = file.stream("__properties_version1.0").and_then(|p| submitted(&p));
    write_body(file, flow);
    let directories = file.directories();
    let attachments = directories.iter().filter(|(_, name)| name.starts_with("__attach_version1.0"));
    for (directory, _) in attachments.take(MAX_ATTACHMENTS) {
        let place = file.within(*directory);
        let name = property(file, &place, FILE_NAME).or_else(|| property(file, &place, SHORT_FILE_NAME));
        flow.paragraph(&folded_literal(&name.unwrap_or_default(), MAX_FIELD));
        if let Some(bytes) = place.stream(&format!("__substg1.0_{CONTENT}0102")) {
            nested::write_file(&bytes, flow);
        } else if let Some(mail) = place.directory(&format!("__substg1.0_{CONTENT}000D")) {
            nested::write_object(&mail, flow);
        }
    }
}

/// Writes the addresses of those who get the mail. Those of a directory of people are none.
fn write_addresses(file: &CompoundFile<'_>, flow: &mut TextFlow<'_>) {
    let directories = file.directories();
    let people = directories.iter().filter(|(_, name)| name.starts_with("__recip_version1.0"));
    let addresses = people.take(MAX_PEOPLE).filter_map(|(directory, _)| {
        let place = file.within(*directory);
        ADDRESSES.iter().filter_map(|name| property(file, &place, name)).find(|address| address.contains('@'))
    });
    let addresses: Vec<String> = addresses.map(|address| folded_literal(&address, MAX_FIELD)).collect();
    flow.paragraph(&addresses.join(" "));
}

/// Writes the body: the plain one, else the page, else the rich text. Only the last two have links.
fn write_body(file: &CompoundFile<'_>, flow: &mut TextFlow<'_>) {
    let body = property(file, file, BODY).filter(|b| !b.trim().is_empty());
    let page = file.stream(&format!("__substg1.0_{PAGE}0102")).map(|b| String::from_utf8_lossy(&b).into_owned());
    let page = page.or_else(|| property(file, file, PAGE)).unwrap_or_default();
    let rich = || file.stream(&format!("__substg1.0_{RICH}0102")).and_then(|bytes| unpacked(&bytes));
    match (&body, page.is_empty()) {
        (Some(body), _) => flow.paragraph(body),
        (None, false) => return write_page(&page, flow),
        (None, true) => {}
    }
    if !page.is_empty() {
        for link in extract(&Content { bytes: page.as_bytes(), mime: Some("text/html"), charset: None, url: "" }).links
        {
            if link.kind == LinkKind::A {
                flow.link(&link.target, &link.anchor);
            }
        }
    } else if let Some(rich) = rich() {
        let told = extract(&Content { bytes: &rich, mime: Some("application/rtf"), charset: None, url: "" });
        if body.is_none() {
            flow.paragraph(&told.text);
        }
        for link in told.links.iter().filter(|link| link.kind == LinkKind::Document) {
            flow.link(&link.target, &link.anchor);
        }
        wrapped_links(&String::from_utf8_lossy(&rich)).take(MAX_LINKS).for_each(|target| flow.link(target, ""));
    }
}

/// A property of a mail or of an attachment that is text: in UTF-16, or in the code page of the
/// mail.
fn property(file: &CompoundFile<'_>, place: &CompoundFile<'_>, name: &str) -> Option<String> {
    let stream = |kind: &str| place.stream(&format!("__substg1.0_{name}{kind}"));
    if let Some(bytes) = stream("001F") {
        return Some(utf16(&bytes));
    }
    let bytes = stream("001E")?;
    let page = file.stream("__properties_version1.0").and_then(|p| number(&p, 0x3FFD_0003).or(number(&p, 0x3FDE_0003)));
    let encoding = page.and_then(|page| code_page(u32::try_from(page & 0xFFFF).ok()?)).unwrap_or(WINDOWS_1252);
    let text = encoding.decode_without_bom_handling(&bytes).0;
    Some(text.trim_end_matches('\0').to_owned())
}

/// A property that is a number, by its tag.
fn number(properties: &[u8], tag: u32) -> Option<u64> {
    // Behind a header that is shorter in mails that are attached to others.
    let entries = |header: usize| properties.get(header..).unwrap_or_default().chunks_exact(16);
    let entry = entries(32).chain(entries(24)).find(|e| u32_at(e, 0) == Some(tag))?;
    Some(u64::from(u32_at(entry, 8)?) | (u64::from(u32_at(entry, 12)?) << 32))
}

/// When it was sent, else when it arrived.
fn submitted(properties: &[u8]) -> Option<String> {
    number(properties, 0x0039_0040).or(number(properties, 0x0E06_0040)).and_then(windows_time)
}

#[cfg(test)]
mod tests {
    use crate::compound::tests::compound;
    use crate::{Content, extract};

    #[test]
    fn a_mail_of_outlook_is_read_property_by_property() {
        let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let mut properties = vec![0; 32];
        properties.extend(0x0039_0040u32.to_le_bytes());
        properties.extend([0; 4]);
        properties.extend(116_444_736_000_000_000u64.to_le_bytes());
        let bytes = compound(&[
            ("__properties_version1.0", &properties),
            ("__substg1.0_0037001F", &wide("Größe")),
            ("__substg1.0_0C1A001E", b"J\xF6rg"),
            ("__substg1.0_10130102", b"<p>See <a href='http://a.example/'>this</a></p>"),
            ("__recip_version1.0_#00000000/__substg1.0_3001001F", &wide("Ann")),
            ("__recip_version1.0_#00000000/__substg1.0_3003001F", &wide("/O=EXAMPLE/CN=ANN")),
            ("__recip_version1.0_#00000000/__substg1.0_39FE001F", &wide("ann@b.example")),
            ("__recip_version1.0_#00000001/__substg1.0_3003001E", b"bob@c.example"),
        ]);
        let doc = extract(&Content { bytes: &bytes, mime: Some("application/msword"), charset: None, url: "" });
        assert_eq!(doc.mime, "application/vnd.ms-outlook");
        assert_eq!(doc.text, "Größe\nJörg\nann@b.example bob@c.example\nSee this");
        assert_eq!((doc.title.as_deref(), doc.links[0].target.as_str()), (Some("Größe"), "http://a.example/"));
        assert_eq!(doc.created.as_deref(), Some("1970-01-01T00:00:00Z"));
    }
}
