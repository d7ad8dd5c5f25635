//! How does the index come to agree with the catalogue?
//!
//! Catalogue and index are walked side by side, by page number: pages that the index lacks, or
//! holds from an earlier visit, are read from the archive again; pages that it should not hold are
//! deleted. One walk serves every case: an index that lags behind, was interrupted by a crash, is
//! ahead of a catalogue restored from a copy, or is empty. Meanwhile a number and a time are held
//! in memory for each indexed page, 16 bytes.

use super::gather::{GatheredSplits, gather};
use super::wording::{ArchiveSource, WordingRules, from_archive};
use super::{anchors, mark_of};
use crate::CrawlError;
use crate::config::agent;
use orb_answers::helper_limits;
use orb_answers::index::{each_searchable, stale_pages};
use orb_index::{ExistingIndex, PageIndexWriter};
use orb_project::IndexSettings;
use orb_project::Settings;
use orb_store::{ArchiveReader, CatalogueReader, CopyTurn, ProjectDir, ProjectLock};
use std::time::Instant;

/// Progress callback: pages read so far and in total; returns whether to continue.
pub type IndexingProgress<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// The result of catching up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caught {
    /// What was taken over from the splits of a shared project.
    pub gathered: GatheredSplits,
    /// Pages read from the archive.
    pub read: u64,
    /// Pages deleted.
    pub removed: u64,
    /// Pages it has now.
    pub pages: u64,
    /// Why it had to be rebuilt, if so.
    pub remade: Option<String>,
    /// Whether it was stopped before it was done.
    pub stopped: bool,
}

/// Brings the index of a project up to date with its catalogue; `from_scratch` discards what is
/// there, and reads every page from the archive. Otherwise a copy of a shared project first takes
/// what workers have indexed.
pub fn update(
    project: &ProjectDir,
    settings: &Settings,
    from_scratch: bool,
    watch: IndexingProgress<'_>,
) -> Result<Caught, CrawlError> {
    let _turn = CopyTurn::take(project)?;
    let _lock = ProjectLock::take(project)?;
    let (agent, settings) = (agent(&settings.fetch), &settings.index);
    let (dir, rules) = (project.text_index(), settings.writer(crate::machine::cores()));
    let (mut writer, found) = match from_scratch {
        true => (PageIndexWriter::make(&dir, &rules)?, ExistingIndex::Nothing),
        false => PageIndexWriter::open(&dir, &rules)?,
    };
    let gathered = match from_scratch {
        true => GatheredSplits::default(),
        false => gather(project, &rules.stems, &mut writer, &mut || watch(0, 0))?,
    };
    let mut caught = catch_up(project, settings, agent, &mut writer, watch)?;
    caught.gathered = gathered;
    if let ExistingIndex::Unfit(why) = found {
        caught.remade = Some(why);
    }
    writer.finish()?;
    if !caught.stopped {
        anchors::fold(project, None)?;
    }
    Ok(caught)
}

/// Adds to the index what it lacks and deletes what it has in excess.
pub(super) fn catch_up(
    project: &ProjectDir,
    settings: &IndexSettings,
    agent: &str,
    writer: &mut PageIndexWriter,
    watch: IndexingProgress<'_>,
) -> Result<Caught, CrawlError> {
    let reader = CatalogueReader::open(project)?;
    let archive = ArchiveReader::open(project);
    let kept = Settings::kept(project).ok().flatten().unwrap_or_default();
    let source = ArchiveSource { archive: &archive, agent, limits: helper_limits(&kept.documents) };
    if writer.uncommitted() > 0 {
        writer.commit(None)?;
    }
    reader.at_one_moment(|reader| {
        let held = writer.holdings()?;
        let (missing, extra) = stale_pages(reader, &held)?;
        let (removed, pages) = (extra.len() as u64, held.len() as u64);
        let gathered = GatheredSplits::default();
        let mut caught = Caught { gathered, read: 0, removed, pages, remade: None, stopped: false };
        extra.into_iter().try_for_each(|page| writer.forget(page))?;
        let (rules, mut last) = (WordingRules::from(settings), Instant::now());
        each_searchable(reader, |page| {
            if caught.stopped || missing.binary_search(&page.page).is_err() {
                return Ok::<_, CrawlError>(());
            }
            writer.put(from_archive(page, source, rules))?;
            caught.read += 1;
            caught.stopped = !watch(caught.read, missing.len() as u64);
            if last.elapsed() >= settings.commit_time.0 {
                writer.commit(None)?;
                last = Instant::now();
            }
            Ok(())
        })?;
        let mark = mark_of(&reader.extent()?);
        super::commit(writer, (!caught.stopped).then_some(mark.as_str()))?;
        caught.pages = writer.holdings()?.len() as u64;
        Ok(caught)
    })
}
