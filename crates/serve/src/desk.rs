//! Who asks the collections?
//!
//! Answers block: they read databases, archives and indexes. So they are computed by a few threads
//! of their own, each with its own connection to the home, and never on a thread that serves
//! sockets. Open collections are kept between questions and refreshed before each.
//!
//! How many questions may wait is bounded by the number of requests under way (see `gate`). A
//! question that panics fails alone: its thread lives on, and the collection it had is closed.

use crate::problem::ProblemDetails;
use crate::shared::{ServedHome, SharedProjects};
use orb_answers::Collection;
use orb_project::{Home, ProjectDir, StoreError};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// How many collections stay open: each is a few connections and mapped files.
const KEPT_OPEN: usize = 32;

/// Something to do on one of the desk's threads.
type DeskJob = Box<dyn FnOnce(&ServedHome) + Send>;

/// The threads that answer, and the collections they keep open.
pub(crate) struct Desk {
    jobs: Sender<DeskJob>,
    shelf: Arc<Mutex<VecDeque<Collection>>>,
}

impl Desk {
    /// Starts this many threads for a home, and for the projects on a shared store.
    pub(crate) fn open(home: &Path, threads: usize, shared: Option<&Arc<SharedProjects>>) -> Result<Self, StoreError> {
        let (jobs, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..threads {
            let (home, waiting) = (ServedHome::new(Home::open(home)?, shared)?, Arc::clone(&waiting));
            let thread = std::thread::Builder::new().name(format!("answer {number}"));
            let started = thread.spawn(move || attend(&home, &waiting));
            started.map_err(|e| StoreError::io("start a thread for", Path::new("answers"), e))?;
        }
        Ok(Self { jobs, shelf: Arc::default() })
    }

    /// Does something with the home that blocks.
    pub(crate) async fn work<T, F>(&self, job: F) -> Result<T, ProblemDetails>
    where
        T: Send + 'static,
        F: FnOnce(&ServedHome) -> T + Send + 'static,
    {
        let (sender, answer) = oneshot::channel();
        let job: DeskJob = Box::new(move |home| {
            // Nobody may be waiting any more.
            let _ = sender.send(job(home));
        });
        // Both fail only if the job panicked or the threads are gone.
        self.jobs.send(job).map_err(|_| ProblemDetails::failed(&"the answering threads are gone"))?;
        answer.await.map_err(|_| ProblemDetails::failed(&"a question panicked"))
    }

    /// The collections that are kept open, for a job that learns on the way which it needs.
    pub(crate) fn shelf(&self) -> OpenShelf {
        OpenShelf(Arc::clone(&self.shelf))
    }

    /// Asks a collection.
    pub(crate) async fn ask<T, E, F>(&self, project: &ProjectDir, question: F) -> Result<T, ProblemDetails>
    where
        T: Send + 'static,
        E: Into<ProblemDetails> + Send + 'static,
        F: FnOnce(&Collection) -> Result<T, E> + Send + 'static,
    {
        let (shelf, project) = (Arc::clone(&self.shelf), project.clone());
        self.work(move |_| {
            let collection = take(&shelf, project)?;
            let answer = question(&collection).map_err(E::into);
            put_back(&shelf, collection);
            answer
        })
        .await?
    }
}

/// A collection of the project, opened or refreshed.
fn take(shelf: &Mutex<VecDeque<Collection>>, project: ProjectDir) -> Result<Collection, ProblemDetails> {
    let kept = {
        let mut shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        // The whole directory is compared: a project removed and made again is another.
        let place = shelf.iter().rposition(|collection| *collection.project() == project);
        place.and_then(|place| shelf.remove(place))
    };
    match kept {
        Some(mut collection) => {
            collection.refresh()?;
            Ok(collection)
        }
        None => Ok(Collection::of(project)?),
    }
}

/// Collections that are kept open between questions.
#[derive(Clone, Default)]
pub(crate) struct OpenShelf(Arc<Mutex<VecDeque<Collection>>>);

impl OpenShelf {
    /// Asks a collection, on this thread.
    pub(crate) fn ask<T, E: Into<ProblemDetails>>(
        &self,
        project: ProjectDir,
        question: impl FnOnce(&Collection) -> Result<T, E>,
    ) -> Result<T, ProblemDetails> {
        let collection = take(&self.0, project)?;
        let answer = question(&collection).map_err(E::into);
        put_back(&self.0, collection);
        answer
    }
}

/// Keeps a collection for the next question; the one that was unused longest is closed for it.
fn put_back(shelf: &Mutex<VecDeque<Collection>>, collection: Collection) {
    let mut shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
    shelf.push_back(collection);
    let surplus = if shelf.len() > KEPT_OPEN { shelf.pop_front() } else { None };
    drop(shelf);
    // Closing files may take a while, and others wait for the shelf.
    drop(surplus);
}

/// Does what is asked until nobody can ask any more.
fn attend(home: &ServedHome, jobs: &Mutex<Receiver<DeskJob>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // Whoever asked learns of a panic from the channel that was dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| job(home)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_desk<T>(test: impl AsyncFnOnce(&Desk) -> T) -> T {
        let tmp = tempfile::tempdir().unwrap();
        let desk = Desk::open(tmp.path(), 1, None).unwrap();
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test(&desk))
    }

    #[test]
    fn a_panic_fails_one_question_and_no_other() {
        at_desk(async |desk| {
            let failed = desk.work::<(), _>(|_| panic!("on purpose")).await.unwrap_err();
            assert_eq!(failed.status, http::StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(desk.work(|home| home.list().unwrap().len()).await.unwrap(), 0, "the only thread is gone");
        });
    }

    #[test]
    fn a_project_without_a_collection_is_told_so() {
        at_desk(async |desk| {
            let project = desk.work(|home| home.project("p").unwrap()).await.unwrap();
            let failed = desk.ask(&project, |_| Ok::<_, ProblemDetails>(())).await.unwrap_err();
            assert_eq!(failed.status, http::StatusCode::CONFLICT);
        });
    }
}
