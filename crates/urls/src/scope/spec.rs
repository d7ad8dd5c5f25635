//! How does a user say where a crawl may go?

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The scope as written in the project file and flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeSpec {
    /// The area around the seeds.
    pub mode: Mode,
    /// Top-level domains, or any host name suffixes, added to the area: `it`, `gov.si`.
    pub tlds: Vec<String>,
    /// SURT prefixes added to the area, in any of the forms of [`crate::surt::prefix`].
    pub surts: Vec<String>,
    /// Domains added to the area, each with all its subdomains.
    pub domains: Vec<String>,
    /// A file of such domains, one per line.
    pub domains_file: Option<PathBuf>,
    /// Rules within the area, in order; the first match decides.
    pub rules: Vec<ScopeRule>,
    /// What happens to a URL that no rule matches. If unset: `deny` if all rules allow, otherwise
    /// `allow`.
    pub default: Option<Action>,
    /// File extensions that are never fetched: `pdf`, `tar.gz`.
    pub extensions_deny: Vec<String>,
    /// If any are given, a path must start with one of them.
    pub paths: Vec<String>,
}

/// The area around the seeds that a crawl keeps to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The seeds' hosts.
    #[default]
    Host,
    /// The seeds' registrable domains.
    Domain,
    /// Everything at or below the seeds' directories.
    Prefix,
    /// The seeds' hosts and the pages they link to.
    #[serde(alias = "neighbors")]
    Neighbours,
    /// Everywhere.
    Any,
}

impl Mode {
    /// Every mode, narrowest first.
    pub const ALL: &'static [Self] = &[Self::Prefix, Self::Host, Self::Domain, Self::Neighbours, Self::Any];

    /// Its name in project files and flags.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Domain => "domain",
            Self::Prefix => "prefix",
            Self::Neighbours => "neighbours",
            Self::Any => "any",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = super::ScopeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = if text == "neighbors" { "neighbours" } else { text };
        Self::ALL
            .iter()
            .copied()
            .find(|mode| mode.name() == spelling)
            .ok_or_else(|| super::ScopeError::Mode { mode: text.to_owned() })
    }
}

/// A rule: a regular expression searched in the full canonical URL, and what happens to matching
/// URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeRule {
    /// They may be fetched.
    Allow(String),
    /// They may not be fetched.
    Deny(String),
}

impl ScopeRule {
    /// The regular expression.
    pub fn regex(&self) -> &str {
        match self {
            Self::Allow(regex) | Self::Deny(regex) => regex,
        }
    }

    /// What happens to a match.
    pub const fn action(&self) -> Action {
        match self {
            Self::Allow(_) => Action::Allow,
            Self::Deny(_) => Action::Deny,
        }
    }
}

/// What the rules decide about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It may be fetched.
    Allow,
    /// It may not be fetched.
    Deny,
}
