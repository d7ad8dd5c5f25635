//! Which project does a worker that serves all of them work on next?
//!
//! The one with the fewest workers, and of these the one that it has not worked on for longest: so
//! that a run that takes weeks does not keep those after it in the alphabet waiting. A project that
//! cannot be worked on is left alone for a while; that is said once, and the others go on.

use orb_store::SharedListing;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// After how long a project that could not be worked on is tried again.
const CALM: Duration = Duration::from_secs(60);

/// After how long a worker leaves its project for one that nobody works on.
pub(super) const TURN: Duration = Duration::from_secs(600);

/// What a worker remembers of the projects it has worked on.
#[derive(Default)]
pub(super) struct Rota {
    turns: HashMap<String, LastTurn>,
}

/// The last turn that a project had.
struct LastTurn {
    ended: Instant,
    /// It is left alone until then.
    rests: Instant,
    /// What was said of it.
    said: String,
}

impl Rota {
    /// The next of these projects, if any is not left alone.
    pub(super) fn next<'a>(
        &self,
        open: impl Iterator<Item = &'a SharedListing>,
        now: Instant,
    ) -> Option<&'a SharedListing> {
        let turn = |one: &SharedListing| self.turns.get(&one.name);
        open.filter(|one| turn(one).is_none_or(|turn| turn.rests <= now))
            .min_by_key(|one| (one.workers, turn(one).map(|turn| turn.ended), &one.name))
    }

    /// A turn has ended; the project is left alone for so long.
    pub(super) fn worked(&mut self, project: &str, (now, rest): (Instant, Duration)) {
        let turn = LastTurn { ended: now, rests: now + rest, said: String::new() };
        self.turns.insert(project.to_owned(), turn);
    }

    /// A project cannot be worked on, for this reason; whether that is new.
    pub(super) fn failed(&mut self, project: &str, why: &str, now: Instant) -> bool {
        let turn = LastTurn { ended: now, rests: now + CALM, said: why.to_owned() };
        self.turns.insert(project.to_owned(), turn).is_none_or(|before| before.said != why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_page::RunId;

    fn listed(name: &str, workers: u64) -> SharedListing {
        SharedListing { name: name.to_owned(), run: Some(RunId(1)), machines: Vec::new(), workers }
    }

    fn names(rota: &Rota, open: &[SharedListing], now: Instant) -> Option<String> {
        rota.next(open.iter(), now).map(|one| one.name.clone())
    }

    #[test]
    fn every_project_gets_its_turn() {
        let (mut rota, mut now) = (Rota::default(), Instant::now());
        let open = [listed("a", 0), listed("b", 0), listed("c", 0)];
        let mut order = String::new();
        for _ in 0..7 {
            let next = names(&rota, &open, now).unwrap();
            order += &next;
            now += Duration::from_secs(1);
            rota.worked(&next, (now, Duration::ZERO));
        }
        assert_eq!(order, "abcabca");
    }

    #[test]
    fn the_project_with_the_fewest_workers_comes_first() {
        let rota = Rota::default();
        let open = [listed("a", 2), listed("b", 1), listed("c", 1)];
        assert_eq!(names(&rota, &open, Instant::now()).as_deref(), Some("b"));
    }

    #[test]
    fn what_cannot_be_worked_on_is_said_once_and_tried_again_calmly() {
        let (mut rota, now) = (Rota::default(), Instant::now());
        let open = [listed("a", 0), listed("b", 0)];
        assert!(rota.failed("a", "no password", now));
        assert_eq!(names(&rota, &open, now).as_deref(), Some("b"));
        rota.worked("b", (now, CALM));
        assert_eq!(names(&rota, &open, now), None);
        assert_eq!(names(&rota, &open, now + CALM).as_deref(), Some("a"));
        assert!(!rota.failed("a", "no password", now + CALM));
        assert!(rota.failed("a", "another reason", now + 2 * CALM));
    }
}
