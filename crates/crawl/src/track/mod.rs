//! What does tracking need to know, and how does it look at a page?

mod compare;
pub(crate) mod forecast;
pub(crate) mod looks;
mod rehearsal;
pub(crate) mod revisit;
mod settings;
mod views;

pub use compare::CompareSettings;
pub use forecast::Choice;
pub use rehearsal::{mixed, recorded};
pub use settings::TrackSettings;
pub use views::PageViews;
