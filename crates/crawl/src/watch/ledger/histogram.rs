//! How are many durations summarised in a few numbers?
//!
//! A histogram with logarithmic buckets, four per doubling of a microsecond (as in Gil Tene's
//! HdrHistogram, with two bits): any quantile is known to within an eighth, from a microsecond to
//! hours, in 128 counters that are only ever incremented.

use super::nanos;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of buckets: the last holds everything from an hour.
const BUCKETS: usize = 128;

/// A histogram that many threads write to.
#[derive(Debug)]
pub(super) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: std::array::from_fn(|_| AtomicU64::new(0)), nanos: AtomicU64::new(0) }
    }
}

impl Histogram {
    pub(super) fn note(&self, took: Duration) {
        // Relaxed: independent counters; a snapshot may see one update and not yet the other.
        self.buckets[bucket(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(nanos(took), Ordering::Relaxed);
    }

    pub(super) fn spread(&self) -> Spread {
        let mut spread = Spread { nanos: self.nanos.load(Ordering::Relaxed), ..Spread::default() };
        for (number, counter) in (0u8..).zip(&self.buckets) {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                spread.buckets.push((number, count));
                spread.count += count;
            }
        }
        spread
    }
}

/// The bucket of this many microseconds: 0 to 3 have one each, then the two bits after the leading
/// one select one of four.
fn bucket(micros: u64) -> usize {
    if micros < 4 {
        return usize::try_from(micros).unwrap_or(0);
    }
    let exponent = micros.ilog2();
    let fraction = (micros >> (exponent - 2)) & 3;
    (usize::try_from(exponent).unwrap_or(0) * 4 - 4 + usize::try_from(fraction).unwrap_or(0)).min(BUCKETS - 1)
}

/// The smallest number of microseconds in a bucket. A bucket number beyond the last, from a damaged
/// file, maps far away, too.
fn floor(bucket: u8) -> u64 {
    let bucket = u64::from(bucket).min(BUCKETS as u64);
    if bucket < 4 { bucket } else { (4 + bucket % 4) << (bucket / 4 - 1) }
}

/// A distribution of durations: a snapshot of a histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spread {
    /// Number of durations.
    pub count: u64,
    /// Their sum in nanoseconds.
    pub nanos: u64,
    /// Non-empty buckets in order, with their counts.
    pub buckets: Vec<(u8, u64)>,
}

#[expect(clippy::cast_precision_loss, reason = "durations for people")]
impl Spread {
    /// Their sum in seconds.
    pub fn seconds(&self) -> f64 {
        self.nanos as f64 / 1e9
    }

    /// Their mean in seconds; 0 if there are none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.seconds() / self.count as f64 }
    }

    /// The quantile in seconds, to within an eighth; 0 if there are none.
    pub fn quantile(&self, share: f64) -> f64 {
        let wanted = share.clamp(0.0, 1.0) * self.count as f64;
        let mut seen = 0;
        for (number, count) in &self.buckets {
            seen = u64::saturating_add(seen, *count);
            if seen as f64 >= wanted {
                let (from, to) = (floor(*number), floor(number.saturating_add(1)));
                return if *number < 4 { from as f64 } else { (from as f64 + to as f64) / 2.0 } / 1e6;
            }
        }
        0.0
    }

    /// How many took less than this many microseconds; exact for powers of two.
    pub fn below(&self, micros: u64) -> u64 {
        self.buckets
            .iter()
            .take_while(|(number, _)| floor(*number) < micros)
            .fold(0, |all: u64, (_, count)| all.saturating_add(*count))
    }

    /// The sum of two distributions.
    pub fn plus(&self, other: &Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// The difference to an earlier snapshot.
    pub fn minus(&self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }

    fn combine(&self, other: &Self, join: fn(u64, u64) -> u64) -> Self {
        let of = |spread: &Self, wanted: u8| {
            spread.buckets.iter().find(|(number, _)| *number == wanted).map_or(0, |(_, count)| *count)
        };
        let mut numbers: Vec<u8> = self.buckets.iter().chain(&other.buckets).map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let joined = numbers.into_iter().map(|n| (n, join(of(self, n), of(other, n))));
        Self {
            count: join(self.count, other.count),
            nanos: join(self.nanos, other.nanos),
            buckets: joined.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(micros: impl IntoIterator<Item = u64>) -> Spread {
        let histogram = Histogram::default();
        micros.into_iter().for_each(|m| histogram.note(Duration::from_micros(m)));
        histogram.spread()
    }

    #[test]
    fn every_duration_lies_in_the_bucket_that_begins_before_it() {
        for micros in (0..5_000).chain((3..62).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1])) {
            let number = bucket(micros);
            assert!(floor(u8::try_from(number).unwrap()) <= micros, "{micros}");
            assert!(number == BUCKETS - 1 || micros < floor(u8::try_from(number + 1).unwrap()), "{micros}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_right_to_within_an_eighth() {
        let spread = spread(1..=10_000);
        for share in [0.1, 0.5, 0.95, 1.0] {
            let exact = share * 0.01;
            assert!((spread.quantile(share) - exact).abs() <= exact / 8.0, "{share}: {}", spread.quantile(share));
        }
        assert!((spread.mean() - 0.005_000_5).abs() < 1e-9);
        assert_eq!(Spread::default().quantile(0.5), 0.0);
    }

    #[test]
    fn spreads_add_up_and_come_apart_again() {
        let (a, b) = (spread([3, 70, 70, 9_000]), spread([70, 1_000_000]));
        let both = a.plus(&b);
        assert_eq!(both, spread([3, 70, 70, 9_000, 70, 1_000_000]));
        assert_eq!(both.minus(&b), a);
    }

    #[test]
    fn numbers_that_nobody_wrote_are_borne() {
        let wild = Spread { count: u64::MAX, nanos: u64::MAX, buckets: vec![(0, u64::MAX), (3, u64::MAX), (255, 7)] };
        let twice = wild.plus(&wild);
        assert!(twice.quantile(0.95).is_finite() && twice.mean().is_finite());
        assert_eq!(twice.below(1 << 60), u64::MAX);
    }

    #[test]
    fn below_a_power_of_two_the_count_is_exact() {
        let spread = spread([0, 1, 63, 64, 65, 1_023, 1_024]);
        assert_eq!((spread.below(1), spread.below(64), spread.below(1_024)), (1, 3, 6));
        assert_eq!(spread.below(1 << 40), 7);
    }
}
