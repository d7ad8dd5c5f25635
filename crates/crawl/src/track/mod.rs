//! What does tracking need to know, and how does it look at a page?

mod compare;
mod settings;
mod views;

pub use compare::CompareSettings;
pub use settings::TrackSettings;
pub use views::PageViews;
