//! How does a part of an index travel to another machine?
//!
//! As a split: a small index of its own, packed into one file where its pages were read. Whoever
//! has unpacked one takes over the documents that are wanted
//! ([`crate::PageIndexWriter::take_over`]), a segment as a whole where all of them are, and reads
//! no page again. Since they become segments of one index, document frequencies are those of all
//! pages. A split that was written in another format, or stemmed in other languages, or that is
//! damaged, is refused: its pages can still be read from the archive.
//!
//! The file is a sign, the length of a header in four bytes, the header (the names and lengths of
//! the files), and the files back to back. Each of those ends with a checksum of the engine's.

use crate::analyze::Stems;
use crate::error::{IndexError, Result};
use crate::schema::{self, column};
use crate::standing::{CommitPayload, open};
use orb_page::{Moment, PageId};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};
use tantivy::directory::{MmapDirectory, OwnedBytes, TerminatingWrite as _};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::index::{SegmentComponent, SegmentReader};
use tantivy::indexer::merge_filtered_segments;
use tantivy::{BitSet, Index, Segment, SegmentMeta};

/// What a packed split begins with.
const SIGN: &[u8; 8] = b"orbsplt1";

/// The longest header that is read.
const LONGEST: u32 = 1 << 20;

/// The files of a segment, besides the one that says which documents were deleted.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
    SegmentComponent::Terms,
    SegmentComponent::Store,
];

/// The header of a packed split.
#[derive(Serialize, Deserialize)]
struct SplitHeader {
    files: Vec<PackedFile>,
}

/// A file in a packed split.
#[derive(Serialize, Deserialize)]
struct PackedFile {
    name: String,
    length: u64,
}

/// A document of a split, by which it is decided whether it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitEntry {
    /// The page.
    pub page: PageId,
    /// When it was fetched.
    pub at: Moment,
    /// The page whose content it was known to duplicate, or itself.
    pub cluster: PageId,
    /// Whether its duplicates are also known by their SimHash.
    pub hashed: bool,
}

/// An unpacked split.
pub struct IndexSplitReader {
    dir: PathBuf,
    index: Index,
}

/// The documents of one segment that are wanted.
pub(crate) struct WantedDocuments {
    segment: Segment,
    pub(crate) pages: Vec<PageId>,
    /// Which ones, unless it is all of them.
    documents: Option<BitSet>,
}

/// Packs the index in a directory, as of its last commit, into a file. Returns the number of its
/// pages. Nobody may write to the index meanwhile.
pub fn pack(dir: &Path, to: &Path) -> Result<u64> {
    let index = open(dir, &schema::pages())?;
    let metas = index.load_metas().map_err(|e| IndexError::of("pack", dir, &e))?;
    let segments: Vec<String> = metas.segments.iter().map(|segment| segment.id().uuid_string()).collect();
    let written = || {
        let mut files = vec![PackedFile { name: "meta.json".to_owned(), length: 0 }];
        for entry in fs::read_dir(dir)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if segments.iter().any(|segment| name.starts_with(segment.as_str())) {
                files.push(PackedFile { name, length: 0 });
            }
        }
        for file in &mut files {
            file.length = fs::metadata(dir.join(&file.name))?.len();
        }
        let header = SplitHeader { files };
        let text = serde_json::to_vec(&header)?;
        let mut out = BufWriter::new(File::create(to)?);
        out.write_all(SIGN)?;
        out.write_all(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes())?;
        out.write_all(&text)?;
        for file in &header.files {
            io::copy(&mut File::open(dir.join(&file.name))?.take(file.length), &mut out)?;
        }
        out.flush()
    };
    written().map_err(|e: io::Error| IndexError::of("pack", dir, &e.into()))?;
    Ok(metas.segments.iter().map(|segment| u64::from(segment.num_docs())).sum())
}

impl IndexSplitReader {
    /// Unpacks a file into a directory, which is emptied first. Refuses what was not stemmed in
    /// these languages.
    pub fn unpack(file: &Path, dir: &Path, stems: &Stems) -> Result<Self> {
        let unfit = |what: String| IndexError::Unfit { dir: file.to_owned(), what };
        unpacked(file, dir).map_err(|e| match e.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => unfit(e.to_string()),
            _ => IndexError::of("unpack", file, &e.into()),
        })?;
        let index = open(dir, &schema::pages())?;
        if CommitPayload::of(&index, dir)?.stem != stems.0 {
            return Err(unfit("its words were stemmed in other languages".to_owned()));
        }
        let split = Self { dir: dir.to_owned(), index };
        match split.damaged().map_err(|e| unfit(e.to_string()))? {
            Some(name) => Err(unfit(format!("{} is damaged", name.display()))),
            None => Ok(split),
        }
    }

    /// A file whose checksum is wrong.
    fn damaged(&self) -> tantivy::Result<Option<PathBuf>> {
        for segment in self.index.searchable_segments()? {
            for path in COMPONENTS.map(|component| segment.relative_path(component)) {
                if !self.index.directory().validate_checksum(&path)? {
                    return Ok(Some(path));
                }
            }
        }
        Ok(None)
    }

    /// The documents that are wanted, by segment.
    pub(crate) fn choose(&self, wanted: &mut dyn FnMut(SplitEntry) -> bool) -> Result<Vec<WantedDocuments>> {
        let fail = |e| IndexError::of("read", &self.dir, &e);
        let mut chosen = Vec::new();
        for segment in self.index.searchable_segments().map_err(fail)? {
            let documents = WantedDocuments::of(segment, wanted).map_err(fail)?;
            if !documents.pages.is_empty() {
                chosen.push(documents);
            }
        }
        Ok(chosen)
    }

    /// Writes chosen documents as a segment of another index, not yet registered with it.
    pub(crate) fn copy(&self, chosen: &WantedDocuments, to: &Index) -> tantivy::Result<SegmentMeta> {
        let Some(documents) = &chosen.documents else { return copy_segment(&chosen.segment, to) };
        let mut kept = Vec::new();
        write_alive_bitset(documents, &mut kept)?;
        let kept = AliveBitSet::open(OwnedBytes::new(kept));
        let dir = self.dir.join(format!("{}-wanted", chosen.segment.id().uuid_string()));
        fs::create_dir_all(&dir)?;
        let directory = MmapDirectory::open(&dir)?;
        let part = std::slice::from_ref(&chosen.segment);
        let part = merge_filtered_segments(part, to.settings().clone(), vec![Some(kept)], directory)?;
        let segments = part.searchable_segments()?;
        let [segment] = segments.as_slice() else {
            return Err(tantivy::TantivyError::InternalError("documents were not merged into one segment".to_owned()));
        };
        copy_segment(segment, to)
    }
}

impl WantedDocuments {
    fn of(segment: Segment, wanted: &mut dyn FnMut(SplitEntry) -> bool) -> tantivy::Result<Self> {
        let reader = SegmentReader::open(&segment)?;
        let columns = reader.fast_fields();
        let (ids, ats) = (columns.u64(column::ID)?, columns.i64(column::AT)?);
        let (clusters, hashes) = (columns.u64(column::CLUSTER)?, columns.u64(column::SIMHASH)?);
        let (mut pages, mut documents) = (Vec::new(), BitSet::with_max_value(reader.max_doc()));
        for doc in reader.doc_ids_alive() {
            let (Some(id), Some(at)) = (ids.first(doc), ats.first(doc)) else { continue };
            let cluster = PageId(clusters.first(doc).unwrap_or(id));
            let hashed = hashes.first(doc).unwrap_or(0) != 0;
            if wanted(SplitEntry { page: PageId(id), at: Moment(at), cluster, hashed }) {
                pages.push(PageId(id));
                documents.insert(doc);
            }
        }
        let all = u32::try_from(pages.len()).is_ok_and(|pages| pages == reader.max_doc());
        Ok(Self { segment, pages, documents: (!all).then_some(documents) })
    }
}

/// Copies the files of a segment. They are written by the engine, which then knows that it may
/// delete them, and gives each a checksum of its own.
fn copy_segment(from: &Segment, to: &Index) -> tantivy::Result<SegmentMeta> {
    let segment = to.new_segment();
    for component in COMPONENTS {
        let bytes = from.open_read(component.clone())?.read_bytes()?;
        let mut out = segment.open_write(component)?;
        out.write_all(&bytes)?;
        out.terminate()?;
    }
    let meta = segment.with_max_doc(from.meta().max_doc()).meta().clone();
    meta.untrack_temp_docstore();
    Ok(meta)
}

fn unpacked(file: &Path, dir: &Path) -> io::Result<()> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut bytes = BufReader::new(File::open(file)?);
    let (mut sign, mut length) = ([0; SIGN.len()], [0; 4]);
    bytes.read_exact(&mut sign)?;
    bytes.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if sign != *SIGN || length > LONGEST {
        return Err(bad("it is not a split of a text index"));
    }
    let mut header = vec![0; length as usize];
    bytes.read_exact(&mut header)?;
    let header: SplitHeader = serde_json::from_slice(&header).map_err(|_| bad("its header cannot be read"))?;
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    for PackedFile { name, length } in header.files {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
        if name.starts_with('.') || !name.chars().all(is_plain) {
            return Err(bad("its header names a file elsewhere"));
        }
        let copied = io::copy(&mut (&mut bytes).take(length), &mut File::create(dir.join(&name))?)?;
        if copied != length {
            return Err(bad("it is cut off"));
        }
    }
    Ok(())
}
