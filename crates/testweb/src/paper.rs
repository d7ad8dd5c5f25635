//! What does a document of this web look like?
//!
//! A PDF of one page with the text and the links of a plain page: what a crawl of a real web meets
//! every now and then among its pages. It is built again for every request, as plain pages are.

use std::io::Write as _;

/// Characters of a line.
const LINE: usize = 90;

/// Appends a PDF with this title, text and these targets of links.
pub(crate) fn write(title: &[u8], text: &[u8], targets: &[Vec<u8>], out: &mut Vec<u8>) {
    let mut content = b"BT /F 9 Tf 11 TL 36 780 Td\n".to_vec();
    for line in std::iter::once(title).chain(text.chunks(LINE)) {
        content.push(b'(');
        content.extend(line.iter().filter(|b| b.is_ascii() && !matches!(b, b'(' | b')' | b'\\' | b'\n')));
        content.extend_from_slice(b") Tj T*\n");
    }
    content.extend_from_slice(b"ET");
    let mut annotations = b"[".to_vec();
    for (number, target) in targets.iter().enumerate() {
        let y = 770 - 11 * number;
        annotations.extend_from_slice(
            format!("<</Type/Annot/Subtype/Link/Rect[36 {y} 300 {}]/A<</S/URI/URI(", y + 11).as_bytes(),
        );
        annotations.extend_from_slice(target);
        annotations.extend_from_slice(b")>>>>");
    }
    annotations.push(b']');
    let mut stream = format!("<</Length {}>>\nstream\n", content.len()).into_bytes();
    stream.extend_from_slice(&content);
    stream.extend_from_slice(b"\nendstream");
    let font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec();
    let page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Annots 5 0 R\
        /Resources<</Font<</F 6 0 R>>>>>>";
    let pages = b"<</Type/Pages/Count 1/Kids[3 0 R]>>".to_vec();
    let catalogue = b"<</Type/Catalog/Pages 2 0 R>>".to_vec();
    bind(&[catalogue, pages, page.to_vec(), stream, annotations, font], out);
}

/// Puts objects, numbered from 1, into a file.
fn bind(objects: &[Vec<u8>], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(b"%PDF-1.4\n");
    let mut places = Vec::with_capacity(objects.len());
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len() - start);
        // Writing to memory cannot fail.
        let _ = writeln!(out, "{} 0 obj", number + 1);
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let (table, size) = (out.len() - start, objects.len() + 1);
    let _ = writeln!(out, "xref\n0 {size}\n0000000000 65535 f ");
    for place in places {
        let _ = writeln!(out, "{place:010} 00000 n ");
    }
    let _ = writeln!(out, "trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_holds_its_text_and_its_targets() {
        let mut out = Vec::new();
        write(b"Title", b"some (text) to read", &[b"http://a.example/1".to_vec()], &mut out);
        let text = String::from_utf8(out).expect("ASCII");
        assert!(text.starts_with("%PDF-1.4\n") && text.ends_with("%%EOF\n"), "{text}");
        assert!(text.contains("(Title) Tj") && text.contains("(some text to read) Tj"), "{text}");
        assert!(text.contains("/URI(http://a.example/1)"), "{text}");
    }
}
