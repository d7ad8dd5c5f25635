//! What do documents that are no web pages look like?
//!
//! Small files of every kind with a title, an author, paragraphs and a link, put together here
//! without any office suite. What changes when a document is merely saved again stands apart from
//! what it says, so that a test can touch one without the other.

mod books;
mod office;
mod package;

use crate::paper;

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// PDF.
    Pdf,
    /// A text of Office.
    Docx,
    /// A sheet of Office.
    Xlsx,
    /// Slides of Office.
    Pptx,
    /// An OpenDocument text.
    Odt,
    /// An OpenDocument sheet.
    Ods,
    /// OpenDocument slides.
    Odp,
    /// A book.
    Epub,
    /// Rich text.
    Rtf,
    /// A mail.
    Mail,
    /// A box of mails.
    Mbox,
    /// A zip file; its entries are named after the paragraphs.
    Zip,
    /// A tar file, likewise.
    Tar,
}

use DocumentKind::{Docx, Epub, Mail, Mbox, Odp, Ods, Odt, Pdf, Pptx, Rtf, Tar, Xlsx, Zip};

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [Pdf, Docx, Xlsx, Pptx, Odt, Ods, Odp, Epub, Rtf, Mail, Mbox, Zip, Tar];

    /// What the name of such a file ends in.
    pub fn ending(self) -> &'static str {
        match self {
            Pdf => "pdf",
            Docx => "docx",
            Xlsx => "xlsx",
            Pptx => "pptx",
            Odt => "odt",
            Ods => "ods",
            Odp => "odp",
            Epub => "epub",
            Rtf => "rtf",
            Mail => "eml",
            Mbox => "mbox",
            Zip => "zip",
            Tar => "tar",
        }
    }

    /// Its media type.
    pub fn mime(self) -> &'static str {
        match self {
            Pdf => "application/pdf",
            Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Odt => "application/vnd.oasis.opendocument.text",
            Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Odp => "application/vnd.oasis.opendocument.presentation",
            Epub => "application/epub+zip",
            Rtf => "application/rtf",
            Mail => "message/rfc822",
            Mbox => "application/mbox",
            Zip => "application/zip",
            Tar => "application/x-tar",
        }
    }
}

/// What a document says.
#[derive(Clone, Copy, Debug)]
pub struct DocumentText<'a> {
    /// Its title; the subject of a mail.
    pub title: &'a str,
    /// Who wrote it.
    pub author: &'a str,
    /// When it was last saved, as `2026-11-17T06:00:00Z`. No part of its text.
    pub saved: &'a str,
    /// Its paragraphs, cells or slides.
    pub paragraphs: &'a [&'a str],
    /// A URL that it links to.
    pub link: &'a str,
}

impl DocumentText<'_> {
    /// The text as a document of this kind.
    pub fn made(&self, kind: DocumentKind) -> Vec<u8> {
        match kind {
            Pdf => self.pdf(),
            Docx => office::docx(self),
            Xlsx => office::xlsx(self),
            Pptx => office::pptx(self),
            Odt => books::open_document(self, kind, &books::text(self)),
            Ods => books::open_document(self, kind, &books::sheet(self)),
            Odp => books::open_document(self, kind, &books::slides(self)),
            Epub => books::epub(self),
            Rtf => self.rtf().into_bytes(),
            Mail => self.mail().into_bytes(),
            Mbox => format!("From {} Tue Nov 17 06:00:00 2026\n{}", self.sender(), self.mail()).into_bytes(),
            Zip => package::zipped(&self.named()),
            Tar => package::tarred(&self.named()),
        }
    }

    fn pdf(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let text = self.paragraphs.join(" ");
        paper::write(self.title.as_bytes(), text.as_bytes(), &[self.link.as_bytes().to_vec()], &mut out);
        // A comment behind the end, as tools leave one that save again.
        out.extend(format!("% saved {}\n", self.saved).into_bytes());
        out
    }

    fn rtf(&self) -> String {
        let plain = |text: &str| text.replace('\\', "\\\\").replace('{', "\\{").replace('}', "\\}");
        let paragraphs: String = self.paragraphs.iter().map(|text| format!("{}\\par\n", plain(text))).collect();
        let time = self.saved.split(|c: char| !c.is_ascii_digit()).zip(["yr", "mo", "dy", "hr", "min"]);
        let time: String = time.map(|(number, name)| format!("\\{name}{}", number.trim_start_matches('0'))).collect();
        format!(
            "{{\\rtf1\\ansi{{\\info{{\\title {}}}{{\\author {}}}{{\\revtim{time}}}}}\n{paragraphs}\
             {{\\field{{\\*\\fldinst HYPERLINK \"{}\"}}{{\\fldrslt more}}}}\\par}}",
            plain(self.title),
            plain(self.author),
            self.link
        )
    }

    fn sender(&self) -> String {
        format!("{}@example.org", self.author.to_lowercase().replace(' ', "."))
    }

    /// What changes on its way is the line of a server that passed it on.
    fn mail(&self) -> String {
        format!(
            "Received: by mail.example.org; {}\nFrom: {} <{}>\nTo: all@example.org\nSubject: {}\n\
             Date: Tue, 17 Nov 2026 06:00:00 +0000\nMessage-ID: <1@example.org>\nMIME-Version: 1.0\n\
             Content-Type: text/plain; charset=utf-8\n\n{}\n\n{}\n",
            self.saved,
            self.author,
            self.sender(),
            self.title,
            self.paragraphs.join("\n\n"),
            self.link
        )
    }

    /// Files that are named after the paragraphs. What is in them is not read.
    fn named(&self) -> Vec<(String, Vec<u8>)> {
        let file = |text: &&str| (format!("{}.txt", text.replace(' ', "-")), self.saved.into());
        self.paragraphs.iter().map(file).collect()
    }
}

/// A text in XML.
fn xml(text: &str) -> String {
    crate::corners::escaped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_is_saved_again_has_other_bytes() {
        let text = DocumentText {
            title: "Burrows & more",
            author: "Ann Example",
            saved: "2026-11-17T06:00:00Z",
            paragraphs: &["wolf spiders dig", "at dusk"],
            link: "http://a.example/?a=b&c=d",
        };
        for kind in DocumentKind::ALL {
            let again = DocumentText { saved: "2026-11-18T06:00:00Z", ..text };
            assert_ne!(text.made(kind), again.made(kind), "{kind:?}");
            assert_eq!(text.made(kind), text.made(kind), "{kind:?}");
        }
    }
}
