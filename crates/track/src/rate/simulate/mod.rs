//! How well does a visiting policy do?
//!
//! Visits are made in rounds, like runs. In each round a policy picks as many pages as the budget
//! allows so far, and learns whether each has changed. What counts is freshness (the share of
//! pages, over time, that are as they were last seen) and age (how long ago the others changed).
//! The first quarter of the time is a warm-up and is not counted, since everything is fresh and
//! nothing is known.

mod dice;
mod policy;
mod world;

pub use dice::Dice;
pub use policy::Policy;
pub use world::{ChangeTimes, PageGroup, SimulatedPage, World};

use super::{Belief, Price};
use policy::Chooser;
use serde::Serialize;
use world::ChangeCourse;

/// The share of the time that is warm-up.
const WARM_UP: f64 = 0.25;

/// A round lasts at least an hour, and long enough that pages times rounds stay below this.
const WORK: f64 = 1.2e7;

/// The result of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyOutcome {
    /// The policy.
    pub policy: Policy,
    /// Average freshness.
    pub freshness: f64,
    /// Average age in days.
    pub age: f64,
    /// Number of visits.
    pub visits: u64,
    /// Number of visits that saw a change.
    pub changes: u64,
}

/// The upper bound of freshness for random changes and known rates: that of optimal regular visits.
pub fn optimum(world: &World) -> f64 {
    let pages: Vec<Belief> = world.pages.iter().map(|page| Belief::known(page.rate)).collect();
    let price = Price::strict(&pages, world.budget);
    let fresh = |page: &Belief| price.outlook(page).days().map_or(0.0, |days| page.freshness(days));
    pages.iter().map(fresh).sum::<f64>() / pages.len().max(1) as f64
}

/// Simulates a policy in a world.
pub fn simulate(world: &World, policy: Policy, seed: u64) -> PolicyOutcome {
    let shortest = (1.0 / 24.0_f64).min(world.span / 500.0).max(f64::MIN_POSITIVE);
    let round = shortest.max(world.span * world.pages.len() as f64 / WORK);
    let mut scene = Simulation::new(world, seed);
    let mut chooser = Chooser::new(world, policy);
    let (mut time, mut due) = (0.0, 0.0);
    while time + round <= world.span {
        time += round;
        due += world.budget * round;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the number of pages")]
        let room = due.floor().min(world.pages.len() as f64) as usize;
        for page in chooser.choose(room, time) {
            let changed = scene.visit(page, time);
            chooser.learn(page, time, changed);
        }
        due = (due - room as f64).min(world.pages.len() as f64);
    }
    scene.end(policy)
}

/// A page during the simulation.
struct WatchedPage<'a> {
    course: ChangeCourse<'a>,
    seen: f64,
}

/// A world during the simulation, and its statistics.
struct Simulation<'a> {
    pages: Vec<WatchedPage<'a>>,
    from: f64,
    span: f64,
    fresh: f64,
    age: f64,
    visits: u64,
    changes: u64,
}

impl<'a> Simulation<'a> {
    fn new(world: &'a World, seed: u64) -> Self {
        let course = |(n, page): (u64, &'a SimulatedPage)| WatchedPage {
            course: ChangeCourse::of(page, seed.wrapping_mul(0x1_0000_0001).wrapping_add(n)),
            seen: 0.0,
        };
        let pages = (0..).zip(&world.pages).map(course).collect();
        let from = world.span * WARM_UP;
        Self { pages, from, span: world.span, fresh: 0.0, age: 0.0, visits: 0, changes: 0 }
    }

    /// Visits a page and returns whether it changed since the last visit.
    fn visit(&mut self, page: usize, time: f64) -> bool {
        let Some(watched) = self.pages.get_mut(page) else { return false };
        let (seen, change) = (watched.seen, watched.course.next());
        watched.seen = time;
        watched.course.pass(time);
        self.account(seen, change, time);
        self.visits += 1;
        self.changes += u64::from(change <= time);
        change <= time
    }

    /// Accounts for the time between two visits of a page, given when it changed.
    fn account(&mut self, seen: f64, change: f64, until: f64) {
        let (seen, until) = (seen.max(self.from), until.max(self.from));
        self.fresh += (change.min(until) - seen).max(0.0);
        if change < until {
            let begin = change.max(self.from);
            self.age += ((until - change).powi(2) - (begin - change).powi(2)) / 2.0;
        }
    }

    fn end(mut self, policy: Policy) -> PolicyOutcome {
        let rest: Vec<(f64, f64)> = self.pages.iter().map(|page| (page.seen, page.course.next())).collect();
        rest.into_iter().for_each(|(seen, change)| self.account(seen, change, self.span));
        let whole = (self.pages.len() as f64 * (self.span - self.from)).max(f64::MIN_POSITIVE);
        PolicyOutcome {
            policy,
            freshness: self.fresh / whole,
            age: self.age / whole,
            visits: self.visits,
            changes: self.changes,
        }
    }
}

#[cfg(test)]
mod tests;
