//! Which pages are there, and when do they change?
//!
//! Either a mix of groups with known rates, or recorded visits: a change that a visit saw happened
//! somewhere since the previous visit, and is placed at a random moment in between. Every policy
//! meets the same changes.

use super::Dice;

/// A page of a simulated world.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedPage {
    /// Its host.
    pub host: u32,
    /// Its rate of change: the true one, or the best estimate.
    pub rate: f64,
    /// When it changes.
    pub changes: ChangeTimes,
}

/// When a page changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeTimes {
    /// As a Poisson process with the page's rate.
    Random,
    /// At these times in days, in order.
    At(Vec<f64>),
}

/// Pages, the simulated time span, and the visit budget.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The pages.
    pub pages: Vec<SimulatedPage>,
    /// Time span in days.
    pub span: f64,
    /// Visits per day.
    pub budget: f64,
}

/// Similar pages: their number, their rates, and the spread of those.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageGroup {
    /// Number of pages.
    pub pages: u32,
    /// The median time between two changes of a page, in days.
    pub every: f64,
    /// The factor around the median within which two thirds of the pages lie.
    pub spread: f64,
}

impl World {
    /// A deterministic world of groups of pages. All are on one host: which group a page belongs to
    /// must be learnt from its visits.
    pub fn of(groups: &[PageGroup], span: f64, budget: f64, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut pages = Vec::new();
        for group in groups {
            for _ in 0..group.pages {
                let every = group.every * (group.spread.max(1.0).ln() * dice.normal()).exp();
                pages.push(SimulatedPage { host: 0, rate: 1.0 / every, changes: ChangeTimes::Random });
            }
        }
        Self { pages, span, budget }
    }
}

/// The changes of one page over time.
pub(super) enum ChangeCourse<'a> {
    Random { rate: f64, dice: Dice, next: f64 },
    At { times: &'a [f64] },
}

impl<'a> ChangeCourse<'a> {
    pub(super) fn of(page: &'a SimulatedPage, seed: u64) -> Self {
        match &page.changes {
            ChangeTimes::Random => {
                let mut dice = Dice::new(seed);
                let next = dice.exponential(page.rate);
                Self::Random { rate: page.rate, dice, next }
            }
            ChangeTimes::At(times) => Self::At { times },
        }
    }

    /// The next change.
    pub(super) fn next(&self) -> f64 {
        match self {
            Self::Random { next, .. } => *next,
            Self::At { times } => times.first().copied().unwrap_or(f64::INFINITY),
        }
    }

    /// Advances past all changes up to a time.
    pub(super) fn pass(&mut self, time: f64) {
        match self {
            // A Poisson process is memoryless: of the past changes, only that there was one
            // matters.
            Self::Random { rate, dice, next } => {
                if *next <= time {
                    *next = time + dice.exponential(*rate);
                }
            }
            Self::At { times } => *times = &times[times.partition_point(|at| *at <= time)..],
        }
    }
}
