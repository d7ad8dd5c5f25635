//! Who is notified of changes, and how?
//!
//! After a run, and on request, the changes that an output has not received yet are delivered to
//! it: a feed, a JSON Lines file, a directory of Markdown, webhooks. Each has a cursor, kept beside
//! the catalogue ([`marks`]), that advances only after the output has received the changes. So
//! delivery is at least once: a crash repeats and omits nothing. An output that fails blocks
//! neither the run nor the others: what it missed is delivered next time.

mod atom;
mod ended;
mod jsonl;
mod markdown;
mod marks;
mod sign;
mod standing;
mod webhook;

pub use atom::feed as atom_feed;
pub use ended::RunEnd;
pub use marks::DeliveryFailure;
pub use standing::{OutputStanding, output_standings};

use crate::{CrawlError, Stop};
use marks::Marks;
use orb_page::{Flag, Moment};
use orb_project::{OutputSettings, Settings, without_user};
use orb_store::{CatalogueReader, ProjectDir, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Every flag that is a change.
const CHANGES: [Flag; 4] = [Flag::New, Flag::Updated, Flag::Missing, Flag::Error];

/// Changes per read.
const PAGE: u32 = 500;

/// The outputs of a project, to be brought up to date.
pub struct Delivery<'a> {
    /// The project.
    pub project: &'a ProjectDir,
    /// Its settings.
    pub settings: &'a Settings,
    /// Looks up an environment variable.
    pub variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// How to ask it to stop.
    pub stop: &'a Stop,
    /// Deliver everything after this change, whatever was delivered before.
    pub from: Option<u64>,
}

/// The results of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryAccount {
    /// The project.
    pub project: String,
    /// Its outputs.
    pub outputs: Vec<Delivered>,
}

/// The result of delivering to an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Delivered {
    /// The output: a path, or a webhook's URL.
    pub output: String,
    /// Changes delivered.
    pub told: u64,
    /// Changes not delivered.
    pub left: u64,
    /// Its cursor.
    pub cursor: u64,
    /// Why not everything was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Delivers to the outputs that a project's settings name, of which there must be one.
pub fn deliver(
    project: &ProjectDir,
    variable: &(dyn Fn(&str) -> Option<String> + Sync),
    stop: &Stop,
    from: Option<u64>,
) -> Result<DeliveryAccount, CrawlError> {
    let settings = Settings::kept(project)?.unwrap_or_default();
    settings.examine()?;
    let name = &project.name;
    if settings.outputs.is_empty() {
        return Err(CrawlError::Setting(format!(
            "project {name} has no outputs; [outputs] in its file names them (orb project edit {name})"
        )));
    }
    let outputs = Delivery { project, settings: &settings, variable, stop, from }.run()?;
    Ok(DeliveryAccount { project: name.clone(), outputs })
}

/// What one output is served from.
pub(crate) struct OutputSource<'a> {
    pub(crate) project: &'a ProjectDir,
    pub(crate) reader: CatalogueReader,
    pub(crate) stop: &'a Stop,
    /// Where its cursor is kept, and under which name.
    marks: &'a Marks,
    name: String,
}

impl OutputSource<'_> {
    /// Its cursor.
    pub(crate) fn cursor(&self) -> u64 {
        self.marks.get(&self.name).cursor
    }

    /// Everything up to here was delivered.
    pub(crate) fn mark_delivered(&self, cursor: u64) -> Result<(), CrawlError> {
        self.marks.set(&self.name, marks::DeliveryMark { cursor, until: None })
    }

    /// The end of the current delivery: the same after a crash as before.
    pub(crate) fn until(&self, cursor: u64, wanted: u64) -> Result<u64, CrawlError> {
        match self.marks.get(&self.name).until {
            Some(until) if until > cursor => Ok(until),
            _ => {
                self.marks.set(&self.name, marks::DeliveryMark { cursor, until: Some(wanted) })?;
                Ok(wanted)
            }
        }
    }
}

/// An output: delivers from its cursor on and returns the number of changes.
type Deliver<'a> = Box<dyn FnOnce(&OutputSource<'_>) -> DeliveryResult + Send + 'a>;

/// The number of changes delivered, or why not all.
type DeliveryResult = Result<u64, CrawlError>;

/// An output: its name in the project file, its location, the changes it wants, and how to deliver
/// them.
struct Output<'a> {
    name: String,
    shown: String,
    flags: Vec<Flag>,
    tell: Deliver<'a>,
}

impl Delivery<'_> {
    /// Brings every output up to date, all of them concurrently, so that a slow webhook delays
    /// nobody else.
    pub fn run(&self) -> Result<Vec<Delivered>, CrawlError> {
        if self.settings.outputs.is_empty() || self.project.is_empty() {
            return Ok(Vec::new());
        }
        let marks = Marks::open(&self.project.dir)?;
        let outputs = self.outputs();
        if let Some(cursor) = self.from {
            let again = marks::DeliveryMark { cursor, until: None };
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
        let mut add =
            |path: &Path, flags: &[Flag], tell: fn(&OutputSource<'_>, &Path, &OutputSettings) -> DeliveryResult| {
                let place = self.project.dir.join(path);
                let (name, shown) = (path.display().to_string(), place.display().to_string());
                let tell: Deliver<'_> = Box::new(move |source| tell(source, &place, outputs));
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
            let tell: Deliver<'_> = Box::new(|source| webhook::post(source, hook, self.settings, self.variable));
            let name = without_user(&hook.url);
            all.push(Output { shown: name.clone(), name, flags, tell });
        }
        all
    }

    fn deliver(&self, output: Output<'_>, marks: &Marks) -> Result<Delivered, CrawlError> {
        let reader = CatalogueReader::open(self.project)?;
        let last = reader.last_change()?;
        let Output { name, shown, flags, tell } = output;
        // A catalogue restored from a copy may know less than the output has received.
        if marks.get(&name).cursor > last {
            marks.set(&name, marks::DeliveryMark { cursor: last, until: None })?;
        }
        let source = OutputSource { project: self.project, reader, stop: self.stop, marks, name };
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
        let failure = problem.clone().map(|why| DeliveryFailure { at: Moment::now().to_string(), why });
        marks.note(&source.name, failure)?;
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
