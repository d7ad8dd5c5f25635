//! How is a file of this machine fetched?
//!
//! Only below the directories that were named for it ([`FetchConfig::file_roots`]): those of the
//! seeds, and what the operator adds. A path is walked from the descriptor of its root, name by
//! name, and no name may be a symbolic link (`O_NOFOLLOW`), so nothing leads out, not even what is
//! exchanged while we look. Only files and directories are opened: no pipes, no devices, no
//! sockets. There is no machine to be polite to, and the line is not used.
//!
//! What a directory lists in this run decides which of its files are opened at all ([`Listed`]):
//! one that has the stamp of the version we have is that version. A visit on a thread that may wait
//! for the disk costs ten times as much as looking it up.

mod walk;

use crate::intake::Received;
use crate::listed::{Entry, Listed};
use crate::names::{answer, bare, decoded, hopeless, listing, mime_of, outcome};
use crate::{BoxFuture, Fetch, FetchConfig, FetchError, Watch};
use orb_page::{Body, Failure, FailureKind, Lease, Listing, Moment, Outcome, Response, Timings, Truncation, Version};
use orb_urls::Address;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use walk::{FileRoots, Found, InodeStamp, Looked};

/// The name of the protocol in what is recorded.
const FILE: &str = "file";

/// Fetches files of this machine.
pub(crate) struct FileFetcher {
    config: Arc<FetchConfig>,
    roots: Arc<FileRoots>,
    listed: Listed<InodeStamp>,
}

impl FileFetcher {
    pub(crate) fn new(config: Arc<FetchConfig>) -> Result<Self, FetchError> {
        let roots = Arc::new(FileRoots::new(&config.file_roots));
        Ok(Self { config, roots, listed: Listed::default() })
    }

    async fn errand(&self, lease: &Lease, watch: &dyn Watch) -> Outcome {
        let (at, begun) = (Moment::now(), Instant::now());
        let result = match FileErrand::new(self, lease) {
            Ok(errand) => self.page(lease, errand).await,
            Err(failure) => Err(failure),
        };
        if let Ok(response) = &result {
            watch.received(usize::try_from(response.wire.len()).unwrap_or(usize::MAX));
        }
        outcome(at, Timings { body: begun.elapsed(), ..Timings::default() }, result)
    }

    async fn page(&self, lease: &Lease, errand: FileErrand) -> Result<Response, Failure> {
        // Tasks that ask for an entry wait for it from here on.
        let pending = errand.url.ends_with('/').then(|| self.listed.begin(&lease.url));
        if let Some(tag) = self.recalled(lease, &errand).await {
            let mut response = bare(304, FILE)?;
            response.headers.push(b"ETag", tag.as_bytes());
            return Ok(response);
        }
        let asked = tokio::task::spawn_blocking(move || errand.run()).await;
        let FileAnswer { response, listing, stamps } =
            asked.unwrap_or_else(|error| Err(Failure::new(FailureKind::Local, error.to_string())))?;
        if let Some(pending) = pending {
            match &listing {
                Some(Listing { entries }) => {
                    pending.known(entries.iter().map(|entry| entry.reference.as_str()).zip(stamps));
                }
                None => pending.failed(),
            }
        }
        Ok(response)
    }

    /// The tag of a file that its directory lists as it was: nothing is opened.
    async fn recalled(&self, lease: &Lease, errand: &FileErrand) -> Option<String> {
        let (tag, at) = errand.known.as_ref().filter(|_| !errand.url.ends_with('/'))?;
        // A directory that was listed in a part of the run that was interrupted is not waited for.
        match self.listed.look(&lease.url).await {
            Entry::Listed(Some(stamp)) if stamp.is_of(tag, *at) => Some(tag.clone()),
            _ => None,
        }
    }
}

/// What a path leads to, and what it lists if it is a directory.
struct FileAnswer {
    response: Response,
    listing: Option<Listing>,
    stamps: Vec<Option<InodeStamp>>,
}

impl From<Response> for FileAnswer {
    fn from(response: Response) -> Self {
        Self { response, listing: None, stamps: Vec::new() }
    }
}

/// One page being fetched, on a thread that may wait for the disk.
struct FileErrand {
    config: Arc<FetchConfig>,
    roots: Arc<FileRoots>,
    path: Vec<u8>,
    url: String,
    /// Tag and time of the version that is known.
    known: Option<(String, Moment)>,
}

impl FileErrand {
    fn new(fetcher: &FileFetcher, lease: &Lease) -> Result<Self, Failure> {
        let address = Address::from_canonical(lease.request_url()).map_err(|why| hopeless(why.to_string()))?;
        let path = decoded(address.path())?;
        let tag = |version: &Version| Some((version.etag.clone()?, version.at));
        let before = lease.before.as_deref().filter(|before| before.there && !lease.again);
        let known = before.and_then(|before| before.latest.as_ref()).and_then(tag);
        let (config, roots) = (Arc::clone(&fetcher.config), Arc::clone(&fetcher.roots));
        Ok(Self { config, roots, path, url: address.into_string(), known })
    }

    fn run(self) -> Result<FileAnswer, Failure> {
        let response = match self.roots.look(&self.path) {
            Ok(Looked::Directory(found)) if self.url.ends_with('/') => {
                let (entries, stamps) = found.into_iter().unzip();
                let found = Listing { entries };
                return Ok(FileAnswer { response: listing(&found, FILE)?, listing: Some(found), stamps });
            }
            Ok(Looked::Directory(_)) => {
                let mut response = bare(301, FILE)?;
                response.headers.push(b"Location", format!("{}/", self.url).as_bytes());
                response
            }
            Ok(Looked::File(found)) if !self.url.ends_with('/') => self.file(found)?,
            Ok(Looked::File(_) | Looked::Missing) => bare(404, FILE)?,
            Ok(Looked::Forbidden(why)) => return Err(hopeless(why)),
            Err(error) => return Err(unreadable(&error)),
        };
        Ok(response.into())
    }

    fn file(self, found: Found) -> Result<Response, Failure> {
        let stamp = found.stamp;
        let is_known = self.known.as_ref().is_some_and(|(known, at)| stamp.is_of(known, *at));
        let mime = mime_of(&self.url);
        let mut response = if is_known {
            bare(304, FILE)?
        } else if !mime.ends_with("/unknown") && !self.config.accepts(mime) {
            let response = answer(200, mime, Body::empty(), FILE)?;
            Response { truncated: Some(Truncation::Unwanted), ..response }
        } else {
            let at = stamp.modified();
            let Received { body, truncated } = found.read(&self.config, mime).map_err(|error| unreadable(&error))?;
            let mut response = answer(200, mime, body, FILE)?;
            response.headers.push(b"Last-Modified", crate::names::http_date(at).as_bytes());
            Response { truncated, ..response }
        };
        response.headers.push(b"ETag", stamp.tag().as_bytes());
        Ok(response)
    }
}

/// The directory that a URL of a file or directory of this machine names or lies in.
pub fn directory_of(address: &Address) -> Option<PathBuf> {
    let path = address.path();
    let directory = decoded(&path[..=path.rfind('/')?]).ok()?;
    Some(PathBuf::from(OsString::from_vec([b"/", &directory[..]].concat())))
}

/// A file that cannot be read says nothing about the others.
fn unreadable(error: &io::Error) -> Failure {
    hopeless(format!("it cannot be read: {error}"))
}

impl Fetch for FileFetcher {
    fn fetch<'a>(&'a self, lease: &'a Lease, watch: &'a dyn Watch) -> BoxFuture<'a, Outcome> {
        Box::pin(self.errand(lease, watch))
    }
}
