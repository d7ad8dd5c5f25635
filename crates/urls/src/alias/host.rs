//! What is known about the aliases of one host, and how well?
//!
//! A rule is supposed when a pair suggests it, believed after [`ENOUGH`] confirmations by pages
//! with different content (equal error pages confirm nothing but themselves), and withdrawn for
//! good by its first contradiction.

use super::rule::UrlParts;
use super::{AliasRule, explain, stable_hash};
use serde::{Deserialize, Serialize};

/// Contents that must confirm a rule.
const ENOUGH: usize = 4;

/// Values of a parameter that must be confirmed before any value is ignored.
const ANY_VALUE: usize = 4;

/// Maximum rules of a host, which is also the number of bits that name them.
const MOST_RULES: usize = 48;

/// Areas of a host in which the first address that a rule covers is always tested.
const MOST_AREAS: usize = 24;

/// Rounds in which a normal form must be reached.
const ROUNDS: usize = 8;

/// Tests that a host gets whatever its size, and one more for each so many of its pages.
const LEAST_TESTS: u64 = 128;
const PAGES_PER_TEST: u64 = 40;

/// How far a rule is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleState {
    /// Suggested by a pair.
    #[default]
    Supposed,
    /// Confirmed and applied.
    Believed,
    /// Contradicted.
    Withdrawn,
}

/// A rule with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntRule {
    /// The rule.
    pub rule: AliasRule,
    /// How far it is trusted.
    #[serde(default)]
    pub state: RuleState,
    /// Addresses it has withheld so far, including those that came back.
    #[serde(default)]
    withheld: u64,
    /// Addresses it covers that were fetched anyway.
    #[serde(default)]
    pub tested: u64,
    /// Contents that confirmed it.
    #[serde(default)]
    pub proofs: Vec<u64>,
    /// Of a parameter: values seen not to matter, hashed.
    #[serde(default)]
    values: Vec<u64>,
    /// Areas in which it was tested, hashed.
    #[serde(default)]
    areas: Vec<u64>,
}

/// An address as the believed rules rewrite it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalForm {
    /// The address.
    pub url: String,
    /// The rules that were applied, one bit each.
    pub rules: u64,
}

/// What is known about the aliases of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAliases {
    rules: Vec<LearntRule>,
    /// Tests made.
    #[serde(default)]
    tests: u64,
}

impl HostAliases {
    /// The rules, each at the place that its bit names.
    pub fn rules(&self) -> &[LearntRule] {
        &self.rules
    }

    /// Those of these bits.
    pub fn named(&self, bits: u64) -> impl Iterator<Item = &LearntRule> {
        self.rules.iter().enumerate().filter(move |(at, _)| bits >> at & 1 == 1).map(|(_, rule)| rule)
    }

    /// Whether any rule is applied.
    pub fn is_believing(&self) -> bool {
        self.rules.iter().any(|rule| rule.state == RuleState::Believed)
    }

    /// The rules that were withdrawn, one bit each.
    pub fn withdrawn(&self) -> u64 {
        self.bits(|rule| rule.state == RuleState::Withdrawn)
    }

    fn bits(&self, is: impl Fn(&LearntRule) -> bool) -> u64 {
        self.rules.iter().enumerate().filter(|(_, rule)| is(rule)).fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// The address that the believed rules make of this one; `None` if it is that already.
    pub fn normal(&self, url: &str) -> Option<NormalForm> {
        if !self.is_believing() {
            return None;
        }
        self.form(url, None).filter(|form| form.rules != 0)
    }

    /// The form under the believed rules and one more, whatever the values of its parameter.
    fn form(&self, url: &str, more: Option<usize>) -> Option<NormalForm> {
        let mut parts = UrlParts::of(url)?;
        let mut rules = 0;
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (at, rule) in self.rules.iter().enumerate() {
                let applies = more == Some(at) || rule.state == RuleState::Believed && rule.covers(&parts);
                if applies && rule.rule.apply(&mut parts) {
                    rules |= 1 << at;
                    changed = true;
                }
            }
            if !changed {
                return Some(NormalForm { url: parts.joined(), rules });
            }
        }
        // Longer than any address that people or programs write.
        None
    }

    /// The form of an address under the believed rules and the one at this place.
    pub fn under(&self, url: &str, place: usize) -> String {
        self.form(url, Some(place)).map_or_else(|| url.to_owned(), |form| form.url)
    }

    /// What rules that are not (or not quite) believed would make of an address, with their
    /// places: evidence for or against them, if both were fetched.
    pub fn supposed(&self, url: &str) -> Vec<(usize, String)> {
        let normal = self.form(url, None).map_or_else(|| url.to_owned(), |form| form.url);
        let mut forms = Vec::new();
        for (at, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.state != RuleState::Withdrawn) {
            if rule.state == RuleState::Believed && rule.covers_any() {
                continue;
            }
            let form = self.form(url, Some(at)).filter(|form| form.rules >> at & 1 == 1 && form.url != normal);
            forms.extend(form.map(|form| (at, form.url)));
        }
        forms
    }

    /// Two addresses were found to have equal content. Returns the places of the rules that
    /// explain it, new ones included.
    pub fn suppose(&mut self, one: &str, other: &str) -> Vec<usize> {
        let normal = |url: &str| self.normal(url).map_or_else(|| url.to_owned(), |form| form.url);
        let rules = explain(&normal(one), &normal(other));
        rules.into_iter().filter_map(|rule| self.place_of(rule)).collect()
    }

    /// The place of a rule; a new one takes that of the least supported if there is no other.
    fn place_of(&mut self, rule: AliasRule) -> Option<usize> {
        if let Some(at) = self.rules.iter().position(|known| known.rule == rule) {
            return Some(at).filter(|at| self.rules[*at].state != RuleState::Withdrawn);
        }
        let new = LearntRule {
            rule,
            state: RuleState::Supposed,
            withheld: 0,
            tested: 0,
            proofs: Vec::new(),
            values: Vec::new(),
            areas: Vec::new(),
        };
        if self.rules.len() < MOST_RULES {
            self.rules.push(new);
            return Some(self.rules.len() - 1);
        }
        let supposed = self.rules.iter().enumerate().filter(|(_, rule)| rule.state == RuleState::Supposed);
        let (at, _) = supposed.min_by_key(|(_, rule)| rule.proofs.len()).filter(|(_, rule)| rule.proofs.len() < 2)?;
        self.rules[at] = new;
        Some(at)
    }

    /// A pair with this content speaks for a rule. Returns whether it is now applied to more
    /// addresses than before.
    pub fn confirm(&mut self, at: usize, (one, other): (&str, &str), content: u64) -> bool {
        let Some(rule) = self.rules.get_mut(at).filter(|rule| rule.state != RuleState::Withdrawn) else { return false };
        let before = (rule.state, rule.values.len());
        for parts in [one, other].into_iter().filter_map(UrlParts::of) {
            rule.note_area(&parts);
            if let AliasRule::Parameter(name) = &rule.rule {
                let values: Vec<u64> = parts.values(name).map(stable_hash).collect();
                for value in values {
                    if rule.values.len() < ANY_VALUE && !rule.values.contains(&value) {
                        rule.values.push(value);
                    }
                }
            }
        }
        if rule.proofs.len() < ENOUGH && !rule.proofs.contains(&content) {
            rule.proofs.push(content);
        }
        if rule.proofs.len() >= ENOUGH {
            rule.state = RuleState::Believed;
        }
        rule.state == RuleState::Believed && (rule.state, rule.values.len()) != before
    }

    /// A pair speaks against these rules, of which the least proven is withdrawn. Returns its bit
    /// if it was applied until now.
    pub fn contradict(&mut self, bits: u64) -> Option<u64> {
        let suspects = self.rules.iter_mut().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        let suspects = suspects.filter(|(_, rule)| rule.state != RuleState::Withdrawn);
        let (at, rule) = suspects.min_by_key(|(_, rule)| (rule.proofs.len(), rule.tested))?;
        let applied = rule.state == RuleState::Believed;
        rule.state = RuleState::Withdrawn;
        applied.then_some(1 << at)
    }

    /// Whether an address that these rules make another one should be fetched nevertheless, to
    /// see whether they are right: the first one of every area, and then some, ever fewer. Counts
    /// the address as tested or withheld.
    pub fn wants_test(&mut self, url: &str, bits: u64) -> bool {
        let Some(parts) = UrlParts::of(url) else { return true };
        let (mut test, mut least) = (false, u64::MAX);
        for rule in self.applied(bits) {
            test |= rule.note_area(&parts);
            least = least.min(rule.withheld);
        }
        test |= stable_hash(url).is_multiple_of(rate(least));
        if test {
            self.note_test(bits);
        } else {
            self.applied(bits).for_each(|rule| rule.withheld += 1);
        }
        test
    }

    /// An address that these rules cover is fetched as a test.
    pub fn note_test(&mut self, bits: u64) {
        self.tests += 1;
        self.applied(bits).for_each(|rule| rule.tested += 1);
    }

    /// How many more tests a host with so many pages is worth at the end of a crawl.
    pub fn tests_left(&self, pages: u64) -> u64 {
        (LEAST_TESTS + pages / PAGES_PER_TEST).saturating_sub(self.tests)
    }

    fn applied(&mut self, bits: u64) -> impl Iterator<Item = &mut LearntRule> {
        self.rules.iter_mut().enumerate().filter(move |(at, _)| bits >> at & 1 == 1).map(|(_, rule)| rule)
    }
}

impl LearntRule {
    /// Whether it is or was applied.
    pub fn was_believed(&self) -> bool {
        self.proofs.len() >= ENOUGH
    }

    /// Whether any value of its parameter is ignored.
    fn covers_any(&self) -> bool {
        self.values.len() >= ANY_VALUE || !matches!(self.rule, AliasRule::Parameter(_))
    }

    /// Whether it may be applied: the value of a parameter must be one that was seen not to matter.
    fn covers(&self, url: &UrlParts<'_>) -> bool {
        match &self.rule {
            AliasRule::Parameter(name) if !self.covers_any() => {
                url.values(name).all(|value| self.values.contains(&stable_hash(value)))
            }
            _ => true,
        }
    }

    /// Notes the area of an address; returns whether it is new.
    fn note_area(&mut self, url: &UrlParts<'_>) -> bool {
        let area = area(&url.path);
        let new = self.areas.len() < MOST_AREAS && !self.areas.contains(&area);
        if new {
            self.areas.push(area);
        }
        new
    }
}

/// One in how many is tested after so many were withheld.
fn rate(withheld: u64) -> u64 {
    match withheld {
        0..16 => 4,
        16..64 => 8,
        64..256 => 16,
        256..1_024 => 32,
        _ => 64,
    }
}

/// Two directories, in which numbers are interchangeable, and the extension of the file.
fn area(path: &str) -> u64 {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let first: Vec<&str> = directories.split('/').filter(|name| !name.is_empty()).take(2).collect();
    let shape = |c: char| if c.is_ascii_digit() { '0' } else { c.to_ascii_lowercase() };
    let mut shaped: Vec<char> = format!("{}.{extension}", first.join("/")).chars().map(shape).collect();
    shaped.dedup_by(|a, b| *a == '0' && *b == '0');
    stable_hash(&shaped.into_iter().collect::<String>())
}
