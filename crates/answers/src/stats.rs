//! What does the collection contain, in numbers?

use crate::kept::{FiguresMark, KeptFigures, keep, recall};
use crate::marks::keep_marks;
use crate::{Collection, Result};
use orb_page::Moment;
use orb_store::{CatalogueReader, Column, Stats};
use orb_urls::alias::{HostAliases, LearntRule, RuleState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The statistics of a crawl: one column for the seeds' own hosts, one for everything; and what was
/// learnt about the addresses of its hosts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CrawlStats {
    /// The numbers.
    #[serde(flatten)]
    pub counts: Stats,
    /// The hosts with aliases, in the order in which they were met.
    pub aliases: Vec<HostRules>,
}

/// What was learnt about the addresses of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostRules {
    /// Scheme, name and port.
    pub host: String,
    /// The rules that are believed, and those that were until they were contradicted.
    pub rules: Vec<ShownRule>,
}

/// How addresses of a host may differ that lead to one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownRule {
    /// In words.
    pub rule: String,
    /// `believed` or `withdrawn`.
    pub state: String,
    /// Addresses it withholds; one that several rules make an alias counts for each.
    pub withheld: u64,
    /// Addresses that were fetched to test it.
    pub tested: u64,
}

/// Under which name they are kept.
const KEPT: &str = "stats";

/// What is kept: the numbers, and the means among them bit by bit, since reading them as decimals
/// may change the last bit.
#[derive(Serialize, Deserialize)]
struct KeptStats {
    stats: CrawlStats,
    means: [[u64; 3]; 2],
}

impl KeptStats {
    fn of(stats: &CrawlStats) -> Self {
        let means =
            |column: &Column| [column.images_per_page, column.out_degree.mean, column.in_degree.mean].map(f64::to_bits);
        let means = [means(&stats.counts.seeds), means(&stats.counts.whole)];
        Self { stats: stats.clone(), means }
    }

    fn stats(self) -> CrawlStats {
        let mut stats = self.stats;
        for (column, means) in [&mut stats.counts.seeds, &mut stats.counts.whole].into_iter().zip(self.means) {
            let [images_per_page, out_degree, in_degree] = means.map(f64::from_bits);
            column.images_per_page = images_per_page;
            (column.out_degree.mean, column.in_degree.mean) = (out_degree, in_degree);
        }
        stats
    }
}

/// What the collection contains.
///
/// Counting takes a scan of the whole catalogue, so the numbers are kept beside it until the next
/// commit.
pub fn stats(collection: &Collection) -> Result<CrawlStats> {
    collection.catalogue().at_one_moment(|reader| {
        let mark = FiguresMark::now(collection)?;
        if let Some(kept) = recall::<KeptStats>(collection.project(), KEPT).filter(|kept| kept.is_of(&mark)) {
            return Ok(kept.figures.stats());
        }
        let (counts, marks) = reader.stats()?;
        let stats = CrawlStats { counts, aliases: learnt(reader)? };
        keep_marks(collection, &mark, &marks);
        keep(collection.project(), KEPT, &KeptFigures::new(mark, KeptStats::of(&stats)));
        Ok(stats)
    })
}

/// The same as it was last counted, and when that was; `None` if it never was. Nothing is counted,
/// so this is quick.
pub fn counted_stats(collection: &Collection) -> Result<Option<(CrawlStats, CountAge)>> {
    let Some(kept) = recall::<KeptStats>(collection.project(), KEPT) else { return Ok(None) };
    let age = CountAge { at: kept.at, is_current: kept.is_of(&FiguresMark::now(collection)?) };
    Ok(Some((kept.figures.stats(), age)))
}

/// How old figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountAge {
    /// When they were counted.
    pub at: Moment,
    /// Whether they are those of the catalogue as it is now.
    pub is_current: bool,
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
    Some(ShownRule { rule: rule.rule.to_string(), state: state.to_owned(), withheld, tested: rule.tested })
}
