//! What does tracking need to know, and how does it look at a page?

mod compare;
pub(crate) mod looks;
pub(crate) mod revisit;
mod settings;
mod views;

pub use compare::CompareSettings;
pub use settings::TrackSettings;
pub use views::PageViews;
