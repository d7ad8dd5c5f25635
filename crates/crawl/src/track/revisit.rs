//! How is a page judged that was visited before?
//!
//! The middle of tracking, on the reading threads: a response is compared with what the lease says
//! about earlier runs. Equal bytes decide; otherwise the project's comparators; and a second
//! request where only another response can tell a change from noise. What the web does wrong on the
//! way (no response, an error, a truncated body) says nothing about the document: that is `ERR`,
//! and it stays known.

use super::looks::{First, FirstLooks, Noises};
use bytes::Bytes;
use orb_answers::{HelperLimits, PageViews};
use orb_extract::Content;
use orb_page::{Body, Flag, Lease, PageKind, Response, ResponseKind, Truncation, Version, Visit};
use orb_store::ArchiveReader;
use orb_track::compare::{CompareJudgement, Comparison, Views};
use std::sync::Arc;

/// Maximum size of a version that is compared by its content.
const MAX_COMPARED: u64 = 64 << 20;

/// Number of additional responses after which a page that still seems to have changed is believed:
/// two responses may agree by chance on dynamic content. The second number is for hosts about which
/// little is known yet.
const ENOUGH_LOOKS: u8 = 2;
const MOST_LOOKS: u8 = 4;

/// How revisited pages are judged.
#[derive(Clone)]
pub(crate) struct Revisits {
    /// The project's comparators.
    pub comparison: Arc<Comparison>,
    /// Where earlier versions are.
    pub archive: ArchiveReader,
    /// What is dynamic per response, by host.
    pub noises: Arc<Noises>,
    /// Responses that wait for another.
    pub looks: Arc<FirstLooks>,
    /// Consecutive runs in which the server must say that a page is gone.
    pub confirm_missing: u32,
    /// Whether to fetch a page twice if it seems to have changed.
    pub second_look: bool,
    /// What a process that reads documents may use.
    pub limits: HelperLimits,
}

/// What to do with a response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RevisitDecision {
    /// The flag is set.
    Flagged,
    /// The page must be fetched once more first.
    LookAgain,
}

/// The version that a response repeats, by its status or its bytes.
pub(crate) fn repeated(lease: &Lease, status: u16, digest: Option<[u8; 32]>) -> Option<&Version> {
    let before = lease.before.as_deref()?;
    let latest = before.latest.as_ref().filter(|latest| before.there || latest.kind == PageKind::Listing)?;
    let was_asked = latest.etag.is_some() || latest.last_modified.is_some();
    let same = match status {
        304 => was_asked,
        200..300 => digest.is_some() && digest == latest.digest,
        _ => false,
    };
    same.then_some(latest)
}

/// Copies an unchanged version into a visit.
pub(crate) fn copy_version(visit: &mut Visit, version: &Version) {
    visit.flag = Flag::Same;
    visit.known = version.kind != PageKind::Listing;
    visit.kind = version.kind;
    visit.mime.clone_from(&version.mime);
    visit.charset.clone_from(&version.charset);
    visit.length = version.length;
    visit.digest = version.digest;
    visit.simhash = version.simhash;
    visit.title.clone_from(&version.title);
    visit.lang.clone_from(&version.lang);
    visit.duplicate_of = version.duplicate_of;
    visit.kept.clone_from(&version.warc);
    if visit.etag.is_none() {
        visit.etag.clone_from(&version.etag);
    }
    if visit.last_modified.is_none() {
        visit.last_modified.clone_from(&version.last_modified);
    }
}

/// Says of a directory whether it lists what it listed before. It is not a document: its flag is
/// neither counted nor reported; those of its entries are.
pub(crate) fn flag_listing(lease: &Lease, visit: &mut Visit) {
    let before = lease.before.as_deref().and_then(|before| before.latest.as_ref());
    visit.flag = match before {
        None => Flag::New,
        Some(version) if version.digest == visit.digest => Flag::Same,
        Some(_) => Flag::Updated,
    };
}

/// Flags a failed visit by whether the document existed before.
pub(crate) fn flag_failure(lease: &Lease, visit: &mut Visit) {
    visit.known = lease.before.as_ref().is_some_and(|before| before.there);
}

impl Revisits {
    /// Flags a visit whose response does not repeat the last one.
    pub(crate) fn flag(
        &self,
        lease: &Lease,
        visit: &mut Visit,
        response: &Response,
        content: &Bytes,
    ) -> RevisitDecision {
        let Some(before) = lease.before.as_deref() else { return RevisitDecision::Flagged };
        visit.known = before.there;
        if !before.there {
            visit.flag = if visit.is_document() { Flag::New } else { Flag::Error };
            return RevisitDecision::Flagged;
        }
        match (response.status, visit.kind) {
            // It may only want to see its cookie again.
            (_, PageKind::Redirect) if !lease.again && response.headers.get("set-cookie").is_some() => {
                return RevisitDecision::LookAgain;
            }
            (_, PageKind::Redirect) => visit.flag = Flag::Updated,
            (404 | 410, _) => self.flag_gone(before.misses + 1, response.status, visit),
            _ if visit.is_document() && response.truncated != Some(Truncation::Disconnect) => {
                if let Some(base) = before.base() {
                    return self.compare(lease, visit, response, (base, content));
                }
            }
            (status, _) => {
                visit.flag = Flag::Error;
                if !(200..300).contains(&status) {
                    visit.detail = Some(format!("the server answered {status}"));
                }
            }
        }
        RevisitDecision::Flagged
    }

    /// The server says that it is gone: believed when it has said so often enough.
    fn flag_gone(&self, misses: u32, status: u16, visit: &mut Visit) {
        if misses >= self.confirm_missing {
            visit.flag = Flag::Missing;
            visit.detail = Some(format!("the server answered {status}"));
            return;
        }
        visit.flag = Flag::Error;
        visit.detail =
            Some(format!("the server answered {status}; gone if it says so in {} runs in a row", self.confirm_missing));
    }

    /// Compares a version with the one last reported.
    fn compare(
        &self,
        lease: &Lease,
        visit: &mut Visit,
        response: &Response,
        (base, content): (&Version, &Bytes),
    ) -> RevisitDecision {
        let judged = match (visit.digest, base.digest) {
            (None, None) if visit.length == base.length && visit.etag == base.etag => CompareJudgement::Same,
            (None, _) | (_, None) => CompareJudgement::Changed { detail: "the body could not be compared".into() },
            (now, then) if now == then => CompareJudgement::Same,
            _ => self.judge(lease, response, base, content),
        };
        match judged {
            CompareJudgement::Same => visit.flag = Flag::Same,
            CompareJudgement::Around { detail } => {
                visit.flag = Flag::Same;
                visit.detail = Some(format!("around: {detail}"));
            }
            CompareJudgement::Changed { detail } => {
                visit.flag = Flag::Updated;
                visit.detail = Some(detail);
            }
            CompareJudgement::Failed(why) => {
                visit.flag = Flag::Error;
                visit.detail = Some(why);
            }
            CompareJudgement::AskAgain => return RevisitDecision::LookAgain,
        }
        RevisitDecision::Flagged
    }

    fn judge(&self, lease: &Lease, response: &Response, base: &Version, content: &Bytes) -> CompareJudgement {
        let url = lease.url.as_str();
        let (mime, charset) = (response.headers.mime(), response.headers.charset());
        let new = PageViews::new(
            Content { bytes: content, mime: mime.as_deref(), charset: charset.as_deref(), url },
            self.limits,
        );
        let old = match self.old(base) {
            Ok(old) => old,
            Err(detail) => return CompareJudgement::Changed { detail },
        };
        let then = PageViews::new(old.content(url), self.limits);
        let noise = match self.noises.of(lease.host) {
            Ok(noise) => noise,
            // It can be learnt again; the page is compared as if its host were new.
            Err(why) => {
                tracing::warn!(host = lease.host.0, "what its responses generate cannot be read: {why}");
                Arc::default()
            }
        };
        let first = self.looks.take(lease.page);
        let again = first.as_ref().map(|first| PageViews::new(first.content(url), self.limits));
        let again = again.as_ref().map(|again| again as &dyn Views);
        let judged = self.comparison.judge(url, &then, &new, again, &noise);
        let earlier = first.as_ref().map_or(0, |first| first.earlier + 1);
        let unsure = match &judged {
            CompareJudgement::AskAgain => true,
            CompareJudgement::Changed { .. } => {
                again.is_some() && earlier < if noise.is_young() { MOST_LOOKS } else { ENOUGH_LOOKS }
            }
            CompareJudgement::Same | CompareJudgement::Around { .. } | CompareJudgement::Failed(_) => false,
        };
        if !unsure {
            return judged;
        }
        let kept = First { bytes: content.clone(), mime: mime.clone(), charset: charset.clone(), earlier };
        // Only web servers generate what they send: a file has no noise, nor has the text of a
        // document, and fetching one again is dear.
        let is_noisy = matches!(response.kind, ResponseKind::Http { .. }) && !new.is_document();
        if self.second_look && is_noisy && self.looks.keep(lease.page, kept) {
            return CompareJudgement::AskAgain;
        }
        // Nothing more will be known: any difference is a change.
        match judged {
            CompareJudgement::AskAgain => self.comparison.judge(url, &then, &new, Some(&new), &noise),
            judged => judged,
        }
    }

    /// An earlier version from the archive, or why it is unavailable, in one line.
    fn old(&self, version: &Version) -> Result<First, String> {
        let Some(place) = &version.warc else { return Err("the earlier version was not archived".into()) };
        let stored = self.archive.exchange(place).map_err(|e| format!("the earlier version cannot be read: {e}"))?;
        let codings = stored.headers.codings();
        let decoded = orb_fetch::decode(&Body::Memory(stored.body), &codings, MAX_COMPARED);
        Ok(First { bytes: decoded.bytes, mime: stored.headers.mime(), charset: stored.headers.charset(), earlier: 0 })
    }
}
