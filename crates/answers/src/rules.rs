//! What do the rules of a project say about a URL, and what would others change?
//!
//! Both are asked before settings are saved, so the settings are the asker's. The seeds are those
//! of the settings and those that the collection knows, with what they redirect to.

use crate::{AnswerError, Collection, Result};
use orb_project::{SeedText, Settings, number};
use orb_urls::{Address, Canonicaliser, Judgement, OutOfScope, Scope};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Numbers of pages that are examined at a time.
const CHUNK: u64 = 20_000;

/// How long the queue is read.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the rules say about a URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TriedUrl {
    /// The URL as given.
    pub given: String,
    /// Its canonical form, which rules are held against.
    pub url: Option<String>,
    /// Whether it may be fetched.
    pub in_scope: bool,
    /// Why not: `area`, `extension`, `path` or `rule`.
    pub why: Option<&'static str>,
    /// The number of the first rule that matches, from 1; `None` if the default decides.
    pub rule: Option<usize>,
    /// Whether it is a seed, which only a rule can exclude.
    pub is_seed: bool,
    /// Why it is no URL that could be fetched.
    pub refused: Option<String>,
}

/// What a queue would lose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueLoss {
    /// Queued pages that were examined.
    pub queued: u64,
    /// Those that would not be fetched.
    pub lost: u64,
    /// The first of them.
    pub urls: Vec<String>,
    /// Whether the whole queue was examined.
    pub is_whole: bool,
}

/// What these settings say about a URL.
pub fn try_url(collection: Option<&Collection>, settings: &Settings, given: &str) -> Result<TriedUrl> {
    let (scope, seed) = scope(collection, settings)?;
    let blank = TriedUrl {
        given: given.to_owned(),
        url: None,
        in_scope: false,
        why: None,
        rule: None,
        is_seed: false,
        refused: None,
    };
    let address = match Canonicaliser::new(settings.urls).parse_seed(given) {
        Ok(address) => address,
        Err(why) => return Ok(TriedUrl { refused: Some(why.to_string()), ..blank }),
    };
    // As a link on a seed, which is how a neighbour would be found.
    let why = match scope.judge(&address, seed.as_ref()) {
        Judgement::In => None,
        Judgement::Out(OutOfScope::Area) => Some("area"),
        Judgement::Out(OutOfScope::Extension) => Some("extension"),
        Judgement::Out(OutOfScope::Path) => Some("path"),
        Judgement::Out(OutOfScope::Rule) => Some("rule"),
    };
    let rule = scope.ruling(&address).rule.map(|index| index + 1);
    let is_seed = scope.is_seed(&address);
    Ok(TriedUrl { in_scope: why.is_none(), why, rule, is_seed, url: Some(address.into_string()), ..blank })
}

/// What the queue would lose under the rules of these settings, with at most so many examples.
/// Reading stops after two seconds.
pub fn queue_loss(collection: &Collection, settings: &Settings, most: usize) -> Result<QueueLoss> {
    let (scope, _) = scope(Some(collection), settings)?;
    let own_rules = settings.steps.iter().filter(|step| step.rules.is_some());
    let own_rules: HashSet<u32> = own_rules.map(|step| number(&step.name)).collect();
    let (mut loss, begun) = (QueueLoss::default(), Instant::now());
    let known = collection.catalogue().extent()?.pages;
    let mut after = 0;
    while after < known && begun.elapsed() < PATIENCE {
        let last = after + CHUNK;
        for (url, step) in collection.catalogue().queued_between((after, last))? {
            loss.queued += 1;
            let is_bound = step.is_none_or(|step| !own_rules.contains(&step));
            let is_lost = Address::from_canonical(&url).is_ok_and(|address| !scope.ruling(&address).is_allowed);
            if is_bound && is_lost {
                loss.lost += 1;
                if loss.urls.len() < most {
                    loss.urls.push(url);
                }
            }
        }
        after = last;
    }
    loss.is_whole = after >= known;
    Ok(loss)
}

/// The scope of these settings, and one of its seeds.
fn scope(collection: Option<&Collection>, settings: &Settings) -> Result<(Scope, Option<Address>)> {
    let canonical = Canonicaliser::new(settings.urls);
    let server = settings.nntp.server.as_deref();
    let given = settings.seeds.iter().filter_map(|seed| SeedText::of(seed).url(server));
    let mut seeds: Vec<Address> = given.filter_map(|seed| canonical.parse_seed(&seed).ok()).collect();
    if let Some(collection) = collection {
        let known = collection.catalogue().seed_urls()?;
        seeds.extend(known.iter().filter_map(|url| Address::from_canonical(url).ok()));
    }
    let scope = Scope::new(&settings.scope, &seeds).map_err(|e| AnswerError::Refused(e.to_string()))?;
    Ok((scope, seeds.into_iter().next()))
}
