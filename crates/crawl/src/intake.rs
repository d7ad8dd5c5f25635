//! Which calls does a run answer, and were they right?
//!
//! Pages that somebody called for (`orb_store::ProjectIntake`) go first in the queues of their
//! hosts, those of the most reliable sources before the others. They are calls, not orders: scope,
//! robots.txt, traps and the address guard apply to them as to every link, and where a run has a
//! budget of visits they count against it. What does not fit waits for the next run. A crawl
//! collects and revisits nothing, so calls for pages that were visited before wait for a tracking
//! run.
//!
//! A call is a noisy signal of a change. At the end of the run the visits show how often each
//! source was right, which is how far it is believed next time.

use crate::CrawlError;
use orb_page::{Flag, PageKind, RunId, RunKind, UrlKey};
use orb_store::{IntakeCall, Project, SourceRecord, StoreError};
use orb_urls::{Address, Canonicaliser, Rules};
use std::collections::BTreeMap;

/// The run that takes calls over.
#[derive(Clone, Copy)]
pub(crate) struct CallTaker {
    /// Its number.
    pub run: RunId,
    /// Whether it collects or revisits.
    pub kind: RunKind,
    /// How URLs are written.
    pub urls: Rules,
    /// How many visits it may make, if that is limited.
    pub room: Option<u64>,
}

/// Takes calls over, and returns all that the run has taken, the most reliable sources first.
pub(crate) fn take(project: &Project, taker: CallTaker) -> Result<Vec<Address>, CrawlError> {
    let (dir, canonical) = (project.dir(), Canonicaliser::new(taker.urls));
    let intake = dir.intake();
    let sources = intake.sources()?;
    let belief = |call: &IntakeCall| sources.get(&call.source).copied().unwrap_or_default().belief();
    // The sort is stable: of one source, the oldest goes first.
    let sorted = |mut calls: Vec<IntakeCall>| {
        calls.sort_by(|a, b| belief(b).total_cmp(&belief(a)));
        calls
    };
    if !intake.waiting()?.is_empty() {
        let mut failed = None;
        intake.hand_over(taker.run, |calls| {
            let mut wanted = |call: &IntakeCall| {
                let waits = taker.kind == RunKind::Crawl
                    && is_visited(project, &call.url).unwrap_or_else(|e| {
                        failed = Some(e);
                        true
                    });
                !waits
            };
            let room = taker.room.map_or(usize::MAX, |room| usize::try_from(room).unwrap_or(usize::MAX));
            sorted(calls).into_iter().filter(|call| wanted(call)).take(room).collect()
        })?;
        if let Some(e) = failed {
            return Err(e.into());
        }
    }
    let taken = sorted(intake.taken_by(taker.run)?);
    Ok(taken.iter().filter_map(|call| canonical.parse_seed(&call.url).ok()).collect())
}

/// Whether a call waits that a crawl would answer.
pub(crate) fn has_news(project: &Project) -> Result<bool, StoreError> {
    for call in project.dir().intake().waiting()? {
        if !is_visited(project, &call.url)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_visited(project: &Project, url: &str) -> Result<bool, StoreError> {
    let page = project.pages_of(&[UrlKey::of(url)])?.first().copied().flatten();
    Ok(match page {
        Some(page) => project.before(page)?.is_some(),
        None => false,
    })
}

/// Remembers how often the sources whose calls a run has taken were right.
pub(crate) fn learn(project: &Project, run: RunId) -> Result<(), StoreError> {
    let intake = project.dir().intake();
    let taken = intake.taken_by(run)?;
    if taken.is_empty() {
        return Ok(());
    }
    let reader = project.reader()?;
    let mut outcomes: BTreeMap<String, SourceRecord> = BTreeMap::new();
    for call in taken {
        let page = project.pages_of(&[UrlKey::of(&call.url)])?.first().copied().flatten();
        let page = page.map(|page| reader.page(page)).transpose()?.flatten();
        let outcome = outcomes.entry(call.source).or_default();
        let Some(page) = page else {
            outcome.unknown += 1;
            continue;
        };
        let visits = reader.visits(orb_page::PageId(page.id))?;
        let flag = visits.iter().find(|visit| visit.run == run.0).map(|visit| visit.flag.as_str());
        let is = |wanted: Flag| flag == Some(wanted.name());
        match () {
            () if page.kind == PageKind::Outside.name() => outcome.outside += 1,
            () if is(Flag::New) || is(Flag::Updated) || is(Flag::Missing) => outcome.right += 1,
            () if is(Flag::Same) => outcome.wrong += 1,
            () => outcome.unknown += 1,
        }
    }
    intake.learn(run, &outcomes)
}
