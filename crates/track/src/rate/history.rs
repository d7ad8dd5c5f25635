//! What did the visits of one page reveal about how often it changes?
//!
//! A visit reveals whether the page changed since the previous one, not how often, and visits come
//! at irregular times. Over an interval τ a page with rate λ stays the same with probability
//! exp(-λτ), so the derivative of the log-likelihood by log λ is
//!
//! ```text
//! k(λ) = Σ changed s(λτ) - λ Σ unchanged τ        with s(x) = x / (exp(x) - 1)
//! ```
//! The naive estimate (changes seen over time) is too low, since several changes between two visits
//! count once; the maximum likelihood estimate (the root of k) is infinite if every visit saw a
//! change, and biased upwards otherwise. Cho and Garcia-Molina ("Estimating Frequency of Change",
//! ACM TOIT 2003) remove most of that bias for regular visits by adding half a visit without a
//! change: -log((n - X + ½) / (n + ½)) / τ. Adding half a mean interval to the unchanged time does
//! the same for irregular visits ([`History::rate`]). k is decreasing and convex, so Newton's
//! method converges monotonically from below. If a prior is known, Bayes' rule replaces the half
//! visit ([`History::belief`]).

use super::prior::product;
use super::rates::{RATES, RateWeights, grid, normal};
use super::{Belief, Priors};

/// How many of the latest visits count: older ones say little about the present.
const LATEST: usize = 64;

/// Maximum Newton steps; about five are needed.
const STEPS: usize = 60;

/// The latest visits of a page that revealed whether it had changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    looks: Vec<Look>,
    /// Index of the oldest look once the ring buffer is full.
    oldest: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Look {
    days: f32,
    changed: bool,
}

/// x / (exp(x) - 1), with limit 1 at 0.
fn s(x: f64) -> f64 {
    if x < 1e-8 { 1.0 - x / 2.0 } else { x / x.exp_m1() }
}

/// The derivative of s: -1/2 at 0.
fn s_slope(x: f64) -> f64 {
    // (1 - s(x) exp(x)) / (exp(x) - 1) loses precision to cancellation near 0.
    if x < 1e-3 { -0.5 + x / 6.0 } else { (1.0 - s(x) - x) / x.exp_m1() }
}

impl History {
    /// Adds a visit this many days after the previous one.
    pub fn push(&mut self, days: f64, changed: bool) {
        if !(days.is_finite() && days > 0.0) {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "seven digits of a time will do")]
        let look = Look { days: days.min(1e6) as f32, changed };
        if self.looks.len() < LATEST {
            self.looks.push(look);
        } else if let Some(place) = self.looks.get_mut(self.oldest) {
            *place = look;
            self.oldest = (self.oldest + 1) % LATEST;
        }
    }

    /// Clears it, for reuse with another page.
    pub fn clear(&mut self) {
        self.looks.clear();
        self.oldest = 0;
    }

    /// Number of visits that revealed something.
    pub fn looks(&self) -> usize {
        self.looks.len()
    }

    /// Number of those that saw a change.
    pub fn changes(&self) -> usize {
        self.looks.iter().filter(|look| look.changed).count()
    }

    /// The nearly unbiased estimate of changes per day from these visits alone; `None` without any.
    pub fn rate(&self) -> Option<f64> {
        let all: f64 = self.looks.iter().map(|look| f64::from(look.days)).sum();
        let half = all / self.looks.len() as f64 / 2.0;
        (!self.looks.is_empty()).then(|| self.root(half))
    }

    /// The posterior from these visits and the prior of the page's host.
    pub fn belief(&self, priors: &Priors, host: u32) -> Belief {
        let prior = priors.of(host);
        if self.looks.is_empty() {
            return Belief::of(prior);
        }
        Belief::of(&normal(product(prior, &self.likelihood(&grid()))))
    }

    /// The likelihood of the visits under each rate, scaled to a maximum of 1.
    pub(super) fn likelihood(&self, rates: &[f64; RATES]) -> RateWeights {
        let still: f64 = self.looks.iter().filter(|look| !look.changed).map(|look| f64::from(look.days)).sum();
        let mut logs = rates.map(|rate| -rate * still);
        for days in self.changed() {
            // Beyond 36 the probability of a change is 1 in double precision.
            let certain = |x: f64| if x > 36.0 { 0.0 } else { (-(-x).exp_m1()).ln() };
            logs.iter_mut().zip(rates).for_each(|(log, rate)| *log += certain(rate * days));
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.map(|log| (log - most).exp())
    }

    /// The intervals that saw a change.
    fn changed(&self) -> impl Iterator<Item = f64> {
        self.looks.iter().filter(|look| look.changed).map(|look| f64::from(look.days))
    }

    /// The root of k, with this many additional unchanged days.
    fn root(&self, days: f64) -> f64 {
        let still: f64 = self.looks.iter().filter(|look| !look.changed).map(|look| f64::from(look.days)).sum();
        let (still, changes) = (still + days, self.changes() as f64);
        let moving: f64 = self.changed().sum();
        if changes == 0.0 {
            return 0.0;
        }
        // s(x) >= 1 - x / 2, so k is not negative here.
        let mut rate = changes / (still + moving / 2.0);
        for _ in 0..STEPS {
            let (mut k, mut slope) = (-rate * still, -still);
            for tau in self.changed() {
                let x = rate * tau;
                k += s(x);
                slope += s_slope(x) * tau;
            }
            let step = -k / slope;
            rate += step;
            if step <= rate * 1e-9 {
                break;
            }
        }
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulate::Dice;
    use super::*;

    fn history(looks: &[(f64, bool)]) -> History {
        let mut history = History::default();
        looks.iter().for_each(|(days, changed)| history.push(*days, *changed));
        history
    }

    #[test]
    fn regular_visits_give_the_estimate_of_cho_and_garcia_molina() {
        for (n, changes) in [(1, 0), (1, 1), (10, 3), (10, 10), (60, 59)] {
            let visits: Vec<_> = (0..n).map(|i| (7.0, i < changes)).collect();
            let improved = -((f64::from(n - changes) + 0.5) / (f64::from(n) + 0.5)).ln() / 7.0;
            let rate = history(&visits).rate().unwrap();
            assert!((rate - improved).abs() < 1e-6 * improved.max(1e-3), "{changes} of {n}: {rate}, not {improved}");
        }
        assert_eq!(History::default().rate(), None);
    }

    /// Mean and root mean square error of an estimate over many pages, relative to the true rate.
    fn over_many(rate: f64, visits: usize, estimate: impl Fn(&History, f64) -> f64) -> (f64, f64) {
        let (pages, mut dice) = (4_000, Dice::new(7));
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..pages {
            let (mut page, mut all) = (History::default(), 0.0);
            for _ in 0..visits {
                let days = 0.2 + 1.6 * dice.unit();
                all += days;
                page.push(days, dice.exponential(rate) < days);
            }
            let estimate = estimate(&page, all) / rate;
            sum += estimate;
            squares += (estimate - 1.0).powi(2);
        }
        (sum / f64::from(pages), (squares / f64::from(pages)).sqrt())
    }

    #[test]
    fn irregular_visits_are_estimated_with_little_bias() {
        for (rate, visits, bias) in [(0.1, 50, 0.02), (0.5, 20, 0.02), (0.5, 50, 0.02), (1.0, 50, 0.02), (2.0, 50, 0.1)]
        {
            let (mean, error) = over_many(rate, visits, |page, _| page.rate().unwrap());
            assert!((mean - 1.0).abs() < bias, "rate {rate}, {visits} visits: {mean} of the truth");
            let (naive, naive_error) = over_many(rate, visits, |page, all| page.changes() as f64 / all);
            if rate >= 0.5 {
                assert!((naive - 1.0).abs() > 5.0 * (mean - 1.0).abs(), "{naive} is no worse than {mean}");
            }
            if rate >= 1.0 {
                assert!(error < naive_error, "rate {rate}: error {error}, naive {naive_error}");
            }
        }
    }

    #[test]
    fn a_prior_gives_way_to_visits() {
        let priors = Priors::default();
        let rate = |looks: &[(f64, bool)]| history(looks).belief(&priors, 1).rate();
        assert!(rate(&[(1_000.0, false)]) < 0.001);
        let busy: Vec<_> = (0..60).map(|i| (1.0, i % 2 == 0)).collect();
        assert!((rate(&busy) - 2.0_f64.ln()).abs() < 0.05, "{}", rate(&busy));
        assert!(rate(&[(1.0, true)]) > rate(&[(100.0, true)]));
    }

    #[test]
    fn no_history_breaks_the_estimate() {
        for looks in [
            vec![(1e-9, true); 64],
            vec![(1e300, true), (1e-300, false)],
            vec![(f64::NAN, true), (-1.0, true), (0.0, true), (f64::INFINITY, false)],
            vec![(1e6, true); 100],
            vec![(1e6, false); 100],
        ] {
            let page = history(&looks);
            assert!(page.rate().is_none_or(|rate| rate.is_finite() && rate >= 0.0), "{looks:?}");
            let belief = page.belief(&Priors::fit([(1, &page)]), 1);
            assert!(belief.rate().is_finite() && belief.rate() > 0.0, "{looks:?}: {belief:?}");
        }
    }

    #[test]
    fn only_the_latest_visits_count() {
        let mut page = history(&[(1.0, true); 200]);
        (0..64).for_each(|_| page.push(1.0, false));
        assert_eq!((page.looks(), page.changes()), (64, 0));
    }
}
