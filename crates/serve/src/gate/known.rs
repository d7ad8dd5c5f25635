//! Who was recognised a moment ago?
//!
//! Every request shows a session or a token, and to look one up takes a thread that may block and
//! three queries. So whoever was recognised is remembered for a minute, as is the project that was
//! asked for. Nothing stays longer than it is true: before each use, a connection that is there for
//! this alone asks the database whether anybody, this process or another, has written to it since,
//! and if so everything is forgotten. That takes a few microseconds and no lock that a writer
//! holds, so it is asked on the threads that serve sockets.
//!
//! What was not found is not remembered: wrong secrets are endless.

use super::Identity;
use super::identity::Shown;
use orb_page::Moment;
use orb_project::{Home, ProjectDir};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long somebody is remembered. Whoever is looked up again is noted as having been here.
const LIFE: Duration = Duration::from_secs(60);

/// How many are remembered.
const MOST: usize = 1_024;

/// Those who were recognised, as long as that is true.
#[derive(Default)]
pub(crate) struct KnownVisitors(Mutex<Option<VisitorMemory>>);

/// What is remembered, of which version of the database.
struct VisitorMemory {
    home: Home,
    version: Option<i64>,
    visitors: HashMap<Shown, KnownVisitor>,
    projects: HashMap<String, ProjectDir>,
}

struct KnownVisitor {
    identity: Identity,
    until: Option<Moment>,
    looked_up: Instant,
}

/// Somebody who was found, with the project that was asked for.
pub(super) type FoundVisitor = (Identity, Option<ProjectDir>);

impl KnownVisitors {
    /// Remembers, with a connection to the home that nobody writes by.
    pub(crate) fn watching(home: Home) -> Self {
        let (visitors, projects) = Default::default();
        Self(Mutex::new(Some(VisitorMemory { home, version: None, visitors, projects })))
    }

    /// Who shows this, with the project, if both are remembered; and the version of the database to
    /// remember them under otherwise.
    pub(super) fn recall(&self, shown: &Shown, project: Option<&str>) -> (Option<FoundVisitor>, Option<i64>) {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(memory) = memory.as_mut() else { return (None, None) };
        // Where it cannot be asked, nothing is remembered.
        let version = memory.home.version().ok();
        if version.is_none() || version != memory.version {
            memory.forget(version);
            return (None, version);
        }
        let visitor = memory.visitors.get(shown).filter(|known| known.is_good());
        let project = project.map(|name| memory.projects.get(name));
        let found = match (visitor, project) {
            (Some(known), None) => Some((known.identity.clone(), None)),
            (Some(known), Some(Some(project))) => Some((known.identity.clone(), Some(project.clone()))),
            _ => None,
        };
        (found, version)
    }

    /// Remembers who was found, as the database was at this version or later.
    pub(super) fn keep(
        &self,
        version: Option<i64>,
        shown: Shown,
        (identity, project): FoundVisitor,
        until: Option<Moment>,
    ) {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(memory) = memory.as_mut().filter(|memory| version.is_some() && memory.version == version) else {
            return;
        };
        if memory.visitors.len() >= MOST || memory.projects.len() >= MOST {
            memory.forget(version);
        }
        // A directory that nobody listed may come and go without a word to the database.
        if let Some(project) = project.filter(|project| project.created_at.0 != 0) {
            memory.projects.insert(project.name.clone(), project);
        }
        memory.visitors.insert(shown, KnownVisitor { identity, until, looked_up: Instant::now() });
    }
}

impl VisitorMemory {
    fn forget(&mut self, version: Option<i64>) {
        self.visitors.clear();
        self.projects.clear();
        self.version = version;
    }
}

impl KnownVisitor {
    fn is_good(&self) -> bool {
        self.looked_up.elapsed() < LIFE && self.until.is_none_or(|until| Moment::now() < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_project::{Level, NewUser};

    fn found(home: &Home, known: &KnownVisitors, shown: &Shown) -> Option<Identity> {
        let (found, version) = known.recall(shown, Some("p"));
        assert!(found.is_none(), "what was not looked up is not known");
        let (identity, until) = Identity::find(home, shown).unwrap()?;
        let visitor = (identity.clone(), home.find("p").ok());
        known.keep(version, shown.clone(), visitor, until);
        Some(identity)
    }

    #[test]
    fn whatever_is_written_by_anybody_is_heeded_at_once() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        home.project("p").unwrap();
        let bob = home.accounts().add(&NewUser { name: "bob".into(), ..NewUser::default() }, "a password").unwrap();
        let shown = Shown::Session(home.accounts().begin_session(bob.id, Moment::now()).unwrap());
        let known = KnownVisitors::watching(Home::open(tmp.path()).unwrap());
        assert!(found(&home, &known, &shown).unwrap().user.level("p").is_none());
        assert!(known.recall(&shown, Some("p")).0.is_some() && known.recall(&shown, None).0.is_some());
        assert!(known.recall(&shown, Some("q")).0.is_none(), "a project that nobody looked up");
        let elsewhere = Home::open(tmp.path()).unwrap();
        elsewhere.accounts().grant("bob", "p", Some(Level::Run)).unwrap();
        assert_eq!(found(&home, &known, &shown).unwrap().user.level("p"), Some(Level::Run));
        elsewhere.remove("p").unwrap();
        assert!(known.recall(&shown, Some("p")).0.is_none(), "a project that is gone");
        let Shown::Session(id) = &shown else { unreachable!() };
        elsewhere.accounts().end_session(id).unwrap();
        assert!(found(&home, &known, &shown).is_none(), "a session that was ended");
    }

    #[test]
    fn who_was_looked_up_before_a_change_is_not_kept_after_it() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let bob = home.accounts().add(&NewUser { name: "bob".into(), ..NewUser::default() }, "a password").unwrap();
        let shown = Shown::Session(home.accounts().begin_session(bob.id, Moment::now()).unwrap());
        let known = KnownVisitors::watching(Home::open(tmp.path()).unwrap());
        let (_, version) = known.recall(&shown, None);
        let (identity, until) = Identity::find(&home, &shown).unwrap().unwrap();
        home.accounts().set_password("bob", "another one").unwrap();
        known.keep(version, shown.clone(), (identity.clone(), None), until);
        assert!(known.recall(&shown, None).0.is_none());
        known.keep(version, shown.clone(), (identity.clone(), None), until);
        assert!(known.recall(&shown, None).0.is_none(), "kept under an old version");
        let (_, version) = known.recall(&shown, None);
        known.keep(version, shown.clone(), (identity, None), Some(Moment::now()));
        assert!(known.recall(&shown, None).0.is_none(), "over by the clock");
    }
}
