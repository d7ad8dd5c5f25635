//! How often does a page change, and when is it worth looking at again?
//!
//! After a run, and before the next: what the visits of a page told ([`History`]) and what the project's other pages are like ([`Priors`]) make
//! a [`Belief`] about how often it changes; the belief says what a visit would be worth now, and the budget what a visit must be worth
//! ([`Price`]). [`simulate`] shows what that gains. Nothing here looks at a clock or a store: times are days, rates are changes a day.
//!
//! Changes are taken for a Poisson process, which held for most pages wherever it was tested (Cho and Garcia-Molina, "The Evolution of the Web and
//! Implications for an Incremental Crawler", VLDB 2000).

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

/// The time between two moments in days; nothing where the second is the earlier one.
pub fn days_between(earlier: orb_page::Moment, later: orb_page::Moment) -> f64 {
    later.since(earlier).as_secs_f64() / 86_400.0
}

/// A moment and so many days more; the end of all times where that is beyond it.
pub fn days_after(moment: orb_page::Moment, days: f64) -> orb_page::Moment {
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    let ms = (days * DAY_MS).clamp(0.0, 4e15) as i64;
    orb_page::Moment(moment.0.saturating_add(ms))
}
