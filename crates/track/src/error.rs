//! Which failures of our own can tracking have?

/// A failure of tracking itself; what pages do wrong is recorded instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackError {
    /// A comparison rule is invalid.
    #[error("{key}: {what}")]
    Rule {
        /// The offending key.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// A schedule is invalid.
    #[error("'{given}' is not {what}")]
    Schedule {
        /// The value as written.
        given: String,
        /// What is wrong, and the correct form.
        what: String,
    },
}
