//! How is the pace of a run drawn?
//!
//! As paths of an SVG, made here: pages a second as an area, the queue as a line, both as high as
//! their own maximum.

use super::live::time_left;
use orb_answers::grouped;
use orb_crawl::{PaceSample, PaceSeries};
use std::fmt::Write as _;

/// The size of the drawing, in its own units.
const WIDTH: f64 = 700.0;
const HEIGHT: f64 = 150.0;

/// Points of a line at most.
const POINTS: usize = 140;

/// The paths of a drawing.
pub(super) struct PaceChart {
    /// Pages a second, as a line.
    pub(super) rate: String,
    /// The same down to the axis.
    pub(super) area: String,
    /// Pages queued.
    pub(super) queue: String,
    /// The highest rate.
    pub(super) highest: String,
    /// The longest queue.
    pub(super) longest: String,
    /// How much time is shown.
    pub(super) span: String,
}

/// The drawing of a series; `None` if there is too little to draw.
#[expect(clippy::cast_precision_loss, reason = "a drawing")]
pub(super) fn chart(series: &PaceSeries) -> Option<PaceChart> {
    let step = series.samples.len().div_ceil(POINTS).max(1);
    let samples: Vec<&PaceSample> = series.samples.iter().step_by(step).collect();
    let (first, last) = (samples.first()?.seconds, samples.last()?.seconds);
    if samples.len() < 3 || last <= first {
        return None;
    }
    let at = |sample: &PaceSample| (sample.seconds - first) / (last - first) * WIDTH;
    let rate = |pair: &[&PaceSample]| {
        pair[1].pages.saturating_sub(pair[0].pages) as f64 / (pair[1].seconds - pair[0].seconds).max(0.001)
    };
    let rates: Vec<(f64, f64)> = samples.windows(2).map(|pair| (at(pair[1]), rate(pair))).collect();
    let queue: Vec<(f64, f64)> = samples.iter().map(|sample| (at(sample), sample.queued as f64)).collect();
    let highest = rates.iter().map(|point| point.1).fold(0.0, f64::max);
    let line = path(&rates);
    let begin = rates.first()?.0;
    let area = format!("{line} L{WIDTH} {HEIGHT} L{begin:.1} {HEIGHT}Z");
    let longest = samples.iter().map(|sample| sample.queued).max().unwrap_or(0);
    let (highest, longest, span) = (format!("{highest:.1}"), grouped(longest), time_left(last - first));
    Some(PaceChart { area, rate: line, queue: path(&queue), highest, longest, span })
}

/// A line through points, scaled to its own maximum.
fn path(points: &[(f64, f64)]) -> String {
    let highest = points.iter().map(|point| point.1).fold(0.0, f64::max).max(0.001);
    let mut out = String::new();
    for (n, (x, value)) in points.iter().enumerate() {
        let letter = if n == 0 { 'M' } else { 'L' };
        let y = HEIGHT - value / highest * (HEIGHT - 10.0);
        // Writing to a string cannot fail.
        let _ = write!(out, "{letter}{x:.1} {y:.1}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_drawn_with_few_points_and_a_short_one_not_at_all() {
        let sample = |second: u32| PaceSample {
            seconds: f64::from(second),
            pages: u64::from(second) * 10,
            queued: 5,
            ..PaceSample::default()
        };
        let series = |seconds| PaceSeries { samples: (0..seconds).map(sample).collect(), ..PaceSeries::default() };
        assert!(chart(&series(2)).is_none());
        let drawn = chart(&series(2_000)).unwrap();
        assert!(drawn.rate.matches('L').count() < POINTS, "{}", drawn.rate);
        assert_eq!(drawn.highest, "10.0");
        assert!(drawn.area.ends_with('Z') && drawn.queue.starts_with("M0.0 10.0"), "{}", drawn.queue);
    }
}
