//! Which rates of change are distinguished?
//!
//! A geometric grid from one change in a lifetime to one in ten minutes, with the cube root of four
//! as its ratio. Likelihoods and values are far wider than one step: a rate that is off by half a
//! step costs a thousandth of the freshness.

/// Number of rates.
pub(super) const RATES: usize = 33;

/// A weight for each rate of the grid.
pub(super) type RateWeights = [f64; RATES];

/// The rates in changes per day, slowest first.
pub(super) fn grid() -> [f64; RATES] {
    let mut rates = [0.0; RATES];
    (0_u8..).zip(&mut rates).for_each(|(n, rate)| *rate = ((f64::from(n) * 2.0 - 43.0) / 3.0).exp2());
    rates
}

/// The index of the nearest rate in the grid.
pub(super) fn place(rate: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let place = ((rate.log2() * 3.0 + 43.0) / 2.0).round().clamp(0.0, (RATES - 1) as f64) as usize;
    place
}

/// Normalises weights to sum 1; uniform if all are 0.
pub(super) fn normal(mut weights: RateWeights) -> RateWeights {
    let sum: f64 = weights.iter().sum();
    let even = 1.0 / RATES as f64;
    weights.iter_mut().for_each(|weight| *weight = if sum > 0.0 { *weight / sum } else { even });
    weights
}
