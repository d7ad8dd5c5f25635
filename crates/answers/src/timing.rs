//! How fast are queries answered?

use crate::search::search;
use crate::{Collection, Query, Result};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Instant;

/// How long queries took, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueryTimings {
    /// Number of queries.
    pub queries: usize,
    /// The median.
    pub p50_us: u64,
    /// Nine in ten took no longer.
    pub p90_us: u64,
    /// Ninety-nine in a hundred took no longer.
    pub p99_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// Asks one query after another, each as if it had been typed.
pub fn time_queries<'a>(collection: &Collection, queries: impl Iterator<Item = Query<'a>>) -> Result<QueryTimings> {
    let mut took = Vec::new();
    for query in queries {
        let began = Instant::now();
        search(collection, &query)?;
        took.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    Ok(QueryTimings::of(took))
}

impl QueryTimings {
    fn of(mut took: Vec<u64>) -> Self {
        took.sort_unstable();
        let last = took.len().saturating_sub(1);
        let at = |percent: usize| took.get((took.len() * percent / 100).min(last)).copied().unwrap_or(0);
        Self { queries: took.len(), p50_us: at(50), p90_us: at(90), p99_us: at(99), max_us: at(100) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        let hundred = QueryTimings::of((1..=100).rev().collect());
        assert_eq!(hundred, QueryTimings { queries: 100, p50_us: 51, p90_us: 91, p99_us: 100, max_us: 100 });
        let one = QueryTimings::of(vec![7]);
        assert_eq!(one, QueryTimings { queries: 1, p50_us: 7, p90_us: 7, p99_us: 7, max_us: 7 });
        assert_eq!(QueryTimings::of(Vec::new()), QueryTimings::default());
    }
}
