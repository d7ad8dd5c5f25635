//! What happens in the home right now?
//!
//! While somebody listens, one task looks once a second at the projects that run or were written to
//! since it last looked, and tells every listener what it saw. So the cost is that of one look,
//! whatever the number of listeners; and when nobody listens, nobody looks.

use crate::hooks::without_secrets;
use crate::problem::ProblemDetails;
use crate::shared::ServedHome;
use crate::state::AppState;
use orb_answers::{AnswerError, CHANGES, ChangePage, StatusBoard, changes, is_running, last_written, latest_changes};
use orb_crawl::outputs::output_standings;
use orb_project::ProjectDir;
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio::time::MissedTickBehavior;

/// How often somebody looks.
const BEAT: Duration = Duration::from_secs(1);

/// Beats that a listener may be behind before it is cut off.
const BEHIND: usize = 64;

/// Changes of one project that are told in one beat.
pub(crate) const CHANGES_AT_ONCE: u32 = 100;

/// What was seen in one look: the projects of which there is something to tell.
pub(crate) type Beat = Vec<ProjectBeat>;

/// What was seen of a project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectBeat {
    /// The project.
    pub(crate) project: String,
    /// Its state as JSON, if it is another than before.
    pub(crate) state: Option<String>,
    /// The cursor before these changes.
    pub(crate) from: u64,
    /// Its changes since the last look.
    pub(crate) changes: ChangePage,
    /// What else has happened: names of events, and what they say as JSON.
    pub(crate) news: Vec<(&'static str, String)>,
    /// Whether it is no longer there.
    pub(crate) is_gone: bool,
}

impl ProjectBeat {
    /// Nothing but news.
    fn of(project: String, cursor: u64, news: Vec<(&'static str, String)>) -> Self {
        let changes = ChangePage { changes: Vec::new(), next: cursor };
        Self { project, state: None, from: cursor, changes, news, is_gone: false }
    }
}

/// Who looks, if anybody does.
#[derive(Default)]
pub(crate) struct Pulse(Mutex<Option<Sender<Arc<Beat>>>>);

impl Pulse {
    /// Listens from now on.
    pub(crate) fn listen(&self, state: &Arc<AppState>) -> Receiver<Arc<Beat>> {
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*sender {
            return sender.subscribe();
        }
        let (told, listener) = channel(BEHIND);
        *sender = Some(told.clone());
        tokio::spawn(watch(Arc::clone(state), told));
        listener
    }

    /// Ends the looking if nobody listens any more.
    fn may_end(&self, sender: &Sender<Arc<Beat>>) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = sender.receiver_count() == 0;
        if is_over {
            *kept = None;
        }
        is_over
    }
}

/// What was known of a project after the last look.
#[derive(Default)]
struct SeenProject {
    was_running: bool,
    written: Option<SystemTime>,
    state: String,
    cursor: u64,
    settings: Option<SystemTime>,
    outputs: Option<SystemTime>,
}

/// What was known after the last look.
#[derive(Default)]
struct SeenProjects {
    projects: HashMap<String, SeenProject>,
    /// Whether there was a look: what is seen by the first is not new.
    has_looked: bool,
}

async fn watch(state: Arc<AppState>, told: Sender<Arc<Beat>>) {
    let mut seen = SeenProjects::default();
    let mut clock = tokio::time::interval(BEAT);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut closing = state.closing.clone();
    loop {
        tokio::select! {
            _ = clock.tick() => {}
            _ = closing.wait_for(|closing| *closing) => return,
        }
        if state.pulse.may_end(&told) {
            return;
        }
        let (shelf, board) = (state.desk.shelf(), Arc::clone(&state.board));
        let looked = state.desk.work(move |home| {
            let beat = look(home, (&shelf, &board), &mut seen);
            (seen, beat)
        });
        // After a panic nothing is known any more, and everything is looked at again.
        let Ok((known, beat)) = looked.await else {
            seen = SeenProjects::default();
            continue;
        };
        seen = known;
        if !beat.is_empty() {
            // Nobody may be listening any more.
            let _ = told.send(Arc::new(beat));
        }
    }
}

/// Looks at every project that runs, was written to, or was never looked at.
fn look(home: &ServedHome, open: (&crate::desk::OpenShelf, &StatusBoard), seen: &mut SeenProjects) -> Beat {
    home.attend();
    let projects = home.list().unwrap_or_default();
    let is_gone = |name: &&String| !projects.iter().any(|project| project.name == **name);
    let gone: Vec<String> = seen.projects.keys().filter(is_gone).cloned().collect();
    let mut beat = Vec::new();
    for name in gone {
        seen.projects.remove(&name);
        let news = vec![("project", json!({"project": name, "what": "removed"}).to_string())];
        beat.push(ProjectBeat { is_gone: true, ..ProjectBeat::of(name, 0, news) });
    }
    for project in projects {
        let (name, is_new) = (project.name.clone(), !seen.projects.contains_key(&project.name));
        let known = seen.projects.entry(name.clone()).or_default();
        let news = news(&project, known, (is_new, seen.has_looked));
        let (running, written) = (is_running(&project), last_written(&project));
        // A run may begin and end between two looks.
        let is_quiet = !is_new && !running && !known.was_running && known.written == written;
        (known.was_running, known.written) = (running, written);
        // A project that cannot be read now is looked at again as long as it runs.
        let told = if is_quiet { None } else { look_at(open, project, (known, is_new)).ok().flatten() };
        match told {
            Some(told) => beat.push(ProjectBeat { news, ..told }),
            None if !news.is_empty() => beat.push(ProjectBeat::of(name, known.cursor, news)),
            None => {}
        }
    }
    seen.has_looked = true;
    beat
}

/// What has happened to a project besides its runs: it was made, its settings were changed, or
/// something was delivered.
fn news(
    project: &ProjectDir,
    known: &mut SeenProject,
    (is_new, has_looked): (bool, bool),
) -> Vec<(&'static str, String)> {
    let modified = |path: PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let settings = modified(project.settings());
    let outputs = modified(project.dir.join("outputs.json"));
    let before = (std::mem::replace(&mut known.settings, settings), std::mem::replace(&mut known.outputs, outputs));
    let name = &project.name;
    let mut news = Vec::new();
    let mut project_is = |what: &str| news.push(("project", json!({"project": name, "what": what}).to_string()));
    if is_new && has_looked {
        project_is("made");
    } else if !is_new && before.0 != settings {
        project_is("settings");
    }
    // How it stands cannot be told where the settings cannot be read.
    if !is_new
        && before.1 != outputs
        && let Ok(outputs) = output_standings(project)
    {
        news.push(("delivery", json!({"project": name, "outputs": without_secrets(outputs)}).to_string()));
    }
    news
}

fn look_at(
    (shelf, board): (&crate::desk::OpenShelf, &StatusBoard),
    project: ProjectDir,
    (known, is_new): (&mut SeenProject, bool),
) -> Result<Option<ProjectBeat>, ProblemDetails> {
    let name = project.name.clone();
    let state = serde_json::to_string(&board.status(&project)?).map_err(|e| ProblemDetails::failed(&e))?;
    let from = known.cursor;
    let page = match (project.is_empty(), is_new) {
        (true, _) => ChangePage { changes: Vec::new(), next: 0 },
        (false, true) => shelf.ask(project, |collection| {
            let last = latest_changes(collection, 1)?.first().and_then(|row| row.seq).unwrap_or(0);
            Ok::<_, AnswerError>(ChangePage { changes: Vec::new(), next: last })
        })?,
        (false, false) => shelf.ask(project, |collection| changes(collection, from, &CHANGES, CHANGES_AT_ONCE))?,
    };
    known.cursor = page.next;
    let is_other = known.state != state;
    if is_other {
        known.state.clone_from(&state);
    }
    // What was so before anybody listened is no event.
    let is_told = !is_new && (is_other || !page.changes.is_empty());
    let state = is_other.then_some(state);
    Ok(is_told.then(|| ProjectBeat { state, from, changes: page, ..ProjectBeat::of(name, from, Vec::new()) }))
}
