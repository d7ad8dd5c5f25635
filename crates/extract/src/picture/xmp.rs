//! What did an editor write into a picture?
//!
//! XMP is a packet of RDF somewhere in the file, whatever the format of the picture.

use super::{PictureFacts, fill};
use crate::package::{Onward, XmlNode, walk_xml};
use crate::stamp::moment;
use memchr::memmem;

/// The longest packet that is read.
const MAX_PACKET: usize = 1 << 20;
/// How much of a file is searched for its packet.
const MAX_SEARCH: usize = 16 << 20;

/// Reads the first packet of a file.
pub(super) fn read(bytes: &[u8], facts: &mut PictureFacts) {
    let searched = bytes.get(..MAX_SEARCH).unwrap_or(bytes);
    let Some(start) = memmem::find(searched, b"<x:xmpmeta") else { return };
    let packet = bytes.get(start..).unwrap_or(&[]);
    let packet = packet.get(..MAX_PACKET).unwrap_or(packet);
    let Some(end) = memmem::find(packet, b"</x:xmpmeta>") else { return };
    properties(&String::from_utf8_lossy(packet.get(..end + 12).unwrap_or(packet)), facts);
}

fn properties(xmp: &str, facts: &mut PictureFacts) {
    let mut current = String::new();
    let mut text = String::new();
    let mut creators: Vec<String> = Vec::new();
    walk_xml(xmp, |node| {
        match node {
            XmlNode::Open(tag) => {
                let name = tag.name();
                if matches!(name, "title" | "description" | "creator" | "rights" | "CreateDate" | "DateCreated") {
                    name.clone_into(&mut current);
                }
                for date in ["CreateDate", "DateCreated"] {
                    if let Some(said) = tag.attr(date) {
                        facts.created = moment(&said).or(facts.created.take());
                    }
                }
                text.clear();
            }
            XmlNode::Text(piece) => text.push_str(piece),
            XmlNode::Close("li") if current == "creator" => {
                creators.push(std::mem::take(&mut text).trim().to_owned());
            }
            XmlNode::Close(name) => {
                if name == "li" || name == current {
                    match current.as_str() {
                        "title" => fill(&mut facts.title, &text),
                        "description" => fill(&mut facts.description, &text),
                        "rights" => fill(&mut facts.copyright, &text),
                        "CreateDate" | "DateCreated" => facts.created = moment(&text).or(facts.created.take()),
                        _ => {}
                    }
                }
                if name == current {
                    current.clear();
                }
                text.clear();
            }
        }
        Onward::Read
    });
    creators.retain(|c| !c.is_empty());
    fill(&mut facts.author, &creators.join(", "));
}
