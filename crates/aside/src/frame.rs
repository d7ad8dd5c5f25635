//! What do program and helper say to each other?
//!
//! Frames: a length of eight bytes, then as many bytes. A request is two frames, what is known of
//! the content and the content itself; an answer is one. A document travels in a form of its own:
//! what it writes down, and beside it what is derived whenever it is read and so never written.

use crate::confine::Confinement;
use orb_page::{Document, LinkedItem, PageSection};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// Maximum length of a frame. A document has a few megabytes of text and links.
pub(crate) const MAX_FRAME: u64 = 4 << 30;

/// What is known of the content of a request.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The media type from the server.
    pub(crate) mime: Option<String>,
    /// The charset from the server.
    pub(crate) charset: Option<String>,
    /// The URL.
    pub(crate) url: String,
    /// Whether the layout is wanted.
    pub(crate) wants_layout: bool,
}

/// A document on its way, and what it has cost.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HelperAnswer {
    /// Processor time of the helper so far, in milliseconds.
    pub(crate) cpu_ms: u64,
    /// How far the kernel confines the helper.
    pub(crate) confinement: Confinement,
    document: Document,
    sections: Vec<(String, String, u8, usize)>,
    link_texts: Vec<(u32, u32)>,
    furniture: Vec<(u32, u32)>,
    items: Vec<(u32, u32, u32)>,
}

impl HelperAnswer {
    /// Packs a document.
    pub(crate) fn pack(mut document: Document, cpu_ms: u64, confinement: Confinement) -> Self {
        let sections = std::mem::take(&mut document.sections);
        let items = std::mem::take(&mut document.items);
        Self {
            cpu_ms,
            confinement,
            sections: sections.into_iter().map(|s| (s.id, s.title, s.level, s.offset)).collect(),
            link_texts: std::mem::take(&mut document.link_texts),
            furniture: std::mem::take(&mut document.furniture),
            items: items.into_iter().map(|i| (i.link, i.start, i.end)).collect(),
            document,
        }
    }

    /// The document again.
    pub(crate) fn unpack(self) -> Document {
        let section = |(id, title, level, offset)| PageSection { id, title, level, offset };
        let item = |(link, start, end)| LinkedItem { link, start, end };
        Document {
            sections: self.sections.into_iter().map(section).collect(),
            link_texts: self.link_texts,
            furniture: self.furniture,
            items: self.items.into_iter().map(item).collect(),
            ..self.document
        }
    }
}

/// Writes a frame.
pub(crate) fn write(out: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    out.write_all(&(frame.len() as u64).to_le_bytes())?;
    out.write_all(frame)
}

/// Reads a frame; `None` at the end of the input.
pub(crate) fn read(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match input.read_exact(&mut length) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = checked(length)?;
    let mut frame = Vec::with_capacity(usize::try_from(length).unwrap_or(0).min(64 << 20));
    input.by_ref().take(length).read_to_end(&mut frame)?;
    if frame.len() as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(frame))
}

/// The length of a frame, if it can be one.
pub(crate) fn checked(length: [u8; 8]) -> io::Result<u64> {
    let length = u64::from_le_bytes(length);
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the frame is too long"));
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_page::Problem;

    #[test]
    fn a_document_arrives_as_it_was_sent() {
        let document = Document {
            mime: "application/pdf".into(),
            text: "Text\nmit Ümlaut".into(),
            author: Some("A".into()),
            page_count: Some(3),
            problems: vec![Problem::new("x", "y")],
            sections: vec![PageSection { id: "a".into(), title: "B".into(), level: 2, offset: 7 }],
            link_texts: vec![(1, 2)],
            furniture: vec![(3, 4)],
            items: vec![LinkedItem { link: 1, start: 2, end: 3 }],
            ..Document::default()
        };
        let sent =
            serde_json::to_vec(&HelperAnswer::pack(document.clone(), 5, Confinement::Partial)).expect("it is plain");
        let back: HelperAnswer = serde_json::from_slice(&sent).expect("as sent");
        assert_eq!((back.cpu_ms, back.confinement), (5, Confinement::Partial));
        assert_eq!(back.unpack(), document);
    }

    #[test]
    fn frames_end_where_they_say() {
        let mut sent = Vec::new();
        write(&mut sent, b"one").expect("to memory");
        write(&mut sent, b"").expect("to memory");
        let mut input = &sent[..];
        assert_eq!(read(&mut input).expect("whole").as_deref(), Some(&b"one"[..]));
        assert_eq!(read(&mut input).expect("whole").as_deref(), Some(&b""[..]));
        assert_eq!(read(&mut input).expect("the end"), None);
        assert!(read(&mut &sent[..9]).is_err(), "it breaks off");
        assert!(read(&mut &[0xFF; 8][..]).is_err(), "nothing is that long");
    }
}
