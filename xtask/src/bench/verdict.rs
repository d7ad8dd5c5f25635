//! Does a figure meet its target?

use std::fmt;

/// The target of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FigureTarget {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

/// The target for a rate, relative to the base build.
pub(super) const NO_SLOWER: FigureTarget = FigureTarget::AtLeast(0.97);
/// The target for a cost, relative to the base build.
pub(super) const NO_DEARER: FigureTarget = FigureTarget::AtMost(1.03);

/// A figure and its target.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TargetVerdict {
    what: String,
    figure: f64,
    wanted: FigureTarget,
}

impl TargetVerdict {
    /// The verdict on the median of a figure over the rounds; `None` if it was never measured.
    pub(super) fn of(
        what: impl Into<String>,
        figures: impl IntoIterator<Item = f64>,
        wanted: FigureTarget,
    ) -> Option<Self> {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let figure = *figures.get(figures.len() / 2)?;
        Some(Self { what: what.into(), figure, wanted })
    }

    /// Whether the target is met.
    pub(super) fn holds(&self) -> bool {
        match self.wanted {
            FigureTarget::AtLeast(bound) => self.figure >= bound,
            FigureTarget::AtMost(bound) => self.figure <= bound,
        }
    }
}

impl fmt::Display for TargetVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, bound) = match self.wanted {
            FigureTarget::AtLeast(bound) => ('≥', bound),
            FigureTarget::AtMost(bound) => ('≤', bound),
        };
        let word = if self.holds() { "ok" } else { "MISSED" };
        write!(f, "- {word}: {} = {:.2} (wanted {sign} {bound})", self.what, self.figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_on_the_median_and_says_what_is_wanted() {
        let of = |figures: &[f64], wanted| TargetVerdict::of("a / b", figures.iter().copied(), wanted);
        let good = of(&[9.0, 1.4, 0.1], FigureTarget::AtLeast(1.3)).map(|verdict| verdict.to_string());
        assert_eq!(good.as_deref(), Some("- ok: a / b = 1.40 (wanted ≥ 1.3)"));
        let bad = of(&[1.2], FigureTarget::AtMost(1.0)).map(|verdict| (verdict.holds(), verdict.to_string()));
        assert_eq!(bad, Some((false, "- MISSED: a / b = 1.20 (wanted ≤ 1)".to_owned())));
        assert_eq!(of(&[], FigureTarget::AtLeast(1.0)), None);
    }
}
