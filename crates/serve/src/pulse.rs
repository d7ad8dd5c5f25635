//! What happens in the home right now?
//!
//! While somebody listens, one task looks once a second at the projects that run or were written to
//! since it last looked, and tells every listener what it saw. So the cost is that of one look,
//! whatever the number of listeners; and when nobody listens, nobody looks.

use crate::problem::ProblemDetails;
use crate::state::AppState;
use orb_answers::{AnswerError, CHANGES, ChangePage, StatusBoard, changes, is_running, last_written, latest_changes};
use orb_project::{Home, ProjectDir};
use std::collections::HashMap;
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
}

async fn watch(state: Arc<AppState>, told: Sender<Arc<Beat>>) {
    let mut seen: HashMap<String, SeenProject> = HashMap::new();
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
            seen = HashMap::new();
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
fn look(home: &Home, open: (&crate::desk::OpenShelf, &StatusBoard), seen: &mut HashMap<String, SeenProject>) -> Beat {
    let projects = home.list().unwrap_or_default();
    seen.retain(|name, _| projects.iter().any(|project| project.name == *name));
    let mut beat = Vec::new();
    for project in projects {
        let (is_new, running) = (!seen.contains_key(&project.name), is_running(&project));
        let (known, written) = (seen.entry(project.name.clone()).or_default(), last_written(&project));
        // A run may begin and end between two looks.
        if !is_new && !running && !known.was_running && known.written == written {
            continue;
        }
        (known.was_running, known.written) = (running, written);
        // A project that cannot be read now is looked at again as long as it runs.
        if let Ok(told) = look_at(open, project, (known, is_new)) {
            beat.extend(told);
        }
    }
    beat
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
    Ok(is_told.then(|| ProjectBeat { project: name, state: is_other.then_some(state), from, changes: page }))
}
