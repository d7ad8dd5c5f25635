//! Who is told what changed, and how?

mod settings;

pub use settings::{FlagName, OutputSettings, WebhookSettings};
