//! How does a run begin, resume and end?

use super::Project;
use crate::error::Result;
use crate::sqlite::{CatalogueReader, RunRecord};
use orb_page::{RunId, RunKind, RunState};

impl Project {
    /// Begins a run; `settings` is kept with it as given.
    pub fn begin_run(&mut self, kind: RunKind, settings: &str) -> Result<RunId> {
        self.catalogue_mut().begin_run(kind, settings)
    }

    /// Resumes a run that was stopped or cut off.
    pub fn resume_run(&mut self, run: RunId) -> Result<()> {
        self.catalogue_mut().reopen_run(run)
    }

    /// Ends a run with its counters.
    pub fn finish_run(&mut self, run: RunId, state: RunState, counters: &str) -> Result<()> {
        self.catalogue_mut().finish_run(run, state, counters)
    }

    /// The last run, ended or not.
    pub fn last_run(&self) -> Result<Option<RunRecord>> {
        self.catalogue().last_run()
    }

    /// The last run if it has not ended: it is running, or was interrupted by a crash.
    pub fn open_run(&self) -> Result<Option<RunRecord>> {
        self.catalogue().open_run()
    }

    /// Remembers the settings that a run is resumed with.
    pub fn change_settings(&mut self, run: RunId, settings: &str) -> Result<()> {
        self.catalogue_mut().change_settings(run, settings)
    }

    /// Remembers which pages a run was asked to visit, for the process that resumes it.
    pub fn keep_choice(&mut self, run: RunId, choice: &str) -> Result<()> {
        self.catalogue_mut().keep_choice(run, choice)
    }

    /// Which pages a run was asked to visit.
    pub fn choice(&self, run: RunId) -> Result<Option<String>> {
        self.catalogue().choice(run)
    }

    /// The last batch recorded: its number, and its nonce.
    pub fn last_batch(&self) -> (u64, u64) {
        self.catalogue().last_batch()
    }

    /// Begins to checkpoint the catalogue's log beside what is done next, so that [`Self::finish`]
    /// has little left to do.
    pub fn begin_checkpoint(&mut self) {
        self.catalogue_mut().begin_checkpoint();
    }

    /// A reader of the same catalogue.
    pub fn reader(&self) -> Result<CatalogueReader> {
        CatalogueReader::open(&self.dir)
    }
}
