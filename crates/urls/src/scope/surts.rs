//! Does this URL fall under one of these SURT prefixes?

use super::ScopeError;
use super::prefixes::PrefixSet;
use crate::{Address, surt};

/// SURT prefixes in comparable form.
#[derive(Debug)]
pub(super) struct Surts(PrefixSet);

impl Surts {
    pub(super) fn new(lines: &[String]) -> Result<Self, ScopeError> {
        let prefix = |line: &String| surt::prefix(line).ok_or_else(|| ScopeError::Surt { surt: line.clone() });
        Ok(Self(PrefixSet::new(lines.iter().map(prefix).collect::<Result<_, _>>()?)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, target: &Address) -> bool {
        !self.0.is_empty() && self.0.contains(&surt::comparable(target))
    }
}
