//! How did a fetch end?

use crate::{Moment, Response};
use std::time::Duration;

/// What a fetch gave: an answer of any status, or a failure as a fact.
#[derive(Debug)]
pub struct Outcome {
    /// When the request was sent, or given up.
    pub at: Moment,
    /// Where the time went.
    pub timings: Timings,
    /// The answer, or why there is none.
    pub result: Result<Response, Failure>,
}

/// Where the time of one fetch went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Looking the name up.
    pub dns: Duration,
    /// Opening the connection; nothing where one was reused.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From the request sent to the head received.
    pub wait: Duration,
    /// From the head to the end of the body.
    pub body: Duration,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// One line for people.
    pub detail: String,
}

impl Failure {
    /// A failure with its line for people.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

/// The ways a fetch fails without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The name does not resolve.
    Dns,
    /// No connection: refused, unreachable, reset while opening.
    Connect,
    /// The certificate or the handshake is bad.
    Tls,
    /// Nothing came in time.
    Timeout,
    /// The connection broke before a whole head.
    Protocol,
    /// What came is no HTTP. It says nothing of the host's health, and asking again would not help.
    Malformed,
    /// The address guard forbids the address.
    Guard,
    /// The URL's scheme is not one we fetch, or the URL cannot be requested.
    Unsupported,
    /// Something of ours failed: out of file descriptors, disk full while spooling.
    Local,
}

impl FailureKind {
    /// Whether trying again later may help.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::Dns | Self::Connect | Self::Timeout | Self::Protocol | Self::Local)
    }
}
