//! Who is told what changed, and how?
//!
//! After a run, and whenever somebody asks, the changes that an output has not been told of go out to it: a feed, a file of JSON lines, a
//! directory of Markdown, receivers over HTTP. Each has a mark of how far it has been told, kept beside the catalogue ([`marks`]); it moves on
//! only after the output has what it marks. So a crash tells again and leaves nothing out, and an output that fails holds up neither the run
//! nor the others: what it was not told is told the next time.

mod atom;
mod jsonl;
mod markdown;
mod marks;
mod sign;
mod webhook;

pub use markdown::{file_name, head};

use crate::{CrawlError, Stop};
use marks::Marks;
use orb_page::Flag;
use orb_project::{OutputSettings, Settings, without_user};
use orb_store::{CatalogueReader, ProjectDir, StoreError};
use serde::Serialize;
use std::path::Path;

/// Every flag that is a change.
const CHANGES: [Flag; 4] = [Flag::New, Flag::Updated, Flag::Missing, Flag::Error];

/// Changes read at once.
const PAGE: u32 = 500;

/// The outputs of a project, to be told what they do not know yet.
pub struct Delivery<'a> {
    /// The project.
    pub project: &'a ProjectDir,
    /// What it asks for.
    pub settings: &'a Settings,
    /// What the environment says of a variable.
    pub variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// Who may ask to stop.
    pub stop: &'a Stop,
    /// Tell everything after this change, whatever was told before.
    pub from: Option<u64>,
}

/// What became of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delivered {
    /// Which: a path, or the URL of a receiver.
    pub output: String,
    /// Changes it was told.
    pub told: u64,
    /// Changes it was not told.
    pub left: u64,
    /// How far it has been told.
    pub cursor: u64,
    /// Why not everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What one output is told from.
pub(crate) struct Source<'a> {
    pub(crate) project: &'a ProjectDir,
    pub(crate) reader: CatalogueReader,
    pub(crate) stop: &'a Stop,
    /// Where its mark is kept, and under which name.
    marks: &'a Marks,
    name: String,
}

impl Source<'_> {
    /// How far it has been told.
    pub(crate) fn cursor(&self) -> u64 {
        self.marks.get(&self.name).cursor
    }

    /// It has been told everything up to here.
    pub(crate) fn told(&self, cursor: u64) -> Result<(), CrawlError> {
        self.marks.set(&self.name, marks::Mark { cursor, until: None })
    }

    /// The end of what it is being told: the same after a crash as before.
    pub(crate) fn until(&self, cursor: u64, wanted: u64) -> Result<u64, CrawlError> {
        match self.marks.get(&self.name).until {
            Some(until) if until > cursor => Ok(until),
            _ => {
                self.marks.set(&self.name, marks::Mark { cursor, until: Some(wanted) })?;
                Ok(wanted)
            }
        }
    }
}

/// An output: tells from its mark on and gives how many changes it told.
type Tell<'a> = Box<dyn FnOnce(&Source<'_>) -> Told + Send + 'a>;

/// How many changes were told, or why not all.
type Told = Result<u64, CrawlError>;

/// An output to be told: what it is called in the project file, where that is, what it wants to know, and how.
struct Output<'a> {
    name: String,
    shown: String,
    flags: Vec<Flag>,
    tell: Tell<'a>,
}

impl Delivery<'_> {
    /// Tells every output what it does not know yet; all of them at once, since a receiver that is slow is nobody else's business.
    pub fn run(&self) -> Result<Vec<Delivered>, CrawlError> {
        if self.settings.outputs.is_empty() || self.project.is_empty() {
            return Ok(Vec::new());
        }
        let marks = Marks::open(&self.project.dir)?;
        let outputs = self.outputs();
        if let Some(cursor) = self.from {
            let again = marks::Mark { cursor, until: None };
            outputs.iter().try_for_each(|output| marks.set(&output.name, again))?;
        }
        std::thread::scope(|scope| {
            let tasks: Vec<_> =
                outputs.into_iter().map(|output| scope.spawn(|| self.deliver(output, &marks))).collect();
            tasks.into_iter().map(|task| task.join().map_err(|_| CrawlError::Panicked("output"))?).collect()
        })
    }

    fn outputs(&self) -> Vec<Output<'_>> {
        let outputs = &self.settings.outputs;
        let mut all: Vec<Output<'_>> = Vec::new();
        let mut add = |path: &Path, flags: &[Flag], tell: fn(&Source<'_>, &Path, &OutputSettings) -> Told| {
            let place = self.project.dir.join(path);
            let (name, shown) = (path.display().to_string(), place.display().to_string());
            let tell: Tell<'_> = Box::new(move |source| tell(source, &place, outputs));
            all.push(Output { name, shown, flags: flags.to_vec(), tell });
        };
        if let Some(path) = &outputs.jsonl {
            add(path, &CHANGES, |source, path, _| jsonl::append(source, path));
        }
        if let Some(path) = &outputs.atom {
            add(path, &CHANGES, |source, path, outputs| atom::write(source, path, outputs.atom_entries));
        }
        if let Some(path) = &outputs.markdown {
            add(path, &markdown::TOLD, |source, path, _| markdown::write(source, path));
        }
        for hook in &outputs.webhook {
            let flags = hook.flags.iter().map(|name| name.flag()).collect();
            let tell: Tell<'_> = Box::new(|source| webhook::post(source, hook, self.settings, self.variable));
            let name = without_user(&hook.url);
            all.push(Output { shown: name.clone(), name, flags, tell });
        }
        all
    }

    fn deliver(&self, output: Output<'_>, marks: &Marks) -> Result<Delivered, CrawlError> {
        let reader = CatalogueReader::open(&self.project.catalogue())?;
        let last = reader.last_change()?;
        let Output { name, shown, flags, tell } = output;
        // A catalogue put back from a copy may know less than the output was told.
        if marks.get(&name).cursor > last {
            marks.set(&name, marks::Mark { cursor: last, until: None })?;
        }
        let source = Source { project: self.project, reader, stop: self.stop, marks, name };
        let before = source.cursor();
        let known = source.reader.changes_after(before, &flags)?;
        let done = tell(&source);
        let cursor = source.cursor();
        let left = source.reader.changes_after(cursor, &flags)?;
        let problem = match done {
            Err(CrawlError::Store(e @ StoreError::Sql { .. })) => return Err(e.into()),
            Err(e) => Some(chain(&e)),
            Ok(_) => None,
        };
        Ok(Delivered { output: shown, told: known.saturating_sub(left), left, cursor, problem })
    }
}

/// An error and its causes in one line.
fn chain(error: &CrawlError) -> String {
    let mut line = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = inner.source();
    }
    line
}
