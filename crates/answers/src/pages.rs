//! Which pages are there, of one kind, host, status or media type?
//!
//! A list is read part by part: a part ends at its limit, or where enough pages were examined that
//! did not match, or where that took long enough, so that a rare filter on a large collection costs
//! many short answers and no long one. The next part continues after the last page that was
//! examined. Where what every page is has been counted, only those of the wanted kind are examined.

use crate::marks::PageMarks;
use crate::{AnswerError, Collection, Result};
use orb_page::PageKind;
use orb_store::{CatalogueReader, PageRow, PageSieve};
use schemars::JsonSchema;
use serde::Serialize;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Pages that are examined at most for one part of a list.
const EXAMINED: u64 = 50_000;

/// Pages that are examined between two looks at the clock.
const STEP: u64 = 2_500;

/// Time for one part: the step that passes it is the last.
const TIME: Duration = Duration::from_millis(15);

/// Which pages are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFilter {
    /// Their kinds; any, if there are none.
    pub kinds: Vec<PageKind>,
    /// The number of their host.
    pub host: Option<u32>,
    /// Their status code.
    pub status: Option<StatusRange>,
    /// Their media type; with `/` at its end, all that begin so; without `/`, a document type.
    pub mime: Option<String>,
    /// What their URL contains.
    pub url: Option<String>,
}

/// Status codes: one, or all that begin with a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusRange {
    first: u16,
    last: u16,
}

impl FromStr for StatusRange {
    type Err = AnswerError;

    /// Reads `404` or `4xx`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || AnswerError::Malformed(format!("'{text}' is not a status; say 404 or 4xx"));
        let (digits, span) = match text.strip_suffix("xx") {
            Some(digit) => (digit, 100),
            None => (text, 1),
        };
        let number: u16 = digits.parse().map_err(|_| wrong())?;
        let first = number.checked_mul(span).filter(|first| (100..1_000).contains(first)).ok_or_else(wrong)?;
        Ok(Self { first, last: first + (span - 1) })
    }
}

/// A part of the list of pages.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PageList {
    /// The pages, in the order in which they were discovered.
    pub pages: Vec<PageRow>,
    /// Where to continue: the pages after this number. `None` at the end.
    pub next: Option<u64>,
}

/// The pages after a number that pass a filter, at most so many.
pub fn pages(collection: &Collection, filter: &PageFilter, after: u64, limit: u64) -> Result<PageList> {
    let sieve = PageSieve {
        kinds: &filter.kinds,
        host: filter.host,
        status: filter.status.map(|range| (range.first, range.last)),
        mime: filter.mime.as_deref(),
        url: filter.url.as_deref(),
    };
    collection.catalogue().at_one_moment(|reader| {
        if !filter.kinds.is_empty()
            && let Some(marks) = PageMarks::now(collection)?
        {
            let candidates = marks.after(after, |mark| filter.kinds.iter().any(|kind| mark.is_a(*kind)));
            return marked(reader, &sieve, candidates, limit);
        }
        let (known, begun) = (reader.extent()?.pages, Instant::now());
        let (mut pages, mut end) = (Vec::new(), after);
        while end < known && end - after < EXAMINED && (end == after || begun.elapsed() < TIME) {
            let (step, left) = (end.saturating_add(STEP), limit - pages.len() as u64);
            pages.extend(reader.pages(&sieve, (end, step), left)?);
            if pages.len() as u64 >= limit {
                end = pages.last().map_or(end, |page| page.id);
                break;
            }
            end = step;
        }
        Ok(PageList { next: (end < known).then_some(end), pages })
    })
}

/// The same of pages whose kind is known.
fn marked(
    reader: &CatalogueReader,
    sieve: &PageSieve<'_>,
    candidates: impl Iterator<Item = u64>,
    limit: u64,
) -> Result<PageList> {
    let (mut pages, begun, mut candidates) = (Vec::new(), Instant::now(), candidates.peekable());
    while let Some(page) = candidates.next() {
        pages.extend(reader.pages(sieve, (page - 1, page), 1)?);
        if candidates.peek().is_some() && (pages.len() as u64 >= limit || begun.elapsed() > TIME) {
            return Ok(PageList { pages, next: Some(page) });
        }
    }
    Ok(PageList { pages, next: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_number_or_its_first_digit() {
        let range = |text: &str| text.parse::<StatusRange>().ok().map(|range| (range.first, range.last));
        assert_eq!([range("404"), range("4xx")], [Some((404, 404)), Some((400, 499))]);
        assert_eq!(["", "x", "40", "4x", "99xx", "65xx", "70000", "-1"].map(range), [None; 8]);
    }
}
