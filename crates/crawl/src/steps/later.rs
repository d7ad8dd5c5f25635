//! Which links of collected pages does a later step take?
//!
//! The pages are read from the archive once all of them are there, so it makes no difference in how
//! many runs they were collected.

use super::choose::{LinkChoice, LinkSource};
use super::path::{Roots, waits};
use super::rules::StepRules;
use crate::CrawlError;
use hashbrown::{HashMap, HashSet};
use orb_extract::Content;
use orb_page::{Body, PageKind};
use orb_project::Settings;
use orb_project::Wrong;
use orb_project::{StepSettings, number};
use orb_store::{ArchiveReader, CatalogueReader, ProjectDir, Worded};
use orb_urls::{Address, Canonicaliser, Judgement};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum size of a page on which links are chosen.
const MAX_CONTENT: u64 = 40_000_000;

/// The steps that wait for pages to be collected, in order.
pub(crate) struct Later<'a> {
    settings: &'a Settings,
    rules: Arc<HashMap<u32, StepRules>>,
    waiting: VecDeque<usize>,
}

impl<'a> Later<'a> {
    /// All of them.
    pub(crate) fn new(settings: &'a Settings, rules: Arc<HashMap<u32, StepRules>>) -> Self {
        let waiting = (0..settings.steps.len()).filter(|n| waits(settings, *n)).collect();
        Self { settings, rules, waiting }
    }

    /// Where the next of them starts, now that everything before it is collected.
    pub(crate) fn next(&mut self, project: &ProjectDir) -> Result<Option<Roots>, CrawlError> {
        let Some(n) = self.waiting.pop_front() else { return Ok(None) };
        let (Some(step), Some(before)) = (self.settings.steps.get(n), n.checked_sub(1)) else { return Ok(None) };
        let before = number(&self.settings.steps[before].name);
        let mut addresses = Vec::new();
        let (mut known, mut seen, mut chosen) = (HashSet::new(), 0_usize, 0_usize);
        let wrong = |why: String| {
            let key = if step.links.is_some() { "links" } else { "links_matching" };
            CrawlError::Wrong(Wrong::new(format!("steps[{n}].{key}"), format!("step '{}': {why}", step.name)))
        };
        let choice = LinkChoice::of(step).map_err(wrong)?;
        let canonical = Canonicaliser::new(self.settings.urls);
        let (reader, archive) = (CatalogueReader::open(project)?, ArchiveReader::open(project));
        reader.each_worded(|page| {
            if page.step != Some(before) || !matches!(page.kind, PageKind::Html | PageKind::Duplicate) {
                return Ok(());
            }
            seen += 1;
            for address in links(&choice, &canonical, &archive, &page).map_err(wrong)? {
                chosen += 1;
                if self.belongs(step, &address) && known.insert(address.clone()) {
                    addresses.push(address);
                }
            }
            Ok::<(), CrawlError>(())
        })?;
        match (chosen, addresses.is_empty()) {
            (0, _) => Err(wrong(format!("no link is chosen on the {seen} pages of the step before"))),
            (_, true) => {
                Err(wrong(format!("all {chosen} links that are chosen lie outside of its area or are denied")))
            }
            _ => Ok(Some(Roots { step: number(&step.name), addresses })),
        }
    }

    fn belongs(&self, step: &StepSettings, address: &Address) -> bool {
        let rules = self.rules.get(&number(&step.name));
        rules.is_some_and(|rules| rules.scope.current().judge(address, None) == Judgement::In)
    }
}

/// The links chosen on a page in the archive; none if it is not there.
fn links(
    choice: &LinkChoice,
    canonical: &Canonicaliser,
    archive: &ArchiveReader,
    page: &Worded,
) -> Result<Vec<Address>, String> {
    let Some(stored) = page.warc.as_ref().and_then(|at| archive.exchange(at).ok()) else { return Ok(Vec::new()) };
    let Ok(own) = canonical.parse(&page.url) else { return Ok(Vec::new()) };
    let codings = stored.headers.codings();
    let bytes = orb_fetch::decode(&Body::Memory(stored.body), &codings, MAX_CONTENT).bytes;
    let (mime, charset) = (stored.headers.mime(), stored.headers.charset());
    let content = Content { bytes: &bytes, mime: mime.as_deref(), charset: charset.as_deref(), url: &page.url };
    let document = orb_aside::extract(&content);
    let base = canonical.canonical_base(&own, document.base.as_deref());
    choice.links(canonical, &LinkSource { base: &base, html: &orb_extract::text_of(&content), links: &document.links })
}
