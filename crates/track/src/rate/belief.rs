//! What do we believe about a page's rate of change, and what would a visit be worth?
//!
//! The belief is a posterior distribution over a grid of rates. A page that changes at rate λ and
//! is visited every T days is fresh for the share (1 - exp(-λT)) / λT of the time. Under a budget,
//! the optimal intervals are those at which the marginal value of the next visit is equal for all
//! pages (Lagrange multipliers; Cho and Garcia-Molina, "Effective Page Refresh Policies", ACM TODS
//! 2003; Azar et al., "Tractable near-optimal policies for crawling", PNAS 2018):
//!
//! ```text
//! worth(T) = w E[ (1 - (1 + λT) exp(-λT)) / λ ]
//! ```
//! where w is the page's weight. It grows with the time since the last visit, up to E[w/λ]: a page
//! that changes all the time is never worth much.

use super::rates::{RateWeights, grid};

/// Rates with a smaller weight are dropped.
const NEGLIGIBLE: f64 = 1e-4;

/// The range of intervals that are distinguished, in days.
const SHORTEST: f64 = 1e-5;
const LONGEST: f64 = 1e6;

/// A belief about how often a page changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// Rates with their weights, which sum to 1.
    rates: Vec<(f64, f64)>,
}

impl Belief {
    /// A belief in a known rate.
    pub fn known(rate: f64) -> Self {
        Self { rates: vec![(rate.clamp(1e-9, 1e9), 1.0)] }
    }

    /// A belief with these weights over the grid.
    pub(super) fn of(weights: &RateWeights) -> Self {
        let mut rates: Vec<(f64, f64)> =
            grid().into_iter().zip(*weights).filter(|(_, weight)| *weight > NEGLIGIBLE).collect();
        let sum: f64 = rates.iter().map(|(_, weight)| weight).sum();
        rates.iter_mut().for_each(|(_, weight)| *weight /= sum);
        Self { rates }
    }

    /// Expected changes per day.
    pub fn rate(&self) -> f64 {
        self.mean(|rate| rate)
    }

    /// The expected freshness of a page that is visited at this interval, in days.
    pub fn freshness(&self, interval: f64) -> f64 {
        self.mean(|rate| match rate * interval {
            x if x < 1e-9 => 1.0,
            x => -(-x).exp_m1() / x,
        })
    }

    /// What a visit is worth this many days after the last: the days of freshness it gains over no
    /// visit at all.
    pub fn worth(&self, days: f64) -> f64 {
        if days <= 0.0 {
            return 0.0;
        }
        self.mean(|rate| match rate * days {
            x if x < 1e-4 => days * x / 2.0,
            x => (1.0 - (1.0 + x) * (-x).exp()) / rate,
        })
    }

    /// The number of days after which a visit is worth this much; `None` if that takes thousands of
    /// years or never happens.
    pub fn days_until(&self, worth: f64) -> Option<f64> {
        if !worth.is_finite() || self.worth(LONGEST) < worth {
            return None;
        }
        let (mut low, mut high) = (SHORTEST.ln(), LONGEST.ln());
        if self.worth(SHORTEST) >= worth {
            return Some(SHORTEST);
        }
        let (mut at_low, mut at_high) = (self.worth(SHORTEST).ln(), self.worth(LONGEST).ln());
        // In logarithmic scale the curve starts as a straight line and ends flat: use the secant
        // method, and bisection where it fails.
        for turn in 0..100 {
            let straight = low + (high - low) * (worth.ln() - at_low) / (at_high - at_low);
            let middle = if turn % 3 == 2 || !straight.is_finite() { f64::midpoint(low, high) } else { straight };
            let here = self.worth(middle.exp()).ln();
            if (here - worth.ln()).abs() < 1e-6 || high - low < 1e-9 {
                return Some(middle.exp());
            }
            if here < worth.ln() {
                (low, at_low) = (middle, here);
            } else {
                (high, at_high) = (middle, here);
            }
        }
        Some(f64::midpoint(low, high).exp())
    }

    /// The rates with their weights.
    pub(super) fn rates(&self) -> &[(f64, f64)] {
        &self.rates
    }

    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.rates.iter().map(|(rate, weight)| weight * of(*rate)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worth_is_what_a_little_less_time_between_visits_gains() {
        // Visits every T days cost 1/T; the worth is the derivative of freshness by that cost.
        for rate in [0.001, 0.1, 3.0] {
            let belief = Belief::known(rate);
            for days in [0.5, 10.0, 300.0] {
                let (more, less) = (1.0 / days * 1.0001, 1.0 / days * 0.9999);
                let slope = (belief.freshness(1.0 / more) - belief.freshness(1.0 / less)) / (more - less);
                let worth = belief.worth(days);
                assert!((worth - slope).abs() < 1e-3 * slope + 1e-9, "{rate} {days}: {worth}, not {slope}");
            }
        }
    }

    #[test]
    fn a_page_that_changes_all_the_time_is_never_worth_much() {
        let worth = |rate: f64| Belief::known(rate).worth(30.0);
        assert!(worth(100.0) < 0.011 && worth(0.05) > 5.0 && worth(1e-6) < 1e-3);
        assert_eq!(Belief::known(100.0).days_until(0.02), None);
        let unsure = Belief { rates: vec![(100.0, 0.9), (0.01, 0.1)] };
        assert!(unsure.days_until(0.02).is_some(), "what may be slow is looked at");
    }

    #[test]
    fn the_day_on_which_a_visit_is_worth_so_much_is_found() {
        for rate in [1e-6, 1e-3, 1.0, 1e4] {
            for belief in [Belief::known(rate), Belief { rates: vec![(rate, 0.5), (rate / 1e3, 0.5)] }] {
                for days in [0.001, 1.0, 77.0, 3_000.0] {
                    let worth = belief.worth(days);
                    // Once the worth has reached its limit, any later day will do.
                    if belief.worth(days * 1.01) > worth * 1.001 {
                        let found = belief.days_until(worth).unwrap();
                        assert!((found / days - 1.0).abs() < 1e-3, "{belief:?}: {found}, not {days}");
                    }
                }
            }
        }
    }

    #[test]
    fn extremes_stay_finite() {
        for belief in [Belief::known(0.0), Belief::known(f64::MAX), Belief::of(&[0.03; super::super::rates::RATES])] {
            for days in [-1.0, 0.0, 1e-12, 1e12] {
                assert!(belief.worth(days).is_finite() && belief.freshness(days).is_finite(), "{belief:?} {days}");
            }
            assert!(belief.days_until(0.0).is_some());
            assert_eq!(belief.days_until(f64::INFINITY), None);
        }
    }
}
