//! What happens, as it happens?
//!
//! Server-sent events: `run` with the state of a project when it changes, at most once a second,
//! `change` with the changes a run reports, `project` when one is made, removed or set otherwise,
//! and `delivery` when outputs have received something or failed to. The id of a change is its
//! cursor; whoever comes back with `Last-Event-ID` misses none. Every stream begins with the
//! present state. After ten minutes it ends and the client comes back by itself, so that rights
//! which were taken away end, too.

use crate::gate::Identity;
use crate::openapi::RouteShape;
use crate::problem::{Handled, ProblemDetails};
use crate::pulse::{Beat, CHANGES_AT_ONCE, ProjectBeat};
use crate::request::{AdmittedRequest, text_of};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use crate::state::AppState;
use crate::stream::pieces;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use orb_answers::{AnswerError, CHANGES, ChangePage, changes};
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/events", Right::SignedIn, |request| Box::pin(listen(request)), "What happens in all projects"),
    RouteRow::get(
        "/api/v1/projects/{p}/events",
        Right::Read,
        |request| Box::pin(listen(request)),
        "What happens in a project, as it happens",
    )
    .shaped(RouteShape::streams(&["text/event-stream"])),
];

/// How long a stream lasts.
const LIFE: Duration = Duration::from_secs(600);

/// After this much silence a comment is sent, so that nobody on the way closes the connection.
const SILENCE: Duration = Duration::from_secs(15);

/// Parts of changes that are sent to somebody who comes back, before what happens now.
const PARTS_AT_ONCE: usize = 100;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Somebody who listens.
struct Listener {
    state: Arc<AppState>,
    identity: Identity,
    /// The only project that is told of.
    only: Option<String>,
    /// The last change told, by project.
    cursors: BTreeMap<String, u64>,
    out: Sender<io::Result<Bytes>>,
}

async fn listen(request: AdmittedRequest) -> Handled {
    let seat = Arc::clone(&request.state.streams).try_acquire_owned();
    let seat = seat.map_err(|_| ProblemDetails::busy("too many streams of events"))?;
    let only = request.project.as_ref().map(|project| project.name.clone());
    let cursors = read_cursors(text_of(&request.parts.headers, &LAST_EVENT), only.as_deref());
    let (out, body) = pieces();
    let (state, identity) = (Arc::clone(&request.state), request.identity()?.clone());
    let beats = state.pulse.listen(&state);
    let mut listener = Listener { state, identity, only, cursors, out };
    tokio::spawn(async move {
        // It ends when the client has gone, the server stops, or it has lasted long enough.
        let _ = tokio::time::timeout(LIFE, listener.tell(beats)).await;
        drop(seat);
    });
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The cursors in the id of an event: a number for one project, else `name:number` for each.
fn read_cursors(id: &str, only: Option<&str>) -> BTreeMap<String, u64> {
    let one = |part: &str| {
        let (name, cursor) = match only {
            Some(name) => (name, part),
            None => part.rsplit_once(':')?,
        };
        Some((name.to_owned(), cursor.parse().ok()?))
    };
    id.split_whitespace().filter_map(one).collect()
}

/// Waits until the server stops.
async fn closed(closing: &mut watch::Receiver<bool>) {
    // It fails if the server has gone, which is the same.
    let _ = closing.wait_for(|closing| *closing).await;
}

impl Listener {
    /// Tells what happens; `None` if nobody takes it any more.
    async fn tell(&mut self, mut beats: Receiver<Arc<Beat>>) -> Option<()> {
        self.present().await?;
        for project in self.cursors.keys().cloned().collect::<Vec<_>>() {
            self.catch_up(&project).await?;
        }
        let mut closing = self.state.closing.clone();
        loop {
            tokio::select! {
                () = closed(&mut closing) => return None,
                // Somebody who is too far behind is cut off and comes back.
                beat = beats.recv() => {
                    for told in beat.ok()?.iter() {
                        self.project(told).await?;
                    }
                }
                () = tokio::time::sleep(SILENCE) => self.send(": still here\n\n".to_owned()).await?,
                () = self.out.closed() => return None,
            }
        }
    }

    fn may_hear(&self, project: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == project) && self.identity.may(Right::Read, project)
    }

    async fn send(&self, text: String) -> Option<()> {
        self.out.send(Ok(text.into())).await.ok()
    }

    /// The state of every project, first of all.
    async fn present(&self) -> Option<()> {
        let (only, board) = (self.only.clone(), Arc::clone(&self.state.board));
        let states = move |home: &ServedHome| {
            let projects = home.list()?.into_iter();
            let projects = projects.filter(|project| only.as_ref().is_none_or(|only| *only == project.name));
            // One that cannot be read keeps nobody from hearing of the others.
            Ok::<_, AnswerError>(projects.filter_map(|project| board.status(&project).ok()).collect::<Vec<_>>())
        };
        let all = self.state.desk.work(states).await.ok()?.ok()?;
        for state in all.iter().filter(|state| self.may_hear(&state.project)) {
            self.send(format!("event: run\ndata: {}\n\n", serde_json::to_string(state).ok()?)).await?;
        }
        Some(())
    }

    async fn project(&mut self, told: &ProjectBeat) -> Option<()> {
        if !self.may_hear(&told.project) {
            return Some(());
        }
        for (event, said) in &told.news {
            self.send(format!("event: {event}\ndata: {said}\n\n")).await?;
        }
        if told.is_gone {
            self.cursors.remove(&told.project);
            return Some(());
        }
        if let Some(state) = &told.state {
            self.send(format!("event: run\ndata: {state}\n\n")).await?;
        }
        let cursor = *self.cursors.entry(told.project.clone()).or_insert(told.from);
        if cursor < told.from {
            return self.catch_up(&told.project).await;
        }
        let mut page = told.changes.clone();
        page.changes.retain(|row| row.seq > Some(cursor));
        self.changed(&told.project, &page).await
    }

    /// The changes that somebody missed, part by part.
    async fn catch_up(&mut self, project: &str) -> Option<()> {
        if !self.may_hear(project) {
            return Some(());
        }
        for _ in 0..PARTS_AT_ONCE {
            let (name, after, shelf) =
                (project.to_owned(), self.cursors.get(project).copied()?, self.state.desk.shelf());
            let asked = move |home: &ServedHome| {
                let project = home.find(&name).map_err(ProblemDetails::from)?;
                shelf.ask(project, |collection| changes(collection, after, &CHANGES, CHANGES_AT_ONCE))
            };
            // A project that is gone has no changes.
            let Ok(page) = self.state.desk.work(asked).await.ok()? else { return Some(()) };
            let is_last = page.changes.len() < CHANGES_AT_ONCE as usize;
            self.changed(project, &page).await?;
            if is_last {
                break;
            }
        }
        Some(())
    }

    async fn changed(&mut self, project: &str, page: &ChangePage) -> Option<()> {
        if page.next > self.cursors.get(project).copied().unwrap_or(0) {
            self.cursors.insert(project.to_owned(), page.next);
        }
        if page.changes.is_empty() {
            return Some(());
        }
        let id = match &self.only {
            Some(_) => page.next.to_string(),
            None => self.cursors.iter().map(|(name, cursor)| format!("{name}:{cursor}")).collect::<Vec<_>>().join(" "),
        };
        let told = json!({"project": project, "changes": page.changes, "next": page.next});
        self.send(format!("id: {id}\nevent: change\ndata: {told}\n\n")).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_event_says_where_to_go_on() {
        assert_eq!(read_cursors("12", Some("p")), [("p".to_owned(), 12)].into());
        assert_eq!(read_cursors("p:12 q.r:3", None), [("p".to_owned(), 12), ("q.r".to_owned(), 3)].into());
        assert!(read_cursors("x y:z :", None).is_empty() && read_cursors("", Some("p")).is_empty());
    }
}
