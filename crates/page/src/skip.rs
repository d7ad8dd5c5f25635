//! Why is a discovered page not fetched?
//!
//! The reason is decided by the scope, the reader or the frontier, stored with the page, and asked
//! again when a crawl is resumed under other settings. Its text, here and nowhere else, is what
//! the catalogue stores and what people read in the column `why`.

use crate::kind::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a page is not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// Not in the area of the scope.
    Scope,
    /// Its file extension is denied.
    Extension,
    /// Its path starts with none of the given prefixes.
    Path,
    /// A rule denies it, or no rule allows it.
    Rule,
    /// Too many links away from a seed.
    Depth,
    /// The link, or the page it is on, says `nofollow`.
    Nofollow,
    /// The target of a form: submitting it is not crawling.
    Form,
    /// The redirect chain is too long.
    Redirects,
    /// robots.txt disallows it.
    Robots,
    /// Another address of a page that is known.
    Alias,
    /// It belongs to a part of the URL space that never ends.
    Trap(Trap),
}

impl SkipReason {
    /// Every reason but the traps.
    const PLAIN: [Self; 10] = [
        Self::Scope,
        Self::Extension,
        Self::Path,
        Self::Rule,
        Self::Depth,
        Self::Nofollow,
        Self::Form,
        Self::Redirects,
        Self::Robots,
        Self::Alias,
    ];

    /// The text stored for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Extension => "extension",
            Self::Path => "path",
            Self::Rule => "rule",
            Self::Depth => "depth",
            Self::Nofollow => "nofollow",
            Self::Form => "form",
            Self::Redirects => "redirects",
            Self::Robots => "robots",
            Self::Alias => "alias",
            Self::Trap(trap) => trap.name(),
        }
    }

    /// The reason with this text.
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = Self::PLAIN.into_iter().find(|reason| reason.name() == name);
        plain.or_else(|| Trap::from_name(name).map(Self::Trap))
    }

    /// The trap, if it is one.
    pub const fn trap(self) -> Option<Trap> {
        match self {
            Self::Trap(trap) => Some(trap),
            _ => None,
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

names! {
    /// How a URL space without end was recognised. Variants are in the order of their names, which
    /// is the order in which counts by trap are listed.
    Trap {
        /// A calendar that continues beyond any plausible year.
        Calendar = 0 => "trap-calendar",
        /// Too many links away from any seed.
        Chain = 1 => "trap-chain",
        /// The area yields only duplicates.
        Content = 2 => "trap-content",
        /// Too many path segments.
        Depth = 3 => "trap-depth",
        /// Too many hosts in one domain.
        Hosts = 4 => "trap-hosts",
        /// The URL is too long.
        Length = 5 => "trap-length",
        /// The host repeats the pages of an older one.
        Mirror = 6 => "trap-mirror",
        /// Too many pages on one host.
        Pages = 7 => "trap-pages",
        /// Too many query parameters.
        Parameters = 8 => "trap-parameters",
        /// Too many distinct queries of one path.
        Query = 9 => "trap-query",
        /// The path repeats its segments.
        Repeat = 10 => "trap-repeat",
        /// The area yields only near-duplicates.
        Similar = 11 => "trap-similar",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_the_text_stored_for_it() {
        let traps = Trap::ALL.iter().map(|trap| SkipReason::Trap(*trap));
        for reason in SkipReason::PLAIN.into_iter().chain(traps) {
            assert_eq!(SkipReason::from_name(reason.name()), Some(reason));
        }
        assert_eq!(SkipReason::from_name("trap-2099"), None);
    }

    #[test]
    fn traps_are_ordered_by_name() {
        assert!(Trap::ALL.is_sorted() && Trap::ALL.is_sorted_by_key(|trap| trap.name()));
    }
}
