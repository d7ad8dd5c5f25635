//! Which rule would make two addresses of equal content one?

use super::AliasRule;
use super::rule::{UrlParts, collapsed, lowered};

/// Maximum parameters in which two addresses may differ.
const MOST_PARAMETERS: usize = 4;

/// Maximum segments of a prefix.
const MOST_SEGMENTS: usize = 3;

/// Maximum length of a rule in words: names are chosen by the server, and kept for every host.
const MOST_WORDS: usize = 200;

/// Names of files that may stand for their directory, up to the extension.
const INDEXES: [&str; 5] = ["index", "default", "home", "welcome", "main"];

/// The rules that explain together why two different addresses of one host have equal content:
/// one, or one for each parameter in which they differ. Empty if no single difference does.
pub fn explain(one: &str, other: &str) -> Vec<AliasRule> {
    let (Some(a), Some(b)) = (UrlParts::of(one), UrlParts::of(other)) else { return Vec::new() };
    if a.origin != b.origin || a == b {
        return Vec::new();
    }
    let rules = match (a.path == b.path, a.query == b.query) {
        (true, false) => parameters(&a, &b),
        (false, true) => path_rule(&a.path, &b.path).into_iter().collect(),
        _ => Vec::new(),
    };
    let is_short = rules.iter().all(|rule| rule.to_string().len() <= MOST_WORDS);
    if is_short && same_under(&rules, a, b) { rules } else { Vec::new() }
}

/// Whether the rules give both the same form.
fn same_under<'a>(rules: &[AliasRule], mut a: UrlParts<'a>, mut b: UrlParts<'a>) -> bool {
    for url in [&mut a, &mut b] {
        rules.iter().for_each(|rule| while rule.apply(url) {});
    }
    a == b
}

/// The parameters that only one of them has, or that have different values.
fn parameters(a: &UrlParts<'_>, b: &UrlParts<'_>) -> Vec<AliasRule> {
    let split = |url: &UrlParts<'_>| -> Vec<String> {
        url.query.as_deref().unwrap_or_default().split('&').filter(|p| !p.is_empty()).map(str::to_owned).collect()
    };
    let (a, b) = (split(a), split(b));
    let differ = a.iter().filter(|p| !b.contains(p)).chain(b.iter().filter(|p| !a.contains(p)));
    let mut names: Vec<&str> = differ.filter_map(|p| p.split('=').next()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > MOST_PARAMETERS {
        return Vec::new();
    }
    names.into_iter().map(|name| AliasRule::Parameter(name.to_owned())).collect()
}

fn path_rule(a: &str, b: &str) -> Option<AliasRule> {
    if collapsed(a) == collapsed(b) {
        return Some(AliasRule::Slashes);
    }
    if lowered(a) == lowered(b) {
        return Some(AliasRule::Case);
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    match long.strip_prefix(short) {
        Some("/") => return Some(AliasRule::Slash),
        Some(name) if short.ends_with('/') && is_index(name) => return Some(AliasRule::Index(name.to_owned())),
        _ => {}
    }
    by_segments(long, short)
}

fn is_index(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    !name.contains('/') && INDEXES.iter().any(|index| stem.eq_ignore_ascii_case(index))
}

/// A segment more, or another prefix.
fn by_segments(one: &str, other: &str) -> Option<AliasRule> {
    let (a, b): (Vec<&str>, Vec<&str>) = (one[1..].split('/').collect(), other[1..].split('/').collect());
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let common = long.iter().rev().zip(short.iter().rev()).take_while(|(x, y)| x == y).count();
    let (from, to) = (&long[..long.len() - common], &short[..short.len() - common]);
    let more = long.len() - short.len();
    if common == 0 {
        // The end differs: only a last segment more can explain that.
        let tail = (more == 1 && long[..short.len()] == short[..] && !short.concat().is_empty()).then(|| long.last());
        return tail.flatten().map(|name| AliasRule::Tail((*name).to_owned()));
    }
    if more == 1 && !to.is_empty() && from[..to.len()] == *to {
        return from.last().map(|name| AliasRule::Segment((*name).to_owned()));
    }
    if from.len() > MOST_SEGMENTS || to.len() > MOST_SEGMENTS {
        return None;
    }
    let path = |segments: &[&str]| segments.iter().map(|segment| format!("/{segment}")).collect::<String>();
    let (from, to) = (path(from), path(to));
    let (from, to) = if (from.len(), &from) > (to.len(), &to) { (from, to) } else { (to, from) };
    Some(AliasRule::Prefix { from, to })
}
