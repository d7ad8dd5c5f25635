//! How does a collection leave over HTTP?
//!
//! An export is an [`errand`]: `orb export` writes into a directory of the project whose name is
//! random, under a temporary name, and renames the file when it is whole. Everything that is told
//! about an export is derived from that directory: if the file is there it is done, if the lock is
//! held it is being made, and else it has failed. So nothing is lost with the server, not even one
//! that is killed: an export continues without it, and one that was killed as well has failed,
//! which the next server says. Requests name the directory by its random id and no other path.

mod wish;

pub(crate) use wish::{ExportWish, OfferedFormat, OfferedTable};

use crate::errand;
use crate::launch::{Launcher, last_words};
use crate::problem::ProblemDetails;
use crate::request::AdmittedRequest;
use crate::shared::ServedHome;
use orb_page::Moment;
use orb_project::{Home, ProjectDir, fresh_secret};
use rustix::process::{Pid, Signal, kill_process};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Exports of a project that are made at once: each reads the whole collection.
const AT_ONCE: usize = 2;

/// Exports of a project that are kept: each takes as much of the disk as the collection may.
const KEPT: usize = 20;

/// Digits of an id.
const ID: usize = 32;

/// How long the removal of an export waits for its process to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// One is begun at a time, so that the limits hold.
static TURN: Mutex<()> = Mutex::new(());

/// What is written down about an export before it is begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ExportRecord {
    wish: ExportWish,
    by: String,
    at: String,
    file: String,
    pid: Option<u32>,
}

/// How far an export is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExportStage {
    /// It is being written.
    Making,
    /// It is whole and can be downloaded.
    Done,
    /// It ended before it was whole.
    Failed,
}

/// An export.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct KeptExport {
    /// Its id.
    pub(crate) id: String,
    /// What was asked for.
    #[serde(flatten)]
    pub(crate) wish: ExportWish,
    /// Who asked for it.
    pub(crate) by: String,
    /// When.
    pub(crate) at: String,
    /// How far it is.
    pub(crate) state: ExportStage,
    /// The name of the file.
    pub(crate) file: String,
    /// The bytes of the file; those written so far while it is being made.
    pub(crate) bytes: u64,
    /// Why it failed.
    pub(crate) told: Option<String>,
}

/// Where the exports of a project are.
fn shelf(project: &ProjectDir) -> PathBuf {
    project.dir.join("exports")
}

/// The directory of an export; `None` if this is no id.
fn place(project: &ProjectDir, id: &str) -> Option<PathBuf> {
    let is_id = id.len() == ID && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    is_id.then(|| shelf(project).join(id))
}

impl ExportRecord {
    fn read(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(dir.join("export.json")).ok()?).ok()
    }

    fn keep(&self, dir: &Path) -> io::Result<()> {
        let new = dir.join("export.new");
        fs::write(&new, serde_json::to_vec(self)?)?;
        fs::rename(new, dir.join("export.json"))
    }

    /// The export as its directory tells it.
    fn standing(self, id: &str, dir: &Path) -> KeptExport {
        // In this order: once nobody holds the lock, the file is there or never will be.
        let is_under_way = errand::is_under_way(&dir.join("lock"));
        let whole = fs::metadata(dir.join(&self.file)).map(|file| file.len()).ok();
        let (state, bytes, told) = match whole {
            Some(bytes) => (ExportStage::Done, bytes, None),
            None if is_under_way => (ExportStage::Making, partly(dir), None),
            None => {
                let told = last_words(&dir.join("told.log")).unwrap_or_else(|| "it was killed".to_owned());
                (ExportStage::Failed, 0, Some(told))
            }
        };
        let Self { wish, by, at, file, .. } = self;
        KeptExport { id: id.to_owned(), wish, by, at, state, file, bytes, told }
    }
}

/// The bytes of unfinished files.
fn partly(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let parts = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".part"));
    parts.filter_map(|entry| entry.metadata().ok()).filter(fs::Metadata::is_file).map(|file| file.len()).sum()
}

/// The exports of a project, newest first.
pub(crate) fn list(project: &ProjectDir) -> Vec<KeptExport> {
    let entries = fs::read_dir(shelf(project)).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut all: Vec<KeptExport> = named.filter_map(|id| find(project, &id).ok()).collect();
    all.sort_by(|a, b| (&b.at, &b.id).cmp(&(&a.at, &a.id)));
    all
}

/// The export with this id.
pub(crate) fn find(project: &ProjectDir, id: &str) -> Result<KeptExport, ProblemDetails> {
    let found = place(project, id).and_then(|dir| Some(ExportRecord::read(&dir)?.standing(id, &dir)));
    found.ok_or_else(|| ProblemDetails::not_found("there is no such export"))
}

/// The lock that is held while an export is being made.
pub(crate) fn lock(project: &ProjectDir, export: &KeptExport) -> PathBuf {
    shelf(project).join(&export.id).join("lock")
}

/// The file of an export, which must be whole.
pub(crate) fn file(project: &ProjectDir, export: &KeptExport) -> Result<PathBuf, ProblemDetails> {
    match (export.state, place(project, &export.id)) {
        (ExportStage::Done, Some(dir)) => Ok(dir.join(&export.file)),
        (ExportStage::Making, _) => Err(ProblemDetails::conflict("making", "the export is still being made")),
        _ => Err(ProblemDetails::conflict("failed", "the export has failed")),
    }
}

/// Begins an export.
fn make(
    (home, launcher): (&Home, &Launcher),
    project: &ProjectDir,
    wish: ExportWish,
    by: &str,
) -> Result<KeptExport, ProblemDetails> {
    wish.examine()?;
    if project.is_empty() {
        let why = format!("project {} has collected nothing yet", project.name);
        return Err(ProblemDetails::conflict("empty", why));
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let there = list(project);
    if there.len() >= KEPT {
        let why = format!("{KEPT} exports are kept at most; remove one first");
        return Err(ProblemDetails::conflict("full", why));
    }
    if there.iter().filter(|export| export.state == ExportStage::Making).count() >= AT_ONCE {
        let why = format!("{AT_ONCE} exports are being made already; wait for one of them");
        return Err(ProblemDetails::conflict("busy", why));
    }
    sweep(project);
    home.accounts().note(Some(by), &format!("exported project {} as {}", project.name, wish.format.name()))?;
    let failed = |e: io::Error| ProblemDetails::failed(&format!("cannot begin an export: {e}"));
    let id: String = fresh_secret()?.chars().take(ID).collect();
    let dir = shelf(project).join(&id);
    let mut record = ExportRecord {
        wish,
        by: by.to_owned(),
        at: Moment::now().to_string(),
        file: wish.file_name(&project.name),
        pid: None,
    };
    let mut command = launcher.command(&wish.arguments(&project.name, &dir.join(&record.file)))?;
    command.stdout(Stdio::null());
    fs::create_dir_all(&dir).map_err(failed)?;
    record.keep(&dir).map_err(failed)?;
    record.pid = errand::begin(command, &dir.join("lock"), &dir.join("told.log")).map_err(failed)?;
    record.keep(&dir).map_err(failed)?;
    Ok(record.standing(&id, &dir))
}

/// Ends an export that is being made. Nothing is lost with its process: it only reads.
fn end(project: &ProjectDir, id: &str) -> Result<PathBuf, ProblemDetails> {
    let export = find(project, id)?;
    let dir = place(project, id).ok_or_else(|| ProblemDetails::not_found("there is no such export"))?;
    if export.state == ExportStage::Making {
        let pid = ExportRecord::read(&dir).and_then(|record| Pid::from_raw(i32::try_from(record.pid?).ok()?));
        let pid = pid.ok_or_else(|| ProblemDetails::conflict("making", "the export is still being made"))?;
        // It may have ended meanwhile, and then there is nobody to be told.
        let _ = kill_process(pid, Signal::KILL);
    }
    Ok(dir)
}

/// Removes the directory of an export. First it disappears: whatever happens then, it is no half
/// export.
fn discard(dir: &Path) -> io::Result<()> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let gone = dir.with_file_name(format!("gone-{name}"));
    fs::rename(dir, &gone)?;
    fs::remove_dir_all(&gone)
}

/// Begins an export of the request's project.
pub(crate) async fn make_export(request: &AdmittedRequest, wish: ExportWish) -> Result<KeptExport, ProblemDetails> {
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let state = Arc::clone(&request.state);
    request.work(move |home| make((home, &state.launcher), &project, wish, &by)).await
}

/// Removes the export `{export}`, and ends it if it is being made.
pub(crate) async fn remove_export(request: &AdmittedRequest) -> Result<(), ProblemDetails> {
    let (project, id) = (request.project()?.clone(), request.param("export")?.to_owned());
    let dir = request.work(move |_| end(&project, &id)).await?;
    errand::wait(dir.join("lock"), PATIENCE).await;
    let failed = |e: io::Error| ProblemDetails::failed(&format!("cannot remove an export: {e}"));
    let (project, by) = (request.project()?.name.clone(), request.user()?.name.clone());
    let job = move |home: &ServedHome| {
        discard(&dir).map_err(failed)?;
        home.accounts()
            .note(Some(&by), &format!("removed an export of project {project}"))
            .map_err(ProblemDetails::from)
    };
    request.work(job).await
}

/// Removes what an interrupted removal has left.
fn sweep(project: &ProjectDir) {
    let entries = fs::read_dir(shelf(project)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("gone-")) {
        // What cannot be removed now is tried again next time.
        let _ = fs::remove_dir_all(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_name_exports() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        for wrong in ["", ".", "..", "../../p", "0123456789ABCDEF0123456789ABCDEF", &format!("{id}0"), &id[1..]] {
            assert!(place(&project, wrong).is_none(), "{wrong}");
        }
        assert!(place(&project, id).unwrap().starts_with(&project.dir));
        assert!(find(&project, id).is_err() && list(&project).is_empty());
    }

    #[test]
    fn what_is_told_is_what_the_directory_holds() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let id = "0123456789abcdef0123456789abcdef";
        let dir = place(&project, id).unwrap();
        fs::create_dir_all(&dir).unwrap();
        let wish = ExportWish { format: OfferedFormat::Wacz, table: None, since: None, whole: false };
        let record = ExportRecord { wish, by: "ann".into(), at: "now".into(), file: "p.wacz".into(), pid: None };
        record.keep(&dir).unwrap();
        let told = |export: KeptExport| (export.state, export.bytes, export.told);
        assert_eq!(told(find(&project, id).unwrap()), (ExportStage::Failed, 0, Some("it was killed".into())));
        fs::write(dir.join("told.log"), "orb: no space\n").unwrap();
        assert_eq!(told(list(&project).remove(0)), (ExportStage::Failed, 0, Some("no space".into())));
        fs::write(dir.join("lock"), "").unwrap();
        let lock = fs::File::open(dir.join("lock")).unwrap();
        lock.lock().unwrap();
        fs::write(dir.join(".orb-x.part"), "1234").unwrap();
        assert_eq!(told(find(&project, id).unwrap()), (ExportStage::Making, 4, None));
        assert_eq!(file(&project, &find(&project, id).unwrap()).unwrap_err().status, 409);
        fs::rename(dir.join(".orb-x.part"), dir.join("p.wacz")).unwrap();
        assert_eq!(told(find(&project, id).unwrap()), (ExportStage::Done, 4, None));
    }
}
