//! What waits to be fetched?
//!
//! The queue is derived from the catalogue, which also tells it while a run is under way: a page
//! waits if nothing keeps it from being fetched and no visit has been recorded since it was asked
//! for. There may be many millions, so an answer examines a stretch of pages for a few milliseconds
//! and says where the next begins. It goes from the last that was found to the first: a crawl
//! visits those that were found early, and what waits is at the end.

use crate::marks::PageMarks;
use crate::{AnswerError, Collection, Result};
use orb_page::HostId;
use orb_store::WaitingPage;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Pages that are examined between two looks at the clock.
const STEP: u64 = 1_000;

/// Time for one answer: the step that passes it is the last.
const TIME: Duration = Duration::from_millis(6);

/// Pages that are examined for one piece of the text.
const PIECE: u64 = 20_000;

/// Hosts that are listed, those with most pages first.
const HOSTS: usize = 200;

/// The largest regular expression, compiled.
const LARGEST: usize = 1 << 20;

/// Which part of the queue is wanted.
#[derive(Clone, Debug, Default)]
pub struct QueueFilter {
    text: Option<String>,
    pattern: Option<Regex>,
    host: Option<u32>,
}

impl QueueFilter {
    /// Pages whose URL contains a text, or matches it as a regular expression, and that are of this
    /// host.
    pub fn new(text: Option<&str>, is_pattern: bool, host: Option<u32>) -> Result<Self> {
        let wrong = |e: regex::Error| AnswerError::Malformed(format!("not a regular expression: {e}"));
        Ok(match text {
            Some(text) if is_pattern => {
                let pattern = RegexBuilder::new(text).size_limit(LARGEST).build().map_err(wrong)?;
                Self { text: None, pattern: Some(pattern), host }
            }
            text => Self { text: text.map(str::to_owned), pattern: None, host },
        })
    }

    fn lets(&self, url: &str) -> bool {
        self.text.as_deref().is_none_or(|text| url.contains(text))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(url))
    }
}

/// A stretch of the queue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QueuePart {
    /// How many pages of the stretch wait and pass the filter.
    pub found: u64,
    /// Their hosts, those with most pages first, 200 at most.
    pub hosts: Vec<QueuedHost>,
    /// Some of them, those that were discovered last first.
    pub pages: Vec<QueuedPage>,
    /// Where the next stretch begins: the pages before this number. `None` if this is the last.
    pub next: Option<u64>,
}

/// A host with pages in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueuedHost {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub host: String,
    /// Its pages that wait.
    pub queued: u64,
}

/// A page in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueuedPage {
    /// Its number.
    pub id: u64,
    /// Its URL.
    pub url: String,
    /// The number of its host.
    pub host_id: u32,
    /// Its distance from the seeds.
    pub depth: u32,
}

/// The stretch of the queue before the page of this number, by default the last one, with at most
/// so many of its pages.
pub fn queue(collection: &Collection, filter: &QueueFilter, before: Option<u64>, limit: usize) -> Result<QueuePart> {
    let (mut found, mut pages, mut counts) = (0, Vec::new(), HashMap::<u32, u64>::new());
    let next = walk_back(collection, filter, before, |page| {
        found += 1;
        *counts.entry(page.host).or_default() += 1;
        if pages.len() < limit {
            let WaitingPage { id, url, host, depth } = page;
            pages.push(QueuedPage { id, url, host_id: host, depth });
        }
    })?;
    let mut counts: Vec<(u32, u64)> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|&(host, queued)| (std::cmp::Reverse(queued), host));
    counts.truncate(HOSTS);
    let named = |(id, queued): (u32, u64)| {
        let row = collection.catalogue().host(HostId(id))?;
        let host =
            row.map_or_else(|| format!("host {id}"), |row| format!("{}://{}:{}", row.scheme, row.name, row.port));
        Ok(QueuedHost { id, host, queued })
    };
    let hosts = counts.into_iter().map(named).collect::<Result<_>>()?;
    Ok(QueuePart { found, hosts, pages, next })
}

/// Gives the pages that wait and pass a filter, from the one before a number on towards the first,
/// until time is up; returns before which number the next stretch is.
fn walk_back(
    collection: &Collection,
    filter: &QueueFilter,
    before: Option<u64>,
    mut each: impl FnMut(WaitingPage),
) -> Result<Option<u64>> {
    collection.catalogue().at_one_moment(|reader| {
        let (marks, begun) = (PageMarks::now(collection)?, Instant::now());
        let mut last = reader.extent()?.pages.min(before.unwrap_or(u64::MAX).saturating_sub(1));
        while last > 0 {
            let step = (last.saturating_sub(STEP), last);
            if marks.as_ref().is_none_or(|marks| marks.has_queued(step)) {
                let mut waiting = Vec::new();
                reader.each_waiting(step, filter.host, |page| {
                    waiting.push(page);
                    Ok::<_, AnswerError>(())
                })?;
                waiting.into_iter().rev().filter(|page| filter.lets(&page.url)).for_each(&mut each);
            }
            last = step.0;
            if last > 0 && begun.elapsed() >= TIME {
                return Ok(Some(last + 1));
            }
        }
        Ok(None)
    })
}

/// The URLs of a stretch of the queue, one a line, and where the next begins.
pub fn queue_text(collection: &Collection, filter: &QueueFilter, after: u64) -> Result<(String, Option<u64>)> {
    let mut text = String::new();
    let next = walk(collection, filter, (after, PIECE), |page| {
        text.push_str(&page.url);
        text.push('\n');
    })?;
    Ok((text, next))
}

/// Gives the pages that wait and pass a filter, among so many after one; returns where the next
/// stretch begins.
fn walk(
    collection: &Collection,
    filter: &QueueFilter,
    (after, examined): (u64, u64),
    mut each: impl FnMut(WaitingPage),
) -> Result<Option<u64>> {
    collection.catalogue().at_one_moment(|reader| {
        let (known, last) = (reader.extent()?.pages, after.saturating_add(examined));
        reader.each_waiting((after, last), filter.host, |page| {
            if filter.lets(&page.url) {
                each(page);
            }
            Ok::<_, AnswerError>(())
        })?;
        Ok((last < known).then_some(last))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_text_or_a_pattern() {
        let lets = |text, is_pattern| QueueFilter::new(text, is_pattern, None).unwrap().lets("http://a.test/b?c=1");
        assert!(lets(None, true) && lets(Some("b?c"), false) && lets(Some(r"\?c=\d$"), true));
        assert!(!lets(Some(r"\?c=\d$"), false) && !lets(Some("^b"), true));
        assert!(matches!(QueueFilter::new(Some("("), true, None), Err(AnswerError::Malformed(_))));
        assert!(matches!(QueueFilter::new(Some(r"(\pL{99}){99}"), true, None), Err(AnswerError::Malformed(_))));
    }
}
