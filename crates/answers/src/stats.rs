//! What does the collection contain, in numbers?

use crate::{Collection, Result};
use orb_store::{CatalogueReader, Stats};
use orb_urls::alias::{HostAliases, LearntRule, RuleState};
use schemars::JsonSchema;
use serde::Serialize;

/// The statistics of a crawl: one column for the seeds' own hosts, one for everything; and what was
/// learnt about the addresses of its hosts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CrawlStats {
    /// The numbers.
    #[serde(flatten)]
    pub counts: Stats,
    /// The hosts with aliases, in the order in which they were met.
    pub aliases: Vec<HostRules>,
}

/// What was learnt about the addresses of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostRules {
    /// Scheme, name and port.
    pub host: String,
    /// The rules that are believed, and those that were until they were contradicted.
    pub rules: Vec<ShownRule>,
}

/// How addresses of a host may differ that lead to one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownRule {
    /// In words.
    pub rule: String,
    /// `believed` or `withdrawn`.
    pub state: &'static str,
    /// Addresses it withholds; one that several rules make an alias counts for each.
    pub withheld: u64,
    /// Addresses that were fetched to test it.
    pub tested: u64,
}

/// What the collection contains.
///
/// Counting takes a scan of the whole catalogue, so an open collection remembers the numbers until
/// the next commit.
pub fn stats(collection: &Collection) -> Result<CrawlStats> {
    collection.catalogue().at_one_moment(|reader| {
        let extent = reader.extent()?;
        let remembered = collection.counted().borrow().as_ref().filter(|(of, _)| *of == extent).map(|(_, s)| s.clone());
        if let Some(stats) = remembered {
            return Ok(stats);
        }
        let stats = CrawlStats { counts: reader.stats()?, aliases: learnt(reader)? };
        *collection.counted().borrow_mut() = Some((extent, stats.clone()));
        Ok(stats)
    })
}

/// What was learnt about the addresses of its hosts.
fn learnt(reader: &CatalogueReader) -> Result<Vec<HostRules>> {
    let mut aliases = Vec::new();
    for (id, host, stored) in reader.alias_rules()? {
        // What another version wrote and this one cannot read is learnt again.
        let known: HostAliases = serde_json::from_str(&stored).unwrap_or_default();
        if known.rules().iter().any(LearntRule::was_believed) {
            let withheld = reader.withheld_by(id)?;
            let by = |at: usize| withheld.iter().filter(|(rules, _)| rules >> at & 1 == 1).map(|(_, n)| n).sum();
            let rules = known.rules().iter().enumerate().filter_map(|(at, rule)| shown(rule, by(at)));
            aliases.push(HostRules { host, rules: rules.collect() });
        }
    }
    Ok(aliases)
}

/// A rule, if it was ever applied.
fn shown(rule: &LearntRule, withheld: u64) -> Option<ShownRule> {
    let state = match rule.state {
        RuleState::Believed => "believed",
        RuleState::Withdrawn if rule.was_believed() => "withdrawn",
        _ => return None,
    };
    Some(ShownRule { rule: rule.rule.to_string(), state, withheld, tested: rule.tested })
}
