//! Why is this not an address to crawl?
//!
//! A refusal describes what the web wrote. It is not a failure of ours, and it is recorded with the
//! page that contains the link.

use crate::MAX_LENGTH;
use std::borrow::Cow;

/// Why a piece of text did not become an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It names something that no server delivers: mail, a script, inline data, a telephone number.
    #[error("`{scheme}:` is not an address of the web")]
    NotWeb {
        /// The scheme in lower case.
        scheme: Cow<'static, str>,
    },
    /// It names a known protocol that is not crawled.
    #[error("`{scheme}:` is a protocol that is not crawled")]
    Unsupported {
        /// The scheme in lower case.
        scheme: Cow<'static, str>,
    },
    /// It is not a URL.
    #[error("not a valid URL: {detail}")]
    Invalid {
        /// What is wrong with it.
        detail: &'static str,
    },
    /// It exceeds the maximum length of an address.
    #[error("longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// It names no host.
    #[error("there is no host in it")]
    NoHost,
}

impl Refused {
    /// A short stable name for counting and storing.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotWeb { .. } => "not-web",
            Self::Unsupported { .. } => "unsupported",
            Self::Invalid { .. } => "invalid",
            Self::TooLong => "too-long",
            Self::NoHost => "no-host",
        }
    }
}

impl From<url::ParseError> for Refused {
    fn from(error: url::ParseError) -> Self {
        use url::ParseError as E;
        let detail = match error {
            E::EmptyHost => return Self::NoHost,
            E::IdnaError => "the host name is not a valid international name",
            E::InvalidPort => "the port is not a number up to 65535",
            E::InvalidIpv4Address => "the host is not a valid IPv4 address",
            E::InvalidIpv6Address => "the host is not a valid IPv6 address",
            E::InvalidDomainCharacter => "the host name holds a character that no host name has",
            E::RelativeUrlWithoutBase => "it has no scheme",
            E::Overflow => return Self::TooLong,
            _ => "it cannot be read",
        };
        Self::Invalid { detail }
    }
}
