//! Where are the bytes of a shared project?
//!
//! Each batch is one object with a name of its own, `<project>-<run>-<worker>-<batch>-<nonce>.warc.gz`,
//! in a directory that all workers see or in a bucket. A name is never used twice, so nothing needs a
//! conditional write, and an object that no row names belongs to a commit that never happened.

use super::connect::{S3Options, SharedAddress};
use crate::error::{Result, StoreError};
use crate::replace::sync_dir;
use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as ObjectPath;
use object_store::{Error, ObjectStore as _, ObjectStoreExt as _, PutPayload, RetryConfig};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;

/// An object that no row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrphanObject {
    /// Its name.
    pub name: String,
    /// Its length.
    pub length: u64,
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

/// Younger objects may belong to a commit under way.
const SETTLED: Duration = Duration::from_secs(3_600);

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
            ObjectPlace::Directory(dir) => write_file(dir, name, &bytes),
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

    /// All objects that are old enough to be settled.
    pub(crate) fn list(&self) -> Result<Vec<OrphanObject>> {
        let settled = SystemTime::now() - SETTLED;
        match &self.place {
            ObjectPlace::Directory(dir) => {
                let fail = |e| StoreError::io("list", dir, e);
                let mut found = Vec::new();
                for entry in fs::read_dir(dir).map_err(fail)? {
                    let entry = entry.map_err(fail)?;
                    let meta = entry.metadata().map_err(fail)?;
                    if meta.is_file() && meta.modified().is_ok_and(|at| at < settled) {
                        let name = entry.file_name().to_string_lossy().into_owned();
                        found.push(OrphanObject { name, length: meta.len() });
                    }
                }
                Ok(found)
            }
            ObjectPlace::Bucket { store, prefix, runtime } => runtime.block_on(async {
                let listed = store.list_with_delimiter(Some(prefix)).await.map_err(|e| self.failed("list", e))?;
                let old = listed.objects.into_iter().filter(|meta| SystemTime::from(meta.last_modified) < settled);
                Ok(old
                    .map(|meta| OrphanObject {
                        name: meta.location.filename().unwrap_or_default().to_owned(),
                        length: meta.size,
                    })
                    .collect())
            }),
        }
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
fn write_file(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let (path, part) = (dir.join(name), dir.join(format!("{name}.part")));
    let fail = |e| StoreError::io("write", &path, e);
    let mut file = File::create(&part).map_err(fail)?;
    file.write_all(bytes).and_then(|()| file.sync_data()).map_err(fail)?;
    fs::rename(&part, &path).map_err(fail)?;
    sync_dir(dir)
}
