//! Which policies can choose visits?

use super::World;
use crate::rate::{Belief, Best, History, Outlook, Price, Priors};
use serde::{Deserialize, Serialize};

/// How often, over the whole simulation, priors and price are re-estimated.
const FITS: f64 = 24.0;

/// Sample size for that.
const SAMPLE: usize = 500;

/// A visiting policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// All pages equally often.
    Uniform,
    /// In proportion to the known rates of change.
    Proportional,
    /// Where a visit is worth most, given known rates; pages that change too often are left alone.
    Known,
    /// What Orbweaver does: where a visit is worth most, with rates estimated from past visits, and
    /// no page forgotten.
    Learning,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Proportional, Self::Known, Self::Learning];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Proportional => "proportional",
            Self::Known => "known",
            Self::Learning => "learning",
        }
    }
}

/// What a policy knows about a page.
struct PageKnowledge {
    host: u32,
    seen: f64,
    belief: Belief,
    history: History,
    outlook: Outlook,
}

/// A policy during the simulation.
pub(super) struct Chooser {
    policy: Policy,
    pages: Vec<PageKnowledge>,
    budget: f64,
    priors: Priors,
    price: Price,
    /// Days between two fits, and the time of the next one.
    every: f64,
    next_fit: f64,
}

impl Chooser {
    pub(super) fn new(world: &World, policy: Policy) -> Self {
        let priors = Priors::default();
        let price = Price::strict(&[], 0.0);
        let known = |page: &super::SimulatedPage| {
            let history = History::default();
            let belief = match policy {
                Policy::Learning => history.belief(&priors, page.host),
                _ => Belief::known(page.rate),
            };
            PageKnowledge { host: page.host, seen: 0.0, belief, history, outlook: price.outlook(&Belief::known(1.0)) }
        };
        let pages = world.pages.iter().map(known).collect();
        let every = world.span / FITS;
        let mut chooser = Self { policy, pages, budget: world.budget, priors, price, every, next_fit: every };
        chooser.fit();
        chooser
    }

    /// The pages to visit now, at most `room`.
    pub(super) fn choose(&mut self, room: usize, time: f64) -> Vec<usize> {
        if self.policy == Policy::Learning && time >= self.next_fit {
            self.next_fit = time + self.every;
            self.fit();
        }
        if room == 0 {
            return Vec::new();
        }
        let mut best = Best::new(room);
        for (number, page) in self.pages.iter().enumerate() {
            let days = time - page.seen;
            let worth = match self.policy {
                Policy::Uniform => days,
                Policy::Proportional => days * page.belief.rate(),
                Policy::Known | Policy::Learning => page.outlook.worth(&page.belief, days),
            };
            best.offer(number, worth);
        }
        best.into_sorted()
    }

    /// Learns the result of a visit.
    pub(super) fn learn(&mut self, page: usize, time: f64, changed: bool) {
        let Some(page) = self.pages.get_mut(page) else { return };
        let days = time - std::mem::replace(&mut page.seen, time);
        if self.policy == Policy::Learning {
            page.history.push(days, changed);
            page.belief = page.history.belief(&self.priors, page.host);
            page.outlook = self.price.outlook(&page.belief);
        }
    }

    /// Re-estimates priors and price.
    fn fit(&mut self) {
        let step = self.pages.len().div_ceil(SAMPLE).max(1);
        if self.policy == Policy::Learning {
            self.priors = Priors::fit(self.pages.iter().step_by(step).map(|page| (page.host, &page.history)));
            self.pages.iter_mut().for_each(|page| page.belief = page.history.belief(&self.priors, page.host));
        }
        let sample: Vec<Belief> = self.pages.iter().step_by(step).map(|page| page.belief.clone()).collect();
        let share = sample.len() as f64 / self.pages.len().max(1) as f64;
        let budget = self.budget * share;
        self.price =
            if self.policy == Policy::Learning { Price::of(&sample, budget) } else { Price::strict(&sample, budget) };
        self.pages.iter_mut().for_each(|page| page.outlook = self.price.outlook(&page.belief));
    }
}
