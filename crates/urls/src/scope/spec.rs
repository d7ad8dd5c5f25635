//! How does a person say where a crawl may go?

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The scope as the project file and the flags say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeSpec {
    /// The area around the seeds.
    pub mode: Mode,
    /// Top-level domains, or any suffix of host names, that are in the area too: `it`, `gov.si`.
    pub tlds: Vec<String>,
    /// SURT prefixes that are in the area too, in any of the forms of [`crate::surt::prefix`].
    pub surts: Vec<String>,
    /// Domains that are in the area too, each with every host below it.
    pub domains: Vec<String>,
    /// A file of such domains, one a line.
    pub domains_file: Option<PathBuf>,
    /// Rules within the area, in order; the first that matches decides.
    pub rules: Vec<Rule>,
    /// What becomes of a URL that no rule matches; where it is not said, `deny` if all rules allow, otherwise `allow`.
    pub default: Option<Action>,
    /// Endings of file names never to be fetched: `pdf`, `tar.gz`.
    pub extensions_deny: Vec<String>,
    /// Where there are any, a path must begin with one of them.
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
    /// What lies at or below the seeds' directories.
    Prefix,
    /// The seeds' hosts and the pages they link to.
    #[serde(alias = "neighbors")]
    Neighbours,
    /// Everywhere.
    Any,
}

impl Mode {
    /// Every mode, the narrow ones first.
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

/// A rule: a regular expression, searched in the whole canonical URL, and what becomes of the URLs it matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Those may be fetched.
    Allow(String),
    /// Those may not.
    Deny(String),
}

impl Rule {
    /// The regular expression.
    pub fn regex(&self) -> &str {
        match self {
            Self::Allow(regex) | Self::Deny(regex) => regex,
        }
    }

    /// What it does with what it matches.
    pub const fn action(&self) -> Action {
        match self {
            Self::Allow(_) => Action::Allow,
            Self::Deny(_) => Action::Deny,
        }
    }
}

/// What becomes of a URL by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It may be fetched.
    Allow,
    /// It may not.
    Deny,
}
