//! What of our own can go wrong in tracking?

/// A failure of tracking itself; what pages do wrong is recorded instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackError {
    /// A rule of comparison makes no sense.
    #[error("{key}: {what}")]
    Rule {
        /// The key of the rule that is wrong.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// A schedule says what no schedule can mean.
    #[error("'{given}' is not {what}")]
    Schedule {
        /// What was written.
        given: String,
        /// What it is not, with the right form.
        what: String,
    },
}
