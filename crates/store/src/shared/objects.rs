//! Where are the bytes of a shared project?
//!
//! Each batch is one object with a name of its own,
//! `<project>-<run>-<worker>-<batch>-<nonce>.warc.gz`, in a directory that all workers see or in a
//! bucket. A name is never used twice, so nothing needs a conditional write, and an object that no
//! row names belongs to a commit that never happened. Many objects may be stitched together into a
//! larger one, which belongs to no run and is said to be of run 0.

use super::connect::{S3Options, SharedAddress};
use crate::FileEnd;
use crate::error::{Result, StoreError};
use crate::replace::sync_dir;
use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as ObjectPath;
use object_store::{Error, ObjectStore as _, ObjectStoreExt as _, PutPayload, RetryConfig};
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;

/// An object of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredObject {
    pub(super) name: String,
    pub(super) length: u64,
    /// When it was written, by the clock of whoever keeps it.
    pub(super) written: SystemTime,
}

/// The objects of a project.
pub(crate) struct ObjectArchive {
    place: ObjectPlace,
    /// How people know the place.
    shown: String,
}

enum ObjectPlace {
    Directory(PathBuf),
    Bucket { store: Box<AmazonS3>, prefix: ObjectPath, runtime: Runtime },
}

/// How long requests are repeated before the caller hears of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of a part of an upload, and read at once where objects are stitched together.
const PART: u64 = 8 << 20;

/// Objects up to this length are written by one request.
const WHOLE: u64 = 64 << 20;

/// Takes the pieces of an object in their order.
pub(super) type PieceSink<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// How names of objects end, and of those that are not whole yet.
const ENDS: [&str; 2] = [".warc.gz", ".warc.gz.part"];

impl ObjectArchive {
    /// The objects of a project at an address.
    pub(crate) fn open(at: &SharedAddress, project: &str) -> Result<Self> {
        let shown = at.archive.clone();
        if let Some(dir) = at.archive.strip_prefix("file://").filter(|dir| dir.starts_with('/')) {
            return Ok(Self { place: ObjectPlace::Directory(Path::new(dir).join(project)), shown });
        }
        let Some(place) = at.archive.strip_prefix("s3://").filter(|place| !place.is_empty()) else {
            return Err(StoreError::Shared(format!(
                "the archive's address should look like file:///directory or s3://bucket/prefix, not {shown}"
            )));
        };
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let prefix = ObjectPath::from(format!("{prefix}/{project}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| StoreError::ArchiveAway { what: "begin", source: e.into() })?;
        let store =
            bucket_store(bucket, &at.s3).map_err(|e| StoreError::Shared(format!("{shown} cannot be used: {e}")))?;
        Ok(Self { place: ObjectPlace::Bucket { store: Box::new(store), prefix, runtime }, shown })
    }

    /// Whether it can be written to, as far as that can be known without writing.
    pub(crate) fn probe(&self) -> Result<()> {
        match &self.place {
            ObjectPlace::Directory(dir) => fs::create_dir_all(dir).map_err(|e| StoreError::io("make", dir, e)),
            ObjectPlace::Bucket { store, prefix, runtime } => runtime.block_on(async {
                let listed = store.list_with_delimiter(Some(prefix)).await;
                listed.map(drop).map_err(|e| self.failed("list", e))
            }),
        }
    }

    /// Stores an object under a name that was never used.
    pub(crate) fn put(&self, name: &str, bytes: Vec<u8>) -> Result<()> {
        match &self.place {
            ObjectPlace::Directory(dir) => write_file(dir, name, |out| {
                out.write_all(&bytes).map_err(|e| StoreError::io("write", &dir.join(name), e))
            }),
            ObjectPlace::Bucket { store, prefix, runtime } => runtime.block_on(async {
                let put = store.put(&prefix.clone().join(name), PutPayload::from(bytes)).await;
                put.map(drop).map_err(|e| self.failed("write", e))
            }),
        }
    }

    /// The bytes of an object from an offset on, at most `length`.
    pub(crate) fn read(&self, name: &str, offset: u64, length: u64) -> Result<Bytes> {
        match &self.place {
            ObjectPlace::Directory(dir) => {
                let path = dir.join(name);
                let fail = |e| StoreError::io("read", &path, e);
                let mut file = File::open(&path).map_err(fail)?;
                file.seek(SeekFrom::Start(offset)).map_err(fail)?;
                let mut bytes = Vec::new();
                file.take(length).read_to_end(&mut bytes).map_err(fail)?;
                Ok(bytes.into())
            }
            ObjectPlace::Bucket { store, prefix, runtime } => runtime.block_on(async {
                let range = offset..offset.saturating_add(length);
                let read = store.get_range(&prefix.clone().join(name), range).await;
                read.map_err(|e| self.failed("read", e))
            }),
        }
    }

    /// All objects of batches, also those that were never finished.
    pub(super) fn list(&self) -> Result<Vec<StoredObject>> {
        let mut found = match &self.place {
            ObjectPlace::Directory(dir) => list_directory(dir)?,
            ObjectPlace::Bucket { store, prefix, runtime } => runtime.block_on(async {
                let listed = store.list_with_delimiter(Some(prefix)).await.map_err(|e| self.failed("list", e))?;
                let objects = listed.objects.into_iter().map(|meta| StoredObject {
                    name: meta.location.filename().unwrap_or_default().to_owned(),
                    length: meta.size,
                    written: meta.last_modified.into(),
                });
                Ok(objects.collect())
            })?,
        };
        found.retain(|object| ENDS.iter().any(|end| object.name.ends_with(end)));
        Ok(found)
    }

    /// Removes an object; one that is gone already is gone.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        match &self.place {
            ObjectPlace::Directory(dir) => {
                let path = dir.join(name);
                match fs::remove_file(&path) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", &path, e)),
                    _ => Ok(()),
                }
            }
            ObjectPlace::Bucket { store, prefix, runtime } => runtime.block_on(async {
                match store.delete(&prefix.clone().join(name)).await {
                    Err(Error::NotFound { .. }) => Ok(()),
                    done => done.map_err(|e| self.failed("remove", e)),
                }
            }),
        }
    }

    /// Stores an object of so many bytes, which come in pieces, under a name that was never used.
    /// It is there as a whole or not at all. Of a large one a part at a time is held in memory.
    pub(super) fn put_pieces(
        &self,
        name: &str,
        length: u64,
        pieces: impl FnOnce(&mut PieceSink<'_>) -> Result<()>,
    ) -> Result<()> {
        if length > WHOLE || matches!(self.place, ObjectPlace::Directory(_)) {
            return self.upload(name, pieces);
        }
        let mut whole = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        pieces(&mut |bytes| {
            whole.extend_from_slice(bytes);
            Ok(())
        })?;
        self.put(name, whole)
    }

    /// Stitches objects together into one under a name that was never used, which is there as a
    /// whole or not at all. A part at a time is held in memory.
    pub(super) fn stitch(&self, parts: &[FileEnd], name: &str) -> Result<()> {
        self.upload(name, |write| self.each_part(parts, |bytes| write(&bytes)))
    }

    /// Writes an object in parts.
    fn upload(&self, name: &str, pieces: impl FnOnce(&mut PieceSink<'_>) -> Result<()>) -> Result<()> {
        match &self.place {
            ObjectPlace::Directory(dir) => write_file(dir, name, |file| {
                let fail = |e| StoreError::io("write", &dir.join(name), e);
                let mut out = BufWriter::new(file);
                pieces(&mut |bytes| out.write_all(bytes).map_err(fail))?;
                out.flush().map_err(fail)
            }),
            ObjectPlace::Bucket { store, prefix, runtime } => {
                let fail = |e| self.failed("write", e);
                let upload = runtime.block_on(store.put_multipart(&prefix.clone().join(name)));
                let mut upload = upload.map_err(fail)?;
                let mut waiting = Vec::new();
                let sent = pieces(&mut |bytes| {
                    waiting.extend_from_slice(bytes);
                    // All parts but the last are of one size, as some servers want it.
                    while waiting.len() as u64 >= PART {
                        let rest = waiting.split_off(usize::try_from(PART).unwrap_or(waiting.len()));
                        let part = PutPayload::from(std::mem::replace(&mut waiting, rest));
                        runtime.block_on(upload.put_part(part)).map_err(fail)?;
                    }
                    Ok(())
                });
                let done = sent.and_then(|()| {
                    if !waiting.is_empty() {
                        runtime.block_on(upload.put_part(PutPayload::from(waiting))).map_err(fail)?;
                    }
                    runtime.block_on(upload.complete()).map(drop).map_err(fail)
                });
                if done.is_err() {
                    // What is left of it is removed by the bucket's own rules at the latest.
                    let _ = runtime.block_on(upload.abort());
                }
                done
            }
        }
    }

    /// Calls back with the bytes of objects in their order, each of which must be whole.
    fn each_part(&self, objects: &[FileEnd], mut each: impl FnMut(Bytes) -> Result<()>) -> Result<()> {
        for object in objects {
            let mut at = 0;
            while at < object.length {
                let bytes = self.read(&object.name, at, PART.min(object.length - at))?;
                if bytes.is_empty() {
                    let place = self.place_of(&object.name);
                    let what = format!("it ends at byte {at} and not at {}", object.length);
                    return Err(StoreError::damaged(&place, what));
                }
                at += bytes.len() as u64;
                each(bytes)?;
            }
        }
        Ok(())
    }

    /// Where an object is, for errors.
    pub(crate) fn place_of(&self, name: &str) -> PathBuf {
        match &self.place {
            ObjectPlace::Directory(dir) => dir.join(name),
            ObjectPlace::Bucket { .. } => PathBuf::from(format!("{}/{name}", self.shown)),
        }
    }

    fn failed(&self, what: &'static str, error: Error) -> StoreError {
        // A status that the crate has no word for is only in the text of its cause.
        let said = format!("{error:?}");
        let has = |status: &str| said.contains(&format!("status: {status}"));
        if matches!(error, Error::NotFound { .. }) || has("404") {
            return StoreError::Shared(format!("cannot {what} in {}: there is no such bucket or object", self.shown));
        }
        if matches!(error, Error::Unauthenticated { .. } | Error::PermissionDenied { .. }) || has("401") || has("403") {
            return StoreError::Shared(format!("cannot {what} in {}: the key is wrong or may not do that", self.shown));
        }
        StoreError::ArchiveAway { what, source: error.into() }
    }
}

impl std::fmt::Debug for ObjectArchive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ObjectArchive").field(&self.shown).finish()
    }
}

fn bucket_store(bucket: &str, s3: &S3Options) -> std::result::Result<AmazonS3, Error> {
    // The one there is, unless the program has chosen: then that stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig { retry_timeout: PATIENCE, ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::new().with_bucket_name(bucket).with_retry(retry);
    builder = builder.with_region(s3.region.as_deref().unwrap_or("us-east-1"));
    if let Some(endpoint) = &s3.endpoint {
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
    }
    if let (Some(id), Some(secret)) = (&s3.key_id, &s3.secret) {
        builder = builder.with_access_key_id(id).with_secret_access_key(secret);
    }
    if let Some(token) = &s3.token {
        builder = builder.with_token(token);
    }
    builder.build()
}

/// Writes a file that is there as a whole or not at all.
fn write_file(dir: &Path, name: &str, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let (path, part) = (dir.join(name), dir.join(format!("{name}.part")));
    let fail = |e| StoreError::io("write", &path, e);
    let mut file = File::create(&part).map_err(fail)?;
    write(&mut file)?;
    file.sync_data().map_err(fail)?;
    fs::rename(&part, &path).map_err(fail)?;
    sync_dir(dir)
}

/// The files of a directory.
fn list_directory(dir: &Path) -> Result<Vec<StoredObject>> {
    let fail = |e| StoreError::io("list", dir, e);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let meta = match entry.metadata() {
            // It has got its name meanwhile, or was removed.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            meta => meta.map_err(fail)?,
        };
        if meta.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.push(StoredObject { name, length: meta.len(), written: meta.modified().map_err(fail)? });
        }
    }
    Ok(found)
}
