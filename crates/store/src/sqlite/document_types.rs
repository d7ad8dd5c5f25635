//! What type of document is a page?
//!
//! The table of a crawl counts binary pages by the type of document that people would name: `pdf`,
//! `docx`, `mail`. It comes from the media type, which the content told where the server did not,
//! or else from the ending of the name. The same is said in SQL, for lists of one type.

/// Beginnings of media types and their document types.
const FAMILIES: &[(&str, &str)] = &[
    ("image/", "image"),
    ("audio/", "audio"),
    ("application/ogg", "audio"),
    ("video/", "video"),
    ("font/", "font"),
    ("message/", "mail"),
    // With templates, slide shows and documents with macros.
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.", "docx"),
    ("application/vnd.openxmlformats-officedocument.presentationml.", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.", "xlsx"),
    ("application/vnd.ms-word.", "docx"),
    ("application/vnd.ms-powerpoint.", "pptx"),
    ("application/vnd.ms-excel.", "xlsx"),
    // With templates and master documents.
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("application/vnd.oasis.opendocument.presentation", "odp"),
    ("application/vnd.oasis.opendocument.graphics", "odg"),
    ("application/vnd.oasis.opendocument.", "odf"),
    ("application/vnd.sun.xml.writer", "sxw"),
    ("application/vnd.sun.xml.calc", "sxc"),
    ("application/vnd.sun.xml.impress", "sxi"),
    ("application/vnd.sun.xml.", "sxd"),
    // Office documents in a single XML file.
    ("application/vnd.ms-wordml", "doc"),
    ("application/vnd.ms-word2006ml", "docx"),
    ("application/vnd.ms-spreadsheetml", "xls"),
    // Which kind of document it is cannot be told.
    ("application/encrypted", "encrypted"),
];

/// Media types, file extensions and their document types.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("application/pdf", "pdf", "pdf"),
    ("application/msword", "doc", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", "docx"),
    ("application/vnd.ms-powerpoint", "ppt", "ppt"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx", "pptx"),
    ("application/vnd.ms-excel", "xls", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx", "xlsx"),
    ("application/vnd.oasis.opendocument.text", "odt", "odt"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods", "ods"),
    ("application/vnd.oasis.opendocument.presentation", "odp", "odp"),
    ("application/epub+zip", "epub", "epub"),
    ("application/rtf", "rtf", "rtf"),
    ("text/rtf", "rtf", "rtf"),
    ("message/rfc822", "eml", "mail"),
    ("application/mbox", "mbox", "mbox"),
    ("application/vnd.ms-outlook", "msg", "msg"),
    ("application/x-shockwave-flash", "swf", "swf"),
    ("text/css", "css", "css"),
    ("text/javascript", "js", "js"),
    ("application/javascript", "js", "js"),
    ("application/x-javascript", "js", "js"),
    ("application/ecmascript", "js", "js"),
    ("text/ecmascript", "js", "js"),
    ("application/json", "json", "json"),
    ("text/json", "json", "json"),
    ("application/feed+json", "json", "feed"),
    ("application/rss+xml", "rss", "feed"),
    ("application/atom+xml", "atom", "feed"),
    ("application/rdf+xml", "rdf", "feed"),
    ("text/plain", "txt", "txt"),
    ("text/csv", "csv", "csv"),
    ("application/xml", "xml", "xml"),
    ("text/xml", "xml", "xml"),
    // Pages that were cut off.
    ("text/html", "html", "html"),
    ("application/xhtml+xml", "xhtml", "html"),
    ("application/zip", "zip", "zip"),
    ("application/x-zip-compressed", "zip", "zip"),
    ("application/x-tar", "tar", "tar"),
    ("application/x-gtar", "tar", "tar"),
    ("application/x-ustar", "tar", "tar"),
    ("application/gzip", "gz", "gz"),
    ("application/x-gzip", "gz", "gz"),
    ("application/x-7z-compressed", "7z", "7z"),
    ("application/x-rar-compressed", "rar", "rar"),
    ("application/vnd.rar", "rar", "rar"),
];

/// What is left, by how the media type begins and ends.
const REST: &[(&str, &str, &str)] = &[("application/", "+json", "json"), ("", "+xml", "xml"), ("text/", "", "txt")];

/// The media type of what could be anything.
const UNKNOWN: &str = "application/octet-stream";

/// All types that [`document_type`] knows, without duplicates.
pub fn document_types() -> std::collections::BTreeSet<&'static str> {
    let documents = DOCUMENTS.iter().map(|(_, _, name)| *name);
    documents.chain(FAMILIES.iter().map(|(_, name)| *name)).chain(["other"]).collect()
}

/// The document type of a binary page, by its media type or else its name.
pub fn document_type(mime: Option<&str>, url: &str) -> &'static str {
    let mime = mime.unwrap_or(UNKNOWN);
    if let Some((_, name)) = FAMILIES.iter().find(|(family, _)| mime.starts_with(family)) {
        return name;
    }
    if let Some((_, _, name)) = DOCUMENTS.iter().find(|(m, _, _)| *m == mime) {
        return name;
    }
    if mime != UNKNOWN {
        let rest = REST.iter().find(|(begin, end, _)| mime.starts_with(begin) && mime.ends_with(end));
        return rest.map_or("other", |(_, _, name)| name);
    }
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let extension = path.rsplit('/').next().and_then(|file| file.rsplit_once('.')).map_or("", |(_, e)| e);
    DOCUMENTS.iter().find(|(_, e, _)| e.eq_ignore_ascii_case(extension)).map_or("other", |(_, _, name)| name)
}

/// The condition in SQL under which a binary page has a document type; `None` for an unknown type.
pub(super) fn document_condition(name: &str) -> Option<String> {
    if !document_types().contains(name) {
        return None;
    }
    let mut cases = String::new();
    let mut add = |condition: &str, name: &str| cases.push_str(&format!("WHEN {condition} THEN '{name}' "));
    for (begin, name) in FAMILIES {
        add(&begins(begin), name);
    }
    for (mime, _, name) in DOCUMENTS {
        add(&format!("mime = '{mime}'"), name);
    }
    for (begin, end, name) in REST {
        add(&format!("{} AND mime LIKE '%{end}'", begins(begin)), name);
    }
    for (_, extension, name) in DOCUMENTS {
        let path = "substr(url, 1, min(instr(url || '?', '?'), instr(url || '#', '#')) - 1)";
        add(&format!("coalesce(mime, '{UNKNOWN}') = '{UNKNOWN}' AND {path} LIKE '%.{extension}'"), name);
    }
    Some(format!("(kind = 'BINARY' AND CASE {cases}ELSE 'other' END = '{name}')"))
}

/// The condition in SQL that a media type begins like this.
fn begins(with: &str) -> String {
    format!("substr(mime, 1, {}) = '{with}'", with.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_in_sql_agrees_with_the_document_type() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE page (kind TEXT DEFAULT 'BINARY', mime TEXT, url TEXT)").unwrap();
        let rest = ["image/png", "font/woff", "a/b", "text/x-c", "application/ld+json", "model/x+xml", UNKNOWN];
        let mimes = DOCUMENTS.iter().map(|(mime, ..)| *mime).chain(FAMILIES.iter().map(|(mime, _)| *mime)).chain(rest);
        let urls =
            ["http://a.b/x", "http://a.b/x.PDF?y=z.doc", "http://a.b/x.js#a?b", "http://a.b/.odt", "http://a.b/x.y/z"];
        for mime in mimes.map(Some).chain([None]) {
            for url in urls {
                db.execute("INSERT INTO page (mime, url) VALUES (?1, ?2)", rusqlite::params![mime, url]).unwrap();
                for name in document_types() {
                    let sql = format!("SELECT count(*) FROM page WHERE {}", document_condition(name).unwrap());
                    let found: u32 = db.query_row(&sql, [], |row| row.get(0)).unwrap();
                    assert_eq!(found == 1, document_type(mime, url) == name, "{name}: {mime:?} {url}");
                }
                db.execute("DELETE FROM page", []).unwrap();
            }
        }
        assert_eq!(document_condition("'; DROP TABLE page"), None);
    }

    #[test]
    fn a_document_type_comes_from_the_media_type_or_else_the_name() {
        assert_eq!(document_type(Some("application/pdf"), "http://a/x.doc"), "pdf");
        assert_eq!(document_type(Some("application/octet-stream"), "http://a/x.PPTX?y=z.pdf"), "pptx");
        assert_eq!(document_type(None, "http://a.doc/x"), "other");
        assert_eq!(document_type(Some("image/png"), "http://a/x"), "image");
        assert_eq!(
            document_type(Some("application/vnd.ms-powerpoint.slideshow.macroenabled.12"), "http://a/x"),
            "pptx"
        );
        assert_eq!(document_type(Some("application/vnd.ms-powerpoint"), "http://a/x"), "ppt");
    }

    #[test]
    fn every_format_that_is_read_has_a_type_of_its_own() {
        for (mime, name) in [
            ("message/rfc822", "mail"),
            ("message/news", "mail"),
            ("application/mbox", "mbox"),
            ("application/vnd.ms-outlook", "msg"),
            ("application/x-shockwave-flash", "swf"),
            ("application/x-tar", "tar"),
            ("application/encrypted", "encrypted"),
            ("application/vnd.oasis.opendocument.text-template", "odt"),
            ("application/vnd.oasis.opendocument.spreadsheet-template", "ods"),
            ("application/vnd.oasis.opendocument.presentation-template", "odp"),
            ("application/vnd.oasis.opendocument.graphics", "odg"),
            ("application/vnd.oasis.opendocument.formula", "odf"),
            ("application/vnd.sun.xml.writer", "sxw"),
            ("application/vnd.sun.xml.draw", "sxd"),
            ("application/vnd.ms-wordml", "doc"),
            ("application/vnd.ms-word2006ml", "docx"),
            ("application/vnd.ms-spreadsheetml", "xls"),
            ("application/rss+xml", "feed"),
            ("application/feed+json", "feed"),
            ("application/ld+json", "json"),
            ("application/kml+xml", "xml"),
            ("text/markdown", "txt"),
            ("application/ogg", "audio"),
        ] {
            assert_eq!(document_type(Some(mime), "http://a/x"), name, "{mime}");
        }
    }
}
