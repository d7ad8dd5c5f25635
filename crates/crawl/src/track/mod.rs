//! What does tracking need to know, and how does it read a page?

pub(crate) mod forecast;
pub(crate) mod looks;
mod rehearsal;
pub(crate) mod revisit;

pub use forecast::RevisitSelection;
pub use orb_track::rate::simulate::Policy;
pub use rehearsal::{PolicyTrial, Rehearsed, VisitRehearsal, rehearse};
