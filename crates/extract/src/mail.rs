//! What do mails say?
//!
//! A single mail (RFC 5322, MIME) or a mailbox full of them: subject, people and bodies. Of a body
//! in plain text and in HTML the second is read, because it has the links; attachments are named,
//! and read if they are documents or mails.

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::html;
use crate::nested;
use crate::prose::folded_literal;
use crate::{Extract, TypedContent};
use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use memchr::memmem;
use orb_page::LinkKind;

/// How deep mails in mails are read.
const MAX_DEPTH: usize = 4;
/// Maximum number of mails of a mailbox.
const MAX_MAILS: usize = 100_000;
/// Maximum length of a subject or name in characters.
const MAX_FIELD: usize = 1_000;

/// Extracts mails and mailboxes.
#[derive(Debug)]
pub(crate) struct MailExtractor;

impl Extract for MailExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        matches!(source.mime, "message/rfc822" | "message/news" | "application/mbox")
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let mut flow = TextFlow::new(found, source.bytes.len());
        if source.bytes.starts_with(b"From ") {
            for (number, mail) in mails(source.bytes).enumerate() {
                if flow.is_full() || number >= MAX_MAILS {
                    break;
                }
                read(mail, &mut flow);
            }
        } else {
            read(source.bytes, &mut flow);
        }
        flow.finish();
    }
}

/// The mails of a mailbox: each begins with a line `From …` after an empty one.
fn mails(mailbox: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(mailbox);
    std::iter::from_fn(move || {
        let mailbox = rest.take()?;
        let start = memchr::memchr(b'\n', mailbox)? + 1;
        let mail = mailbox.get(start..)?;
        let unix = memmem::find(mail, b"\n\nFrom ").map(|i| i + 2);
        let dos = memmem::find(mail.get(..unix.unwrap_or(mail.len()))?, b"\n\r\nFrom ").map(|i| i + 3);
        match dos.or(unix) {
            Some(end) => {
                rest = mail.get(end..);
                mail.get(..end)
            }
            None => Some(mail),
        }
    })
}

fn read(mail: &[u8], flow: &mut TextFlow<'_>) {
    if let Some(message) = MessageParser::default().parse(mail) {
        write(&message, flow, 0);
    }
}

fn write(message: &Message<'_>, flow: &mut TextFlow<'_>, depth: usize) {
    write_head(message, flow, depth);
    let bodies = if message.html_body.is_empty() { &message.text_body } else { &message.html_body };
    for part in bodies.iter().filter_map(|&number| message.part(number)) {
        match &part.body {
            PartType::Text(text) => flow.paragraph(text),
            PartType::Html(page) => write_page(page, flow),
            _ => {}
        }
    }
    for part in message.attachments() {
        if let Some(name) = part.attachment_name() {
            flow.paragraph(&folded_literal(name, MAX_FIELD));
        }
        match &part.body {
            PartType::Message(message) if depth < MAX_DEPTH => write(message, flow, depth + 1),
            // What calls itself something else and is taken for text could not be decoded.
            PartType::Text(text) if part.attachment_name().is_none() || is_text(part) => flow.paragraph(text),
            PartType::Html(page) => write_page(page, flow),
            PartType::Binary(bytes) | PartType::InlineBinary(bytes) => nested::write_file(bytes, flow),
            _ => {}
        }
    }
}

/// Whether a part says of itself that it is text.
fn is_text(part: &MessagePart<'_>) -> bool {
    part.content_type().is_none_or(|kind| kind.ctype().eq_ignore_ascii_case("text"))
}

fn write_head(message: &Message<'_>, flow: &mut TextFlow<'_>, depth: usize) {
    let subject = message.subject().map(|s| folded_literal(s, MAX_FIELD)).filter(|s| !s.is_empty());
    let from = message.from().map(people).filter(|p| !p.is_empty());
    let date = message.date().filter(|d| d.is_valid()).map(mail_parser::DateTime::to_rfc3339);
    if let Some(subject) = &subject {
        flow.heading(1, subject);
    }
    for line in [from.clone(), message.to().map(people), message.cc().map(people)].into_iter().flatten() {
        flow.paragraph(&line);
    }
    let doc = &mut flow.found.doc;
    if depth == 0 {
        doc.title = doc.title.take().or(subject);
        doc.author = doc.author.take().or(from);
        doc.created = doc.created.take().or(date);
    }
}

/// Names and addresses on one line.
fn people(address: &Address<'_>) -> String {
    let mut line = String::new();
    for person in address.iter() {
        for field in [&person.name, &person.address].into_iter().flatten() {
            line.push_str(field);
            line.push(' ');
        }
        if line.len() > MAX_FIELD {
            break;
        }
    }
    folded_literal(&line, MAX_FIELD)
}

/// Reads a body in HTML, whose links are those of the mail.
pub(crate) fn write_page(page: &str, flow: &mut TextFlow<'_>) {
    let first = flow.found.doc.links.len();
    let text = html::fragment(page, 0, flow.found);
    let mut number = 0;
    flow.found.doc.links.retain_mut(|link| {
        number += 1;
        if number > first && link.kind == LinkKind::A {
            link.kind = LinkKind::Document;
        }
        // An empty address is that of the page itself, and a mail has none.
        number <= first || !link.target.is_empty()
    });
    flow.paragraph(&text);
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(bytes: &[u8]) -> Document {
        extract(&Content { bytes, mime: None, charset: None, url: "" })
    }

    const MAIL: &str = "Received: by a.example\r\nFrom: =?utf-8?q?J=C3=B6rg?= <j@a.example>\r\nTo: Ann <ann@b.example>\r\nSubject: Hello\r\n there\r\nDate: Mon, 1 Jan 2001 10:20:30 +0100\r\nMIME-Version: 1.0\r\n";

    #[test]
    fn a_mail_is_read_with_its_people_and_the_body_that_has_links() {
        let mail = format!(
            "{MAIL}Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nplain\r\n--x\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Gr=FC=DFe <a href=3D'http://a.example/'>here</a></p>\r\n--x--\r\n"
        );
        let doc = read(mail.as_bytes());
        assert_eq!(doc.mime, "message/rfc822");
        assert_eq!(doc.text, "Hello there\nJörg j@a.example\nAnn ann@b.example\nGrüße here");
        assert_eq!((doc.title.as_deref(), doc.author.as_deref()), (Some("Hello there"), Some("Jörg j@a.example")));
        assert_eq!(doc.created.as_deref(), Some("2001-01-01T10:20:30+01:00"));
        assert_eq!(doc.links[0].target, "http://a.example/");
    }

    #[test]
    fn a_link_without_an_address_is_none_in_a_mail() {
        let mail = format!("{MAIL}Content-Type: text/html\r\n\r\n<a href>x</a><a href='http://c.example/'>y</a>");
        let targets: Vec<String> = read(mail.as_bytes()).links.into_iter().map(|link| link.target).collect();
        assert_eq!(targets, ["http://c.example/"]);
    }

    #[test]
    fn a_body_in_html_is_read_as_a_page_and_attachments_are_named() {
        let mail = format!(
            "{MAIL}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>See <a href='http://c.example/'>this</a></p>\r\n--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"a.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--x--\r\n"
        );
        let doc = read(mail.as_bytes());
        assert!(doc.text.ends_with("See this\na.pdf"), "{}", doc.text);
        assert_eq!((doc.links[0].target.as_str(), doc.links[0].anchor.as_str()), ("http://c.example/", "this"));
    }

    #[test]
    fn attached_documents_are_read_and_what_cannot_be_decoded_is_not() {
        let part = |kind: &str, name: &str, body: &str| {
            format!(
                "--x\r\nContent-Type: {kind}\r\nContent-Disposition: attachment; filename=\"{name}\"\r\nContent-Transfer-Encoding: base64\r\n\r\n{body}\r\n"
            )
        };
        let mail = format!(
            "{MAIL}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nbody\r\n{}{}{}--x--\r\n",
            part("application/octet-stream", "a.rtf", "e1xydGYxIGluc2lkZX0="),
            part("text/plain", "b.txt", "bm90ZXM="),
            part("image/jpeg", "c.jpg", "/9j/4AAQ*SkZJRg"),
        );
        let doc = read(mail.as_bytes());
        assert!(doc.text.ends_with("body\na.rtf\ninside\nb.txt\nnotes\nc.jpg"), "{}", doc.text);
    }

    #[test]
    fn a_mailbox_is_read_mail_by_mail() {
        let one = |n: usize| format!("From a@b Mon Jan  1 00:00:00 2001\nFrom: a@b\nSubject: No {n}\n\nbody {n}\n\n");
        let doc = read((0..3).map(one).collect::<String>().as_bytes());
        assert_eq!(doc.mime, "application/mbox");
        assert_eq!(doc.text, "No 0\na@b\nbody 0\nNo 1\na@b\nbody 1\nNo 2\na@b\nbody 2");
        assert_eq!(doc.title.as_deref(), Some("No 0"));
    }

    #[test]
    fn parts_in_parts_in_parts_end() {
        let mut mail = MAIL.to_owned();
        for n in 0..10_000 {
            mail.push_str(&format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"));
        }
        read(mail.as_bytes());
        let mut mail = MAIL.to_owned();
        for n in 0..2_000 {
            mail.push_str(&format!("Content-Type: message/rfc822\r\n\r\nSubject: {n}\r\n"));
        }
        read(mail.as_bytes());
    }
}
