//! Which pages are there, and when do they change?
//!
//! Either a mix made up of groups of pages whose rates are known, or what visits recorded: a change that a visit saw lies somewhere since the visit
//! before, and is put at a moment drawn from there. Every policy meets the same changes.

use super::Dice;

/// A page of a simulated world.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedPage {
    /// Its host.
    pub host: u32,
    /// How often it changes: the truth, or the best estimate.
    pub rate: f64,
    /// When it changes.
    pub changes: Changes,
}

/// When a page changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Changes {
    /// At random, at the page's rate.
    Random,
    /// At these times in days, in order.
    At(Vec<f64>),
}

/// Pages, for how long they are watched, and how many visits a day there are.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The pages.
    pub pages: Vec<SimulatedPage>,
    /// Days.
    pub span: f64,
    /// Visits a day.
    pub budget: f64,
}

/// Pages alike: how many, how often they change, and how far they differ in that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// How many.
    pub pages: u32,
    /// The median time between two changes of a page, in days.
    pub every: f64,
    /// By which factor most pages (two thirds) are within the median.
    pub spread: f64,
}

impl World {
    /// A world of groups of pages, the same for the same seed. All lie on one host: which group a page is of must be learnt from its visits.
    pub fn of(groups: &[Group], span: f64, budget: f64, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut pages = Vec::new();
        for group in groups {
            for _ in 0..group.pages {
                let every = group.every * (group.spread.max(1.0).ln() * dice.normal()).exp();
                pages.push(SimulatedPage { host: 0, rate: 1.0 / every, changes: Changes::Random });
            }
        }
        Self { pages, span, budget }
    }
}

/// The changes of one page as time goes by.
pub(super) enum Course<'a> {
    Random { rate: f64, dice: Dice, next: f64 },
    At { times: &'a [f64] },
}

impl<'a> Course<'a> {
    pub(super) fn of(page: &'a SimulatedPage, seed: u64) -> Self {
        match &page.changes {
            Changes::Random => {
                let mut dice = Dice::new(seed);
                let next = dice.exponential(page.rate);
                Self::Random { rate: page.rate, dice, next }
            }
            Changes::At(times) => Self::At { times },
        }
    }

    /// The first change not yet passed.
    pub(super) fn next(&self) -> f64 {
        match self {
            Self::Random { next, .. } => *next,
            Self::At { times } => times.first().copied().unwrap_or(f64::INFINITY),
        }
    }

    /// Passes all changes up to a time.
    pub(super) fn pass(&mut self, time: f64) {
        match self {
            // Chance has no memory: of the changes up to now only that there was one matters.
            Self::Random { rate, dice, next } => {
                if *next <= time {
                    *next = time + dice.exponential(*rate);
                }
            }
            Self::At { times } => *times = &times[times.partition_point(|at| *at <= time)..],
        }
    }
}
