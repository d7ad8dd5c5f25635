//! What are a project's pages like, for judging a page that was hardly visited?
//!
//! The distribution of rates over pages has no fixed shape (news and archives have little in
//! common), so none is assumed: the prior is nonparametric, a weight for every rate of a grid,
//! namely the weights that maximise the likelihood of all visits (Kiefer and Wolfowitz 1956). It is
//! found by expectation maximisation (Laird 1978): weight every page's rates by its visits, and
//! take the mean as the next prior. A few iterations from uniform weights keep it smooth. Each host
//! has its own prior, shrunk towards the project's, which counts like a few more pages: hosts
//! differ, but resemble each other. This is empirical Bayes (Robbins 1956). A sample of pages
//! suffices, so memory is bounded.

use super::History;
use super::rates::{RATES, RateWeights, grid, normal};
use std::collections::BTreeMap;

/// EM iterations.
const ROUNDS: usize = 20;

/// The project's prior counts for a host like this many of its pages.
const KEPT: f64 = 20.0;

/// The share of a prior that is uniform, so that nothing is impossible.
const DOUBT: f64 = 0.02;

/// The priors of a project's pages, by host.
#[derive(Clone, Debug, PartialEq)]
pub struct Priors {
    project: RateWeights,
    hosts: BTreeMap<u32, RateWeights>,
}

impl Default for Priors {
    /// With no data at all, every order of magnitude is equally likely.
    fn default() -> Self {
        Self { project: [1.0 / RATES as f64; RATES], hosts: BTreeMap::new() }
    }
}

impl Priors {
    /// Fits them to pages with their hosts' numbers; pages never visited twice carry no
    /// information.
    pub fn fit<'a>(pages: impl IntoIterator<Item = (u32, &'a History)>) -> Self {
        let rates = grid();
        let told = |(host, page): (u32, &History)| (page.looks() > 0).then(|| (host, page.likelihood(&rates)));
        let pages: Vec<(u32, RateWeights)> = pages.into_iter().filter_map(told).collect();
        let mut priors = Self::default();
        if pages.is_empty() {
            return priors;
        }
        for _ in 0..ROUNDS {
            priors = priors.improved(&pages);
        }
        priors
    }

    /// The weights of the rates for a page of this host.
    pub(super) fn of(&self, host: u32) -> &RateWeights {
        self.hosts.get(&host).unwrap_or(&self.project)
    }

    /// One EM iteration: the posterior of each page, and their mean.
    fn improved(&self, pages: &[(u32, RateWeights)]) -> Self {
        let (mut all, mut hosts) = ([0.0; RATES], BTreeMap::<u32, (f64, RateWeights)>::new());
        for (host, likelihood) in pages {
            let (count, sums) = hosts.entry(*host).or_insert((0.0, [0.0; RATES]));
            *count += 1.0;
            let page = normal(product(self.of(*host), likelihood));
            sums.iter_mut()
                .zip(&mut all)
                .zip(page)
                .for_each(|((sum, all), part)| (*sum, *all) = (*sum + part, *all + part));
        }
        let project = doubted(normal(all));
        let own = |(host, (count, sums)): (u32, (f64, RateWeights))| {
            let mut weights = project;
            weights.iter_mut().zip(sums).for_each(|(weight, sum)| *weight = (*weight * KEPT + sum) / (KEPT + count));
            (host, weights)
        };
        Self { hosts: hosts.into_iter().map(own).collect(), project }
    }
}

/// The element-wise product, normalised.
pub(super) fn product(prior: &RateWeights, likelihood: &RateWeights) -> RateWeights {
    let mut weights = *prior;
    weights.iter_mut().zip(likelihood).for_each(|(weight, likely)| *weight *= likely);
    weights
}

fn doubted(mut weights: RateWeights) -> RateWeights {
    weights.iter_mut().for_each(|weight| *weight = *weight * (1.0 - DOUBT) + DOUBT / RATES as f64);
    weights
}

#[cfg(test)]
mod tests {
    use super::super::simulate::Dice;
    use super::*;

    /// Pages of two hosts, one of which changes a hundred times as often, visited every other week.
    fn pages(dice: &mut Dice, visits: usize) -> Vec<(u32, f64, History)> {
        let page = |n: u32| {
            let host = n % 2;
            let rate = if host == 0 { 0.3 } else { 0.003 } * (0.5 + dice.unit());
            let mut history = History::default();
            (0..visits).for_each(|_| history.push(14.0, dice.exponential(rate) < 14.0));
            (host, rate, history)
        };
        (0..400).map(page).collect()
    }

    #[test]
    fn a_page_hardly_visited_is_judged_by_its_host() {
        let pages = pages(&mut Dice::new(3), 3);
        let priors = Priors::fit(pages.iter().map(|(host, _, page)| (*host, page)));
        let slow_share =
            |host: u32| priors.of(host).iter().zip(grid()).filter(|(_, r)| *r < 0.03).map(|(w, _)| w).sum::<f64>();
        assert!(slow_share(0) < 0.15 && slow_share(1) > 0.85, "{} {}", slow_share(0), slow_share(1));
        assert!((slow_share(9) - 0.5).abs() < 0.1, "an unknown host is like all together: {}", slow_share(9));
    }

    #[test]
    fn a_fitted_prior_makes_estimates_better() {
        let pages = pages(&mut Dice::new(5), 4);
        let priors = Priors::fit(pages.iter().map(|(host, _, page)| (*host, page)));
        let error = |estimate: &dyn Fn(u32, &History) -> f64| -> f64 {
            pages.iter().map(|(host, rate, page)| (estimate(*host, page).max(1e-6) / rate).ln().powi(2)).sum()
        };
        let with = error(&|host, page| page.belief(&priors, host).rate());
        let without = error(&|_, page| page.rate().unwrap_or(0.0));
        assert!(with < without / 3.0, "{with} with the prior, {without} without");
    }

    #[test]
    fn without_pages_that_told_something_all_rates_are_likely() {
        assert_eq!(Priors::fit([]), Priors::default());
        assert_eq!(Priors::fit([(1, &History::default())]), Priors::default());
    }
}
