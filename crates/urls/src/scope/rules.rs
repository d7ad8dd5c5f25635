//! What do the scope rules say?
//!
//! Rules are regular expressions over the full canonical URL, in order. Each is compiled
//! separately, because the regex engine's literal prefilter then rejects most URLs at the speed of
//! a substring search. Only long lists are combined into one automaton.

use super::{Action, ScopeError, ScopeRule};
use crate::Address;
use regex::{Regex, RegexSet};

/// An ordered list of rules and what applies when none matches.
#[derive(Debug)]
pub(super) struct RuleList {
    actions: Vec<Action>,
    patterns: Patterns,
    default: Action,
}

#[derive(Debug)]
enum Patterns {
    Each(Vec<Regex>),
    Together(RegexSet),
}

/// Above this many rules, one automaton for all beats testing them in turn.
const MANY: usize = 8;

impl RuleList {
    pub(super) fn new(rules: &[ScopeRule], default: Option<Action>) -> Result<Self, ScopeError> {
        let compile = |rule: &ScopeRule| {
            Regex::new(rule.regex())
                .map_err(|error| ScopeError::Rule { regex: rule.regex().to_owned(), detail: in_one_line(&error) })
        };
        let each: Vec<Regex> = rules.iter().map(compile).collect::<Result<_, _>>()?;
        let together = if each.len() > MANY { RegexSet::new(rules.iter().map(ScopeRule::regex)).ok() } else { None };
        let only_allows = !rules.is_empty() && rules.iter().all(|rule| rule.action() == Action::Allow);
        Ok(Self {
            actions: rules.iter().map(ScopeRule::action).collect(),
            patterns: together.map_or(Patterns::Each(each), Patterns::Together),
            default: default.unwrap_or(if only_allows { Action::Deny } else { Action::Allow }),
        })
    }

    /// Whether the rules allow a URL.
    pub(super) fn allow(&self, target: &Address) -> bool {
        self.first(target).unwrap_or(self.default) == Action::Allow
    }

    /// Whether a rule, and not the default, denies a URL.
    pub(super) fn deny(&self, target: &Address) -> bool {
        self.first(target) == Some(Action::Deny)
    }

    fn first(&self, target: &Address) -> Option<Action> {
        self.first_match(target).map(|i| self.actions[i])
    }

    /// The index of the rule that decides about a URL; `None` if none matches.
    pub(super) fn first_match(&self, target: &Address) -> Option<usize> {
        let url = target.as_str();
        match &self.patterns {
            Patterns::Each(each) => each.iter().position(|regex| regex.is_match(url)),
            Patterns::Together(set) => set.matches(url).iter().next(),
        }
    }
}

/// The message of a regex error without its multi-line excerpt.
fn in_one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}
