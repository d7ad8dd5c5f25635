//! What must a visit be worth for the budget to last?
//!
//! A page is due when a visit is worth the price ([`Belief::worth`]). The price is the Lagrange
//! multiplier: the value at which all pages together are due as often as the budget allows. Visits
//! decrease as the price rises, so it is found by bisection. A sample represents all pages if there
//! are many: 20,000 meet the budget to within about two per cent, and callers with a hard limit
//! take the best of what is due ([`super::Best`]).
//!
//! Two rules keep the policy on track. **Probes**: rare visits that all saw a change cannot
//! distinguish a page that changes every other week, and deserves attention, from one that changes
//! every minute; only a visit soon after the last one can. Its value is the value of information
//! (Howard 1966): the weight of a rate, times the gain per day of the page's optimal interval for
//! it over the one it would get, times the days for which the knowledge lasts. **No page is
//! forgotten**: a page that changes all the time would never be due, which is optimal overall and
//! odd to whoever looks for it; so every page is due after ten times the interval at which all
//! pages could be visited equally.

use super::Belief;
use super::rates::{RATES, grid, place};

/// Size of the sample.
const SAMPLE: usize = 20_000;

/// Every page is due after this many times the interval of uniform visits.
const OVERDUE: f64 = 10.0;

/// For how many such intervals the result of a probe is useful.
const LASTING: f64 = 10.0;

/// Before this share of its interval a page is far from due.
const EARLY: f64 = 0.3;

/// The value that a visit must have, in days of freshness.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    worth: f64,
    /// Every page is due after this many days.
    longest: f64,
    /// For how many days the result of a probe is useful.
    lasting: f64,
    /// For each rate, the interval at which a visit is worth the price, and the gain per day of
    /// visits at that interval.
    best: [(f64, f64); RATES],
}

/// When to visit a page again, at some price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Days after the last visit at which a visit is worth the price; infinite if never.
    worthwhile: f64,
    /// Days after which a probe would reveal how often it changes, and what that is worth.
    probe: Option<(f64, f64)>,
    /// Days after which it is due regardless.
    longest: f64,
}

impl Outlook {
    /// Days after its last visit at which it is due; `None` if never.
    pub fn days(&self) -> Option<f64> {
        let probe = self.probe.map_or(f64::INFINITY, |(days, _)| days);
        Some(self.worthwhile.min(probe).min(self.longest)).filter(|days| days.is_finite())
    }

    /// The value of a visit this many days after the last one, for comparing pages.
    pub fn worth(&self, belief: &Belief, days: f64) -> f64 {
        if days >= self.longest {
            return f64::INFINITY;
        }
        // Long before its due date a page is worth less than the price and less than any page near
        // its own: its exact value does not matter.
        let due = self.days().unwrap_or(f64::INFINITY);
        if days < EARLY * due {
            return 1e-12 * days / due;
        }
        let probe = self.probe.filter(|(from, _)| days >= *from).map_or(0.0, |(_, worth)| worth);
        belief.worth(days).max(probe)
    }
}

impl Price {
    /// The price at which these pages are visited this often per day. With a budget of 0, nothing
    /// is visited.
    pub fn of(pages: &[Belief], visits_a_day: f64) -> Self {
        let even = pages.len() as f64 / visits_a_day;
        Self { lasting: LASTING * even, ..Self::within(pages, visits_a_day, OVERDUE * even) }
    }

    /// The same, but pages that are not worth it are never visited: maximum freshness.
    pub fn strict(pages: &[Belief], visits_a_day: f64) -> Self {
        Self::within(pages, visits_a_day, f64::INFINITY)
    }

    fn within(pages: &[Belief], visits_a_day: f64, longest: f64) -> Self {
        if pages.is_empty() || visits_a_day.is_nan() || visits_a_day <= 0.0 {
            return Self::new(f64::INFINITY, f64::INFINITY);
        }
        let step = pages.len().div_ceil(SAMPLE);
        let sample: Vec<&Belief> = pages.iter().step_by(step).collect();
        let wanted = visits_a_day * sample.len() as f64 / pages.len() as f64;
        let visits = |worth: f64| -> f64 {
            sample.iter().map(|belief| 1.0 / belief.days_until(worth).unwrap_or(f64::INFINITY).min(longest)).sum()
        };
        let (mut low, mut high) = (-30.0_f64, 30.0_f64);
        while high - low > 1e-3 {
            let middle = f64::midpoint(low, high);
            if visits(middle.exp()) > wanted { low = middle } else { high = middle }
        }
        Self::new(high.exp(), longest)
    }

    fn new(worth: f64, longest: f64) -> Self {
        let best = grid().map(|rate| {
            let belief = Belief::known(rate);
            let days = belief.days_until(worth).unwrap_or(f64::INFINITY);
            (days, belief.freshness(days) - worth / days)
        });
        Self { worth, longest, lasting: 0.0, best }
    }

    /// When to visit a page again.
    pub fn outlook(&self, belief: &Belief) -> Outlook {
        let worthwhile = belief.days_until(self.worth).unwrap_or(f64::INFINITY);
        let probe = self.probe(belief, worthwhile.min(self.longest));
        Outlook { worthwhile, probe, longest: self.longest }
    }

    /// The most informative probe, if it is worth the price, for a page that would otherwise be
    /// visited after this many days.
    fn probe(&self, belief: &Belief, otherwise: f64) -> Option<(f64, f64)> {
        if self.lasting <= 0.0 || belief.rates().len() < 2 {
            return None;
        }
        let looks = belief.rates().iter().filter_map(|(rate, likely)| {
            let (days, gain) = *self.best.get(place(*rate)).filter(|(days, _)| *days < otherwise)?;
            let without = Belief::known(*rate).freshness(otherwise) - self.worth / otherwise;
            Some((days, likely * (gain - without) * self.lasting))
        });
        looks.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, worth)| *worth > self.worth)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulate::Dice;
    use super::super::{History, Priors};
    use super::*;

    fn many(n: usize, spread: f64) -> Vec<Belief> {
        let mut dice = Dice::new(11);
        (0..n).map(|_| Belief::known((spread * (dice.unit() - 0.7)).exp())).collect()
    }

    fn visits(price: &Price, pages: &[Belief]) -> f64 {
        pages.iter().filter_map(|belief| price.outlook(belief).days()).map(|days| 1.0 / days).sum()
    }

    #[test]
    fn the_budget_is_spent_and_no_more() {
        let pages = many(2_000, 8.0);
        for budget in [3.0, 200.0, 9_000.0] {
            let spent = visits(&Price::of(&pages, budget), &pages);
            assert!((spent / budget - 1.0).abs() < 0.01, "{spent} of {budget}");
        }
        assert_eq!(visits(&Price::of(&pages, 0.0), &pages), 0.0);
        assert_eq!(Price::of(&[], 5.0).outlook(&Belief::known(1.0)).days(), None);
        let more = many(70_000, 8.0);
        let spent = visits(&Price::of(&more, 7_000.0), &more);
        assert!((spent / 7_000.0 - 1.0).abs() < 0.03, "{spent} by a sample");
    }

    #[test]
    fn no_other_spending_of_the_budget_is_fresher() {
        // Five rates, so that the allocation can be tested by perturbation: pairs of pages exchange
        // a few visits.
        let pages = [20.0, 1.0, 0.3, 0.03, 0.001].map(Belief::known);
        let price = Price::strict(&pages, 1.0);
        let rates: Vec<f64> =
            pages.iter().map(|page| price.outlook(page).days().map_or(0.0, |days| 1.0 / days)).collect();
        let fresh = |rates: &[f64]| -> f64 {
            let one = |(page, rate): (&Belief, &f64)| if *rate > 0.0 { page.freshness(1.0 / rate) } else { 0.0 };
            pages.iter().zip(rates).map(one).sum()
        };
        let best = fresh(&rates);
        assert_eq!(rates[0], 0.0, "what changes twenty times a day is not worth a visit a day");
        for (from, to) in (0..5).flat_map(|from| (0..5).map(move |to| (from, to))).filter(|(from, to)| from != to) {
            for part in [0.01, 0.1, 0.5] {
                let mut other = rates.clone();
                let moved = other[from] * part;
                other[from] -= moved;
                other[to] += moved;
                assert!(fresh(&other) <= best + 1e-6, "{moved} from {from} to {to}: {} over {best}", fresh(&other));
            }
        }
        assert!(best > fresh(&[0.2; 5]));
    }

    #[test]
    fn no_page_is_forgotten_for_ever() {
        let pages = many(1_000, 6.0);
        let hopeless = Belief::known(500.0);
        assert_eq!(Price::strict(&pages, 100.0).outlook(&hopeless).days(), None);
        assert_eq!(Price::of(&pages, 100.0).outlook(&hopeless).days(), Some(100.0));
    }

    #[test]
    fn a_page_that_may_be_worth_it_is_probed_and_one_that_is_known_is_not() {
        let price = Price::of(&many(1_000, 6.0), 20.0);
        let mut unsure = History::default();
        (0..3).for_each(|_| unsure.push(60.0, true));
        let belief = unsure.belief(&Priors::default(), 1);
        let outlook = price.outlook(&belief);
        let (days, worth) = outlook.probe.unwrap();
        assert!(days < 30.0 && outlook.days() == Some(days), "{outlook:?}");
        assert!(outlook.worth(&belief, days) == worth && outlook.worth(&belief, days * 0.9) < worth);
        // It changed again and again within so short a time: it is one of those that change all the
        // time.
        (0..9).for_each(|_| unsure.push(days / 8.0, true));
        assert_eq!(price.outlook(&unsure.belief(&Priors::default(), 1)).probe, None);
    }
}
