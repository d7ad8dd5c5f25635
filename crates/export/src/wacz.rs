//! How does a whole collection become one file for replay?
//!
//! WACZ 1.1.1 (specs.webrecorder.net): a ZIP file with the WARC files as they are, an index over
//! all of them (CDXJ lines in gzip blocks, and the first line of each block in `index.idx`), the
//! list of pages, and a data package that lists everything with its sha256.

use super::merge::merge;
use super::zip::Zip;
use super::{ExportError, ExportProgress, step};
use flate2::Compression;
use flate2::write::GzEncoder;
use orb_page::Moment;
use orb_store::{CatalogueReader, FileEnd, ProjectDir, index_lines};
use orb_store::{Result, StoreError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::Path;

/// Index lines per gzip block.
const BLOCK: usize = 1_024;

/// What went into a WACZ file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaczCounts {
    /// Archive files.
    pub files: u64,
    /// Responses in the index.
    pub records: u64,
    /// Pages in the list.
    pub pages: u64,
}

/// Writes a project's archive, as far as its catalogue knows it, into one file.
pub(crate) fn export_wacz(
    project: &ProjectDir,
    reader: &CatalogueReader,
    out: impl Write + Seek,
    watch: &mut ExportProgress<'_>,
) -> std::result::Result<WaczCounts, ExportError> {
    let files = reader.archive_files()?;
    if files.is_empty() {
        let why = format!(
            "project {} has nothing in its archive: it fetched nothing, or was crawled without one",
            project.name
        );
        return Err(ExportError::Refused(why));
    }
    let now = Moment::now();
    let mut zip = Zip::new(BufWriter::with_capacity(1 << 18, out), now);
    let mut steps = 0;
    for file in &files {
        add_archive(&mut zip, &project.archive(), file, &mut || {
            steps += 256;
            step(steps, watch)
        })?;
    }
    let records = add_index(&mut zip, &project.archive(), &files)?;
    let pages = add_pages(&mut zip, reader, watch)?;
    let package = package(&project.name, &zip, now).to_string();
    let digest = format!("sha256:{}", hex(&Sha256::digest(package.as_bytes())));
    let digest = json!({"path": "datapackage.json", "hash": digest}).to_string();
    for (path, text) in [("datapackage.json", package), ("datapackage-digest.json", digest)] {
        zip.begin(path).and_then(|()| zip.write_all(text.as_bytes())).map_err(StoreError::Output)?;
    }
    zip.finish().map_err(StoreError::Output)?;
    Ok(WaczCounts { files: files.len() as u64, records, pages })
}

/// An archive file up to the end that the catalogue knows.
fn add_archive<W: Write + Seek>(
    zip: &mut Zip<W>,
    dir: &Path,
    file: &FileEnd,
    go_on: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let path = dir.join(&*file.name);
    let mut left = file.length;
    let mut source = File::open(&path).map_err(|e| StoreError::io("open", &path, e))?;
    zip.begin(&format!("archive/{}", file.name)).map_err(StoreError::Output)?;
    let mut piece = vec![0; 1 << 18];
    while left > 0 {
        let most = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        let read = source.read(&mut piece[..most]).map_err(|e| StoreError::io("read", &path, e))?;
        if read == 0 {
            return Err(StoreError::damaged(&path, format!("{left} bytes are missing at its end")));
        }
        zip.write_all(&piece[..read]).map_err(StoreError::Output)?;
        left -= read as u64;
        go_on()?;
    }
    zip.end();
    Ok(())
}

fn add_index<W: Write + Seek>(zip: &mut Zip<W>, dir: &Path, files: &[FileEnd]) -> Result<u64> {
    let sources = files.iter().map(|file| index_lines(dir, file)).collect::<Result<Vec<_>>>()?;
    zip.begin("indexes/index.cdx.gz").map_err(StoreError::Output)?;
    let mut blocks =
        Blocks { zip, block: Vec::new(), first: String::new(), lines: 0, offset: 0, directory: header(), records: 0 };
    merge(sources, |line| blocks.line(line)).and_then(|()| blocks.close()).map_err(StoreError::Output)?;
    let Blocks { directory, records, .. } = blocks;
    zip.begin("indexes/index.idx").and_then(|()| zip.write_all(directory.as_bytes())).map_err(StoreError::Output)?;
    Ok(records)
}

fn header() -> String {
    "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n".to_owned()
}

/// Compresses lines into gzip blocks and builds the directory of the blocks.
struct Blocks<'a, W: Write + Seek> {
    zip: &'a mut Zip<W>,
    block: Vec<u8>,
    first: String,
    lines: usize,
    offset: u64,
    directory: String,
    records: u64,
}

impl<W: Write + Seek> Blocks<'_, W> {
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.lines == 0 {
            let key: Vec<&[u8]> = line.splitn(3, |b| *b == b' ').take(2).collect();
            self.first = String::from_utf8_lossy(&key.join(&b' ')).into_owned();
        }
        self.block.extend_from_slice(line);
        self.block.push(b'\n');
        self.lines += 1;
        self.records += 1;
        if self.lines == BLOCK { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        if self.lines == 0 {
            return Ok(());
        }
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&self.block)?;
        let packed = packed.finish()?;
        self.zip.write_all(&packed)?;
        let (length, digest) = (packed.len() as u64, hex(&Sha256::digest(&packed)));
        let place = json!({"offset": self.offset, "length": length, "digest": format!("sha256:{digest}"), "filename": "index.cdx.gz"});
        let _ = writeln!(self.directory, "{} {place}", self.first);
        self.offset += length;
        self.lines = 0;
        self.block.clear();
        Ok(())
    }
}

/// The HTML pages with their titles, in the order of discovery.
fn add_pages<W: Write + Seek>(
    zip: &mut Zip<W>,
    reader: &CatalogueReader,
    watch: &mut ExportProgress<'_>,
) -> Result<u64> {
    zip.begin("pages/pages.jsonl").map_err(StoreError::Output)?;
    let head = json!({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"});
    writeln!(zip, "{head}").map_err(StoreError::Output)?;
    let mut pages = 0;
    reader.each_archived_html(|id, url, at, title| {
        let mut page = json!({"id": id.0.to_string(), "url": url, "ts": at});
        if let Some(title) = title {
            page["title"] = json!(title);
        }
        writeln!(zip, "{page}").map_err(StoreError::Output)?;
        pages += 1;
        step(pages, watch)
    })?;
    zip.end();
    Ok(pages)
}

fn package<W: Write + Seek>(project: &str, zip: &Zip<W>, now: Moment) -> Value {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let resource = |e: &super::zip::ZipEntry| json!({"name": name(&e.path), "path": e.path, "hash": format!("sha256:{}", hex(&e.sha256)), "bytes": e.bytes});
    let resources: Vec<Value> = zip.entries().iter().map(resource).collect();
    json!({"profile": "data-package", "resources": resources, "wacz_version": "1.1.1", "title": project,
        "created": now.seconds(), "software": concat!("orb ", env!("CARGO_PKG_VERSION"))})
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
