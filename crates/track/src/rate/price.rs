//! What must a visit be worth, for the budget to last?
//!
//! A page is due when a visit of it is worth the price ([`Belief::worth`]); the price is the one at which all pages together are due as often as the
//! budget allows (the multiplier of Lagrange's method). The visits at a price fall as it rises, so that it is found by halving. A sample of pages stands
//! for all where there are many: 20,000 give the budget to about two in a hundred, and whoever wants so many visits and no more takes the best of
//! what is due ([`super::Best`]).
//!
//! Two rules keep that from going astray. **Probes**: rare visits that all saw a change do not tell a page that changes every other week, and is well worth
//! looking after, from one that changes every minute; only a look soon after the last one does. Such a look is worth what knowing would gain:
//! the weight of a rate, times what the page's own best interval for it gains a day over the one it would get, times the days for which that lasts
//! (the value of information: Howard 1966). **No page is forgotten**: one that changes all the time would never be due, the best for the whole and odd
//! to whoever looks for it; so every page is due after ten times the interval at which all could be visited alike.

use super::Belief;
use super::rates::{RATES, grid, place};

/// Pages that are looked at for the price.
const SAMPLE: usize = 20_000;

/// After so many times the interval of equal visits every page is due.
const OVERDUE: f64 = 10.0;

/// For how many intervals of equal visits what a probe told is of use.
const LASTING: f64 = 10.0;

/// A page is far from being due before this part of its interval.
const EARLY: f64 = 0.3;

/// What a visit must be worth, in days of being up to date.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    worth: f64,
    /// Every page is due after so many days.
    longest: f64,
    /// For how many days what a probe told is of use.
    lasting: f64,
    /// For each rate, the interval at which a visit is worth the price, and what visits at that interval gain a day.
    best: [(f64, f64); RATES],
}

/// When a page is to be looked at again, at some price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// How many days after its last visit a visit is worth the price; infinite where that never comes.
    worthwhile: f64,
    /// After how many days a look would tell how often it changes, and what that is worth.
    probe: Option<(f64, f64)>,
    /// After how many days it is due whatever it is worth.
    longest: f64,
}

impl Outlook {
    /// How many days after its last visit it is due; `None` where it never is.
    pub fn days(&self) -> Option<f64> {
        let probe = self.probe.map_or(f64::INFINITY, |(days, _)| days);
        Some(self.worthwhile.min(probe).min(self.longest)).filter(|days| days.is_finite())
    }

    /// What a visit is worth so many days after the last one, to compare pages by.
    pub fn worth(&self, belief: &Belief, days: f64) -> f64 {
        if days >= self.longest {
            return f64::INFINITY;
        }
        // Long before its day a page is not worth the price, and less so than any that is near it: how little need not be worked out.
        let due = self.days().unwrap_or(f64::INFINITY);
        if days < EARLY * due {
            return 1e-12 * days / due;
        }
        let probe = self.probe.filter(|(from, _)| days >= *from).map_or(0.0, |(_, worth)| worth);
        belief.worth(days).max(probe)
    }
}

impl Price {
    /// The price at which these pages are visited so often a day. Nothing is visited for a budget of 0.
    pub fn of(pages: &[Belief], visits_a_day: f64) -> Self {
        let even = pages.len() as f64 / visits_a_day;
        Self { lasting: LASTING * even, ..Self::within(pages, visits_a_day, OVERDUE * even) }
    }

    /// The same where pages that are not worth it are never visited: the most freshness.
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

    /// When a page is to be looked at again.
    pub fn outlook(&self, belief: &Belief) -> Outlook {
        let worthwhile = belief.days_until(self.worth).unwrap_or(f64::INFINITY);
        let probe = self.probe(belief, worthwhile.min(self.longest));
        Outlook { worthwhile, probe, longest: self.longest }
    }

    /// The look that tells most, where it is worth the price, for a page that would be looked at after so many days.
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
        // Five rates, so that spending can be tried out in steps: pairs of pages exchange a little of their visits.
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
        // Looked at so soon, it had changed again and again: it is one of those that change all the time.
        (0..9).for_each(|_| unsure.push(days / 8.0, true));
        assert_eq!(price.outlook(&unsure.belief(&Priors::default(), 1)).probe, None);
    }
}
