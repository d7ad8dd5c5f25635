//! What does an XML part of a document consist of?
//!
//! Elements are told by their local names: the formats here never use one name for two things in
//! the same place, and producers choose their prefixes freely. Malformed XML is read up to the
//! error. Entities other than the five of XML are not expanded, so there is no entity bomb.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// How deep elements are read; what is nested deeper is skipped.
const MAX_DEPTH: usize = 256;

/// A start tag.
#[derive(Debug)]
pub(crate) struct XmlTag<'x>(BytesStart<'x>);

/// What is met in a document.
#[derive(Debug)]
pub(crate) enum XmlNode<'n> {
    /// The start of an element.
    Open(&'n XmlTag<'n>),
    /// The end of an element, by its local name.
    Close(&'n str),
    /// Characters, with references expanded.
    Text(&'n str),
}

/// What to do after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// Read on.
    Read,
    /// Skip everything in the element that was opened, and its end.
    Skip,
    /// Stop reading.
    Stop,
}

impl XmlTag<'_> {
    /// Its local name.
    pub(crate) fn name(&self) -> &str {
        local(self.0.name().into_inner())
    }

    /// Its name as written.
    pub(crate) fn qualified(&self) -> &str {
        self.0.name().into_inner()
    }

    /// The first attribute of this local name.
    pub(crate) fn attr(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(|key, _| local(key) == name)
    }

    /// Whether an attribute has this value.
    pub(crate) fn is(&self, name: &str, value: &str) -> bool {
        self.attr(name).is_some_and(|v| v == value)
    }

    /// An attribute as a number.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.attr(name)?.trim().parse().ok()
    }

    /// The relationship that it names: an `id` of another namespace than its own.
    pub(crate) fn relation(&self) -> Option<Cow<'_, str>> {
        self.find(|key, own| local(key) == "id" && key.len() > 2 && prefix(key) != own)
    }

    fn find(&self, wanted: impl Fn(&str, &str) -> bool) -> Option<Cow<'_, str>> {
        let name = self.0.name().into_inner();
        let own = prefix(name);
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        let found = attributes.flatten().find(|a| wanted(a.key.into_inner(), own))?;
        match found.normalized_value(XmlVersion::Implicit1_0) {
            Ok(value) => Some(value),
            Err(_) => Some(found.value),
        }
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

fn prefix(name: &str) -> &str {
    name.split_once(':').map_or("", |(prefix, _)| prefix)
}

/// Calls `visit` with everything in a document, in order. Whether the document was sound.
pub(crate) fn walk_xml(source: &str, mut visit: impl FnMut(XmlNode<'_>) -> Onward) -> bool {
    let mut reader = Reader::from_str(source);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut depth = 0usize;
    // The depth from which nothing is reported.
    let mut quiet = MAX_DEPTH;
    loop {
        let event = match reader.read_event() {
            Ok(Event::Eof) => return depth == 0,
            Ok(event) => event,
            Err(_) => return false,
        };
        let onward = match event {
            Event::Start(start) => {
                depth += 1;
                if depth > quiet {
                    continue;
                }
                let onward = visit(XmlNode::Open(&XmlTag(start)));
                if onward == Onward::Skip {
                    quiet = depth - 1;
                }
                onward
            }
            Event::Empty(start) if depth < quiet => {
                let tag = XmlTag(start);
                match visit(XmlNode::Open(&tag)) {
                    Onward::Read => visit(XmlNode::Close(tag.name())),
                    onward => onward,
                }
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if depth == quiet {
                    quiet = MAX_DEPTH;
                    continue;
                }
                if depth < quiet { visit(XmlNode::Close(local(end.name().into_inner()))) } else { continue }
            }
            Event::Text(text) if depth <= quiet => visit(XmlNode::Text(&text)),
            Event::CData(text) if depth <= quiet => visit(XmlNode::Text(&text)),
            Event::GeneralRef(reference) if depth <= quiet => match expanded(&reference) {
                Some(c) => visit(XmlNode::Text(c.encode_utf8(&mut [0; 4]))),
                None => continue,
            },
            _ => continue,
        };
        if onward == Onward::Stop {
            return true;
        }
    }
}

/// The character that a reference stands for.
fn expanded(reference: &str) -> Option<char> {
    Some(match reference {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        other => {
            let number = other.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|&c| c != '\0')?
        }
    })
}

/// The characters of an XML document: by its byte order mark, as it declares, or in UTF-8.
pub(crate) fn decode_xml(bytes: Vec<u8>) -> String {
    let encoding = match bytes.as_slice() {
        [0xFE, 0xFF, ..] | [0, b'<', 0, ..] => UTF_16BE,
        [0xFF, 0xFE, ..] | [b'<', 0, _, 0, ..] => UTF_16LE,
        [0xEF, 0xBB, 0xBF, ..] => UTF_8,
        _ => declared(&bytes).unwrap_or(UTF_8),
    };
    if encoding == UTF_8 && !bytes.starts_with(b"\xEF\xBB\xBF") {
        return String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    }
    encoding.decode(&bytes).0.into_owned()
}

/// The encoding that an XML declaration names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..200).unwrap_or(bytes).strip_prefix(b"<?xml")?;
    let declaration = start.split(|&b| b == b'>').next()?;
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let value = declaration.get(at + 8..)?;
    let mut quoted = value.split(|&b| matches!(b, b'"' | b'\''));
    let label = quoted.nth(1)?;
    Encoding::for_label(label).filter(|e| *e != UTF_16LE && *e != UTF_16BE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str, skip: &str) -> (String, bool) {
        let mut out = String::new();
        let sound = walk_xml(source, |node| {
            match node {
                XmlNode::Open(tag) if tag.name() == skip => return Onward::Skip,
                XmlNode::Open(tag) => out.push_str(&format!("<{}>", tag.name())),
                XmlNode::Close(name) => out.push_str(&format!("</{name}>")),
                XmlNode::Text(text) => out.push_str(text),
            }
            Onward::Read
        });
        (out, sound)
    }

    #[test]
    fn elements_text_and_references_are_told_in_order() {
        let (out, sound) = told("<?xml version='1.0'?><w:a><b/>x &amp; &#x41;&zz;<![CDATA[<y>]]><!-- c --></w:a>", "");
        assert_eq!((out.as_str(), sound), ("<a><b></b>x & A<y></a>", true));
        assert_eq!(told("<a><s><s>x</s></s>y<s/>z</a>", "s").0, "<a>yz</a>");
        assert_eq!(told("<a>x<b", "").0, "<a>x");
        assert!(!told("<a>x", "").1);
        assert_eq!(told("<a>x</b></a></a>y &", "").0, "<a>x</b></a></a>y &");
    }

    #[test]
    fn attributes_are_found_by_local_name() {
        walk_xml("<w:a w:val='1 &amp; 2' id='7' r:id='r1' n='12'/>", |node| {
            if let XmlNode::Open(tag) = node {
                assert_eq!(tag.attr("val").as_deref(), Some("1 & 2"));
                assert_eq!(tag.relation().as_deref(), Some("r1"));
                assert_eq!((tag.number("n"), tag.number("val"), tag.attr("x")), (Some(12), None, None));
            }
            Onward::Read
        });
    }

    #[test]
    fn depth_and_attributes_are_no_danger() {
        let deep = "<a>x".repeat(100_000);
        let (out, _) = told(&deep, "");
        assert!(out.matches('x').count() <= MAX_DEPTH);
        let wide = format!("<a {}>y</a>", "b='c' ".repeat(1_000_000));
        assert_eq!(told(&wide, "").0, "<a>y</a>");
        let bomb = "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><a>&c;z</a>";
        assert_eq!(told(bomb, "").0, "<a>z</a>");
    }

    #[test]
    fn parts_are_decoded_as_they_say() {
        let utf16: Vec<u8> = "\u{FEFF}<a>ü</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_xml(utf16), "<a>ü</a>");
        assert_eq!(
            decode_xml(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xFC".to_vec()).chars().last(),
            Some('ü')
        );
        assert_eq!(decode_xml("\u{FEFF}<a>ü".into()), "<a>ü");
        assert_eq!(decode_xml(b"<a>\xFF".to_vec()), "<a>\u{FFFD}");
    }
}
