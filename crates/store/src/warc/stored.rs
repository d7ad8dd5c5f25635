//! What did an exchange look like, read back from the archive?

use super::header::WarcType;
use super::http;
use super::scan::{Scanned, read_fields, read_record};
use crate::error::{Result, StoreError};
use crate::home::ProjectDir;
use crate::shared::{ElsewhereArchive, ObjectArchive};
use bytes::Bytes;
use flate2::bufread::GzDecoder;
use orb_page::{Headers, WarcPosition};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the picture of a page is called, as Browsertrix does it: this before the page's URL.
pub const VIEW: &str = "urn:view:";

/// Reads exchanges at known positions.
#[derive(Clone, Debug)]
pub struct ArchiveReader {
    pub(super) dir: PathBuf,
    /// Where the files are instead, if the project is shared.
    objects: Option<Arc<ObjectArchive>>,
    /// Where they are if they are not here: the project is a copy without its bytes.
    elsewhere: Option<Arc<ElsewhereArchive>>,
}

/// A response as it was received.
#[derive(Clone, Debug)]
pub struct StoredExchange {
    /// The requested URL.
    pub url: String,
    /// When it was fetched, according to the record.
    pub date: String,
    /// The fields of the record's own header, in order.
    pub fields: Vec<(String, String)>,
    /// Status code, if it is HTTP.
    pub status: Option<u16>,
    /// The head as received.
    pub head: Vec<u8>,
    /// The head's fields.
    pub headers: Headers,
    /// Everything after the head, as received.
    pub wire: Bytes,
    /// The body without its transfer coding but with its content coding.
    pub body: Bytes,
    /// Why it is incomplete, if it is: `length`, `time`, `disconnect`, `unspecified`.
    pub truncated: Option<String>,
}

impl StoredExchange {
    /// Whether the body is in an earlier record, of another page or visit.
    pub fn is_revisit(&self) -> bool {
        WarcType::of(&self.fields) == WarcType::Revisit
    }
}

impl ArchiveReader {
    /// A reader of a project's archive files.
    pub fn open(project: &ProjectDir) -> Self {
        let elsewhere = ElsewhereArchive::of(project).map(Arc::new);
        Self { elsewhere, ..Self::at(&project.archive()) }
    }

    /// A reader of the archive files in `dir`.
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), objects: None, elsewhere: None }
    }

    /// A reader of a shared project's objects.
    pub(crate) fn over(objects: ObjectArchive) -> Self {
        Self { dir: objects.place_of(""), objects: Some(Arc::new(objects)), elsewhere: None }
    }

    /// The exchange at this position.
    pub fn exchange(&self, at: &WarcPosition) -> Result<StoredExchange> {
        let record = self.record(at)?;
        let field = |name: &str| record.field(name).map(str::to_owned);
        let (url, date) = (field("WARC-Target-URI").unwrap_or_default(), field("WARC-Date").unwrap_or_default());
        let truncated = field("WARC-Truncated");
        let headers = head_fields(&record);
        let wire = Bytes::from(record.payload);
        let body = if http::is_chunked(&headers) { http::dechunk(&wire).into() } else { wire.clone() };
        Ok(StoredExchange {
            url,
            date,
            status: http::status(&record.head),
            truncated,
            fields: record.fields,
            head: record.head,
            headers,
            wire,
            body,
        })
    }

    /// The picture of a rendered page, which stands behind its record, with its media type.
    pub fn picture(&self, at: &WarcPosition) -> Result<Option<(String, Bytes)>> {
        let behind = WarcPosition { file: at.file.clone(), offset: at.offset + at.length, length: u64::MAX };
        let page = Scanned { fields: self.fields(at)?, ..Scanned::default() };
        if page.kind() != WarcType::Conversion {
            return Ok(None);
        }
        // At the end of a file there is nothing, and what stands there may be about another page.
        let Ok(fields) = self.fields(&behind) else { return Ok(None) };
        let next = Scanned { fields, ..Scanned::default() };
        let url = page.field("WARC-Target-URI").map(|url| format!("{VIEW}{url}"));
        if next.kind() != WarcType::Resource || next.field("WARC-Target-URI") != url.as_deref() {
            return Ok(None);
        }
        let mime = next.field("Content-Type").unwrap_or_default().to_owned();
        Ok(Some((mime, self.record(&behind)?.payload.into())))
    }

    fn record(&self, at: &WarcPosition) -> Result<Scanned> {
        read_record(self.member(at)?, usize::MAX).map_err(|e| self.damaged(at, &e))
    }

    /// The fields of a record's own header, without reading on.
    fn fields(&self, at: &WarcPosition) -> Result<Vec<(String, String)>> {
        read_fields(&mut BufReader::new(self.member(at)?)).map_err(|e| self.damaged(at, &e))
    }

    pub(super) fn member(&self, at: &WarcPosition) -> Result<GzDecoder<Box<dyn BufRead + Send>>> {
        if let Some(objects) = &self.objects {
            let bytes = objects.read(&at.file, at.offset, at.length)?;
            return Ok(GzDecoder::new(Box::new(std::io::Cursor::new(bytes))));
        }
        let path = self.dir.join(&*at.file);
        let mut file = match (File::open(&path), &self.elsewhere) {
            (Err(e), Some(elsewhere)) if e.kind() == std::io::ErrorKind::NotFound => {
                let bytes = elsewhere.objects()?.read(&at.file, at.offset, at.length)?;
                return Ok(GzDecoder::new(Box::new(std::io::Cursor::new(bytes))));
            }
            (file, _) => file.map_err(|e| StoreError::io("open", &path, e))?,
        };
        file.seek(SeekFrom::Start(at.offset)).map_err(|e| StoreError::io("read", &path, e))?;
        Ok(GzDecoder::new(Box::new(BufReader::new(file.take(at.length)))))
    }

    pub(super) fn damaged(&self, at: &WarcPosition, error: &std::io::Error) -> StoreError {
        StoreError::damaged(&self.dir.join(&*at.file), format!("the record at byte {}: {error}", at.offset))
    }
}

/// The fields of an answer's head; of a resource, its media type.
fn head_fields(record: &Scanned) -> Headers {
    let mime =
        record.field("Content-Type").filter(|_| matches!(record.kind(), WarcType::Resource | WarcType::Conversion));
    match mime {
        // Says nothing: an answer that is no HTTP/1 is archived so.
        None | Some("application/octet-stream") => http::headers(&record.head),
        Some(mime) => [("Content-Type", mime)].into_iter().collect(),
    }
}

/// Takes the content codings off a body, up to a number of bytes: body, codings, cap. The store
/// keeps bodies as they were transferred and knows no coding itself.
pub type RemoveCoding<'a> = &'a dyn Fn(Bytes, &str, u64) -> Bytes;

/// sha256 of a response's decoded content; `None` where that is not `length` bytes long, or cannot
/// be known without a decoder.
pub(crate) fn content(record: &Scanned, length: u64, decoder: Option<RemoveCoding<'_>>) -> Option<[u8; 32]> {
    let headers = http::headers(&record.head);
    let codings = headers.codings();
    let chunked = http::is_chunked(&headers);
    if !chunked && codings.is_empty() {
        return (record.payload_length == length).then_some(record.digest);
    }
    let body = if chunked { http::dechunk(&record.payload).into() } else { Bytes::copy_from_slice(&record.payload) };
    let plain = if codings.is_empty() { body } else { decoder?(body, &codings, length) };
    (plain.len() as u64 == length).then(|| Sha256::digest(&plain).into())
}
