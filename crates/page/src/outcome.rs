//! How did a fetch end?

use crate::{Moment, Response};
use std::time::Duration;

/// The result of a fetch: a response of any status, or a failure as a fact.
#[derive(Debug)]
pub struct Outcome {
    /// When the request was sent, or abandoned.
    pub at: Moment,
    /// Where the time went.
    pub timings: Timings,
    /// The response, or why there is none.
    pub result: Result<Response, Failure>,
}

/// Where the time of one fetch went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// DNS look-up.
    pub dns: Duration,
    /// TCP connect; zero if a connection was reused.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From sending the request to receiving the response head.
    pub wait: Duration,
    /// From the head to the end of the body.
    pub body: Duration,
}

/// Why there is no response.
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

/// The ways in which a fetch fails without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The name does not resolve.
    Dns,
    /// No connection: refused, unreachable, or reset while connecting.
    Connect,
    /// A bad certificate or a failed handshake.
    Tls,
    /// The server's SSH key is not the one it had, or not one that is trusted.
    HostKey,
    /// Timed out.
    Timeout,
    /// The connection broke before the response head was complete.
    Protocol,
    /// The response is not HTTP. This says nothing about the host's health, and retrying would not
    /// help.
    Malformed,
    /// The address guard forbids the address.
    Guard,
    /// The URL's scheme is not one we fetch, or the URL cannot be requested.
    Unsupported,
    /// A failure of ours: out of file descriptors, disk full while spooling.
    Local,
}

impl FailureKind {
    /// Whether a retry later may help.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::Dns | Self::Connect | Self::Timeout | Self::Protocol | Self::Local)
    }
}
