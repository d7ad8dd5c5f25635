//! How is a crawl asked for, and how does it begin?
//!
//! A [`CrawlRequest`] is a project with the settings of one run. Opening it examines the settings,
//! looks up their secrets, takes the project and saves what is to be kept; running it crawls. A
//! request that is refused because of its settings leaves no new project behind.

use crate::render::BrowserProgram;
use crate::track::RevisitSelection;
use crate::watch::journal::Journal;
use crate::{Crawl, CrawlError, Progress, Stop, Summary, open_project};
use orb_answers::last_run;
use orb_page::{RunKind, RunState};
use orb_project::{AskedProject, Settings, Wrong};
use orb_store::{CatalogueReader, Home, PageRow, ProjectDir, RunCounters, RunStatus, StoreError};
use orb_urls::Address;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A crawl that somebody asked for.
pub struct CrawlRequest {
    /// The project.
    pub name: String,
    /// Its settings.
    pub settings: Settings,
    /// The settings to save: budgets given as flags apply to one run only.
    pub kept: Settings,
    /// Whether to collect or to revisit.
    pub kind: RunKind,
    /// Which known pages to revisit.
    pub choice: RevisitSelection,
    /// Its seeds.
    pub seeds: Vec<Address>,
    /// The project file that was given.
    pub file: Option<PathBuf>,
    /// Whether to continue although archive files are damaged.
    pub despite_damage: bool,
}

impl CrawlRequest {
    /// Collects a project under the settings that were asked for.
    pub fn new(asked: AskedProject) -> Self {
        let AskedProject { name, settings, seeds, file } = asked;
        let (kind, choice, kept) = (RunKind::Crawl, RevisitSelection::All, settings.clone());
        Self { name, settings, kept, kind, choice, seeds, file, despite_damage: false }
    }

    /// What a project does by itself: what its file says.
    pub fn scheduled(asked: AskedProject, kind: RunKind) -> Self {
        let choice = if asked.settings.track.budget.is_some() { RevisitSelection::Due } else { RevisitSelection::All };
        Self { kind, choice, ..Self::new(asked) }
    }

    /// Opens the project for this crawl; `variable` looks up an environment variable.
    pub fn open<'h>(
        mut self,
        home: &'h Home,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<OpenedCrawl<'h>, CrawlError> {
        let found = home.find(&self.name).ok();
        sensible(found.as_ref(), &self.settings)?;
        let file = self.file.take().unwrap_or_else(|| home.path().join(&self.name).join("project.toml"));
        if let Some(project) = &found {
            self.settings.reveal_kept(project).map_err(|e| CrawlError::Setting(e.to_string()))?;
        }
        self.settings.reveal(variable).map_err(|wrong| placed(&file, wrong))?;
        let browser = BrowserProgram::of(&self.settings, variable)?;
        let is_new = found.is_none() && !home.path().join(&self.name).exists();
        let project = open_project(&home.project(&self.name)?, &self.settings)?;
        if let Some((file, what)) = project.start().archive.damaged.first().filter(|_| !self.despite_damage) {
            let path = project.dir().archive().join(file);
            return Err(StoreError::Damaged { path, what: what.clone() }.into());
        }
        self.kept.keep(project.dir())?;
        let crawl = Crawl {
            project,
            settings: self.settings,
            kind: self.kind,
            choice: self.choice,
            seeds: self.seeds,
            stop: Stop::new(),
            progress: Arc::new(Progress::default()),
            protocols: orb_fetch::PROTOCOLS,
            browser,
        };
        Ok(OpenedCrawl { home, crawl, name: self.name, file, is_new })
    }
}

/// A crawl whose project is open.
pub struct OpenedCrawl<'h> {
    home: &'h Home,
    crawl: Crawl,
    name: String,
    file: PathBuf,
    is_new: bool,
}

impl OpenedCrawl<'_> {
    /// The project.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.crawl.settings
    }

    /// How to ask it to stop.
    pub fn stop(&self) -> &Arc<Stop> {
        &self.crawl.stop
    }

    /// Where it reports its progress.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.crawl.progress
    }

    /// Crawls. A new project whose settings are refused before the first request is removed.
    pub fn run(self) -> Result<Summary, CrawlError> {
        let dir = self.crawl.project.dir().clone();
        let result = self.crawl.run();
        if let Err(error) = &result {
            log_failure(&dir, error);
        }
        if self.is_new && result.as_ref().is_err_and(is_refused) {
            self.home.remove(&self.name)?;
        }
        result.map_err(|e| match e {
            CrawlError::Wrong(wrong) => placed(&self.file, wrong),
            other => other,
        })
    }
}

/// Writes into the log of a run why it has failed. The process that started it is told in any case.
fn log_failure(project: &ProjectDir, error: &CrawlError) {
    let last = last_run(project).ok().flatten().filter(|run| run.state == RunStatus::Running);
    if let Some(journal) = last.and_then(|run| Journal::open(project, run.id).ok()) {
        let mut causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
        let line = causes.by_ref().fold(error.to_string(), |line, cause| format!("{line}: {cause}"));
        let _ = journal.fail_for(&line);
    }
}

/// Whether a crawl was refused because of its settings, before the first request.
fn is_refused(error: &CrawlError) -> bool {
    use CrawlError::{Fetch, Render, Scope, Setting, Settings};
    matches!(error, Scope(_) | Fetch(_) | Settings(_) | Setting(_) | Render(_))
}

/// An error with its position in the file.
fn placed(file: &Path, wrong: Wrong) -> CrawlError {
    match Settings::blamed(file, &wrong) {
        Some(placed) => placed.into(),
        None => wrong.into(),
    }
}

/// Refuses invalid settings, with the position in the project's file if that is the culprit.
fn sensible(project: Option<&ProjectDir>, settings: &Settings) -> Result<(), CrawlError> {
    let Err(wrong) = settings.examine() else { return Ok(()) };
    if let Some(project) = project
        && matches!(Settings::kept(project), Ok(Some(kept)) if kept.examine() == Err(wrong.clone()))
    {
        Settings::read(&project.settings())?;
    }
    Err(wrong.into())
}

/// Why a run fetched nothing at all, given its first seed; `None` if it did fetch something, or
/// earlier runs fetched the seed.
pub fn why_unreached(home: &Home, summary: &Summary, seed: &str) -> Result<Option<String>, StoreError> {
    if summary.counters.pages > 0 {
        return Ok(None);
    }
    let reader = CatalogueReader::open(&home.find(&summary.project)?)?;
    let is_first = reader.runs()?.iter().all(|run| RunCounters::of(&run.counters).pages == 0);
    let never = |page: &PageRow| page.status.is_none() && (is_first || page.visits <= 1);
    // A budget of nothing leaves everything as it was.
    let is_left = |page: &PageRow| page.visits == 0 && summary.state == RunState::Budget;
    let page = reader.page_by_url(seed)?.filter(|page| never(page) && !is_left(page));
    Ok(page.map(|page| page.problem.or(page.why).or(summary.waiting.first().cloned()).unwrap_or(page.kind)))
}
