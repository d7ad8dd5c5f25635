//! How often does a page change, and when is it worth visiting again?
//!
//! Between runs: the visits of a page ([`History`]) and the behaviour of the project's other pages
//! ([`Priors`]) make a [`Belief`] about its rate of change. The belief gives the value of a visit
//! now, and the budget gives the value a visit must have ([`Price`]). [`simulate`] shows the gain.
//! Nothing here reads a clock or a store: times are in days, rates in changes per day.
//!
//! Changes are modelled as a Poisson process, which fitted most pages wherever it was tested (Cho
//! and Garcia-Molina, "The Evolution of the Web and Implications for an Incremental Crawler", VLDB
//! 2000).

mod belief;
mod best;
mod history;
mod price;
mod prior;
mod rates;
pub mod simulate;

pub use belief::Belief;
pub use best::Best;
pub use history::History;
pub use price::{Outlook, Price};
pub use prior::Priors;

/// Milliseconds in a day.
const DAY_MS: f64 = 86_400_000.0;

/// The time between two moments in days; 0 if the second is earlier.
pub fn days_between(earlier: orb_page::Moment, later: orb_page::Moment) -> f64 {
    later.since(earlier).as_secs_f64() / 86_400.0
}

/// A moment plus this many days, saturating at the largest moment.
pub fn days_after(moment: orb_page::Moment, days: f64) -> orb_page::Moment {
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    let ms = (days * DAY_MS).clamp(0.0, 4e15) as i64;
    orb_page::Moment(moment.0.saturating_add(ms))
}
