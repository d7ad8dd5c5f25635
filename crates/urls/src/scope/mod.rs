//! May we go there?
//!
//! Every link of every page is judged here before the frontier sees it. A URL is in scope when
//!
//! 1. it lies in the **area**: what the [`Mode`] draws around the seeds, extended by `tlds`,
//!    `domains` and `surts`. The mode `any` cannot be extended, so with it those lists are the
//!    area. Hosts, domains, directories and the lists of names stand for the web and for the other
//!    schemes of the seeds, each apart; a SURT names its scheme itself. Files of this machine are
//!    in the area only below the directory of a seed, and only if a file or nobody links there; and
//! 2. it passes the **filters**: no denied extension, and one of the `paths` if any are given; and
//! 3. it passes the **rules**: the first match decides, and `default` applies if none matches. A
//!    list of only `allow` rules denies the rest, any other list allows it, unless `default` says
//!    otherwise.
//!
//! So a rule never extends the area: `--scope host --allow /docs/` stays on the host, and `--scope
//! any --allow …` defines an area by rules alone. A seed is in scope wherever it lies, unless a
//! `deny` rule matches it.
//!
//! Each kind of area, filter and list has its own file, is built once from the configuration, and
//! answers `contains` without allocating (except `surts`, which must reverse the host).

mod domains;
mod extensions;
mod hosts;
mod prefixes;
mod rules;
mod services;
mod sites;
mod spec;
mod surts;

pub use domains::DomainSet;
pub use spec::{Action, Mode, ScopeRule, ScopeSpec};

use crate::Address;
use crate::address::is_local;
use std::collections::HashSet;
use std::path::PathBuf;

/// Why a URL is out of scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfScope {
    /// Not in the area.
    Area,
    /// Its file extension is denied.
    Extension,
    /// Its path starts with none of the given prefixes.
    Path,
    /// A rule denies it, or no rule allows it.
    Rule,
}

/// Whether a URL is in scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It may be fetched.
    In,
    /// It may not, for this reason.
    Out(OutOfScope),
}

impl Judgement {
    /// Whether it may be fetched.
    pub const fn is_in(self) -> bool {
        matches!(self, Self::In)
    }
}

/// What the rules of a scope say about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeRuling {
    /// Whether they allow it.
    pub is_allowed: bool,
    /// The index of the first rule that matches; `None` if the default decides.
    pub rule: Option<usize>,
}

/// An invalid scope configuration.
#[derive(Debug, thiserror::Error)]
pub enum ScopeError {
    /// A rule is not a valid regular expression.
    #[error("the rule `{regex}` is not a regular expression: {detail}")]
    Rule {
        /// The regular expression as written.
        regex: String,
        /// What is wrong with it, in one line.
        detail: String,
    },
    /// There is no such mode.
    #[error("there is no scope `{mode}`: it is one of prefix, host, domain, neighbours and any")]
    Mode {
        /// The mode as written.
        mode: String,
    },
    /// An entry in a list of domains or top-level domains is not a host name.
    #[error("`{name}` is not a domain name")]
    Domain {
        /// The name as written.
        name: String,
    },
    /// A line in the domains file is not a host name.
    #[error("line {line} of {}: `{name}` is not a domain name", path.display())]
    DomainsLine {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The name as written.
        name: String,
    },
    /// The domains file cannot be read.
    #[error("cannot read the domains in {}", path.display())]
    DomainsFile {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A SURT prefix is not valid.
    #[error("`{surt}` is neither a SURT prefix nor a URL")]
    Surt {
        /// The line as written.
        surt: String,
    },
}

/// Where a crawl may go: a [`ScopeSpec`] and its seeds, compiled for judging.
#[derive(Debug)]
pub struct Scope {
    mode: Mode,
    seeds: HashSet<Address>,
    services: services::Services,
    domains: DomainSet,
    surts: surts::Surts,
    extensions: extensions::Extensions,
    paths: prefixes::PrefixSet,
    rules: rules::RuleList,
}

impl Scope {
    /// Compiles a scope, reading the domains file if there is one.
    pub fn new(spec: &ScopeSpec, seeds: &[Address]) -> Result<Self, ScopeError> {
        let mut domains = match &spec.domains_file {
            Some(path) => DomainSet::read_file(path)?,
            None => DomainSet::default(),
        };
        for name in spec.tlds.iter().chain(&spec.domains) {
            domains.insert(name).map_err(|name| ScopeError::Domain { name })?;
        }
        let paths = spec.paths.iter().map(|p| if p.starts_with('/') { p.clone() } else { format!("/{p}") });
        Ok(Self {
            mode: spec.mode,
            seeds: seeds.iter().cloned().collect(),
            services: services::Services::new(seeds),
            domains,
            surts: surts::Surts::new(&spec.surts)?,
            extensions: extensions::Extensions::new(&spec.extensions_deny),
            paths: prefixes::PrefixSet::new(paths.collect()),
            rules: rules::RuleList::new(&spec.rules, spec.default)?,
        })
    }

    /// Judges `target` as a link on `from`; a seed has no `from`.
    pub fn judge(&self, target: &Address, from: Option<&Address>) -> Judgement {
        let reason = if !self.reaches(target, from) {
            OutOfScope::Area
        } else if self.extensions.contains(target) {
            OutOfScope::Extension
        } else if !self.paths.is_empty() && !self.paths.contains(target.path()) {
            OutOfScope::Path
        } else if !self.rules.allow(target) {
            OutOfScope::Rule
        } else {
            return Judgement::In;
        };
        if self.seeds.contains(target) {
            return if self.rules.deny(target) { Judgement::Out(OutOfScope::Rule) } else { Judgement::In };
        }
        Judgement::Out(reason)
    }

    /// What the rules say about a URL, wherever it lies. A seed is denied by a rule alone, never by
    /// the default.
    pub fn ruling(&self, target: &Address) -> ScopeRuling {
        let is_seed = self.seeds.contains(target);
        let is_allowed = if is_seed { !self.rules.deny(target) } else { self.rules.allow(target) };
        ScopeRuling { is_allowed, rule: self.rules.first_match(target) }
    }

    /// Replaces the rules; area, filters and seeds stay.
    pub fn set_rules(&mut self, rules: &[ScopeRule], default: Option<Action>) -> Result<(), ScopeError> {
        self.rules = rules::RuleList::new(rules, default)?;
        Ok(())
    }

    /// Whether an address is on the host of a seed.
    pub fn is_seed_host(&self, address: &Address) -> bool {
        self.services.of(address).is_some_and(|area| area.hosts.contains(address))
    }

    /// Whether an address is a seed.
    pub fn is_seed(&self, address: &Address) -> bool {
        self.seeds.contains(address)
    }

    /// Adds an address to the seeds, such as the target of a seed's redirect.
    pub fn add_seed(&mut self, seed: &Address) {
        self.add_area(seed);
        self.seeds.insert(seed.clone());
    }

    /// Extends the area as if this were a seed. Unlike a seed, it is still subject to filters and
    /// rules.
    pub fn add_area(&mut self, around: &Address) {
        self.services.insert(around);
    }

    fn reaches(&self, target: &Address, from: Option<&Address>) -> bool {
        let area = self.services.of(target);
        if is_local(target.scheme()) {
            // What others write must not make us read files of this machine, nor may anything
            // lead above the directories of the seeds.
            let from_outside = from.is_some_and(|from| !is_local(from.scheme()));
            return !from_outside && area.is_some_and(|area| area.directories.contains(target));
        }
        let listed = || (area.is_some() && self.domains.contains(target.host())) || self.surts.contains(target);
        match self.mode {
            Mode::Host => self.is_seed_host(target) || listed(),
            Mode::Domain => area.is_some_and(|area| area.sites.contains(target)) || listed(),
            Mode::Prefix => area.is_some_and(|area| area.directories.contains(target)) || listed(),
            Mode::Neighbours => {
                self.is_seed_host(target) || from.is_some_and(|from| self.is_seed_host(from)) || listed()
            }
            Mode::Any => (self.domains.is_empty() && self.surts.is_empty()) || listed(),
        }
    }
}

#[cfg(test)]
mod tests;
