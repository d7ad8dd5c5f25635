//! Does what was measured meet its targets?

use std::process::ExitCode;

/// Targets met and missed, each printed when it is known.
#[derive(Debug, Default)]
pub(crate) struct MeasuredTargets {
    missed: usize,
}

impl MeasuredTargets {
    /// A figure that has to reach this.
    pub(crate) fn at_least(&mut self, what: &str, figure: f64, wanted: f64) {
        self.judge(what, figure, '≥', wanted, figure >= wanted);
    }

    /// A figure that may not exceed this.
    #[allow(dead_code, reason = "not every program that uses this file has such a target")]
    pub(crate) fn at_most(&mut self, what: &str, figure: f64, wanted: f64) {
        self.judge(what, figure, '≤', wanted, figure <= wanted);
    }

    /// A target that cannot be judged here.
    #[allow(dead_code, reason = "not every program that uses this file has judges of its own")]
    pub(crate) fn skipped(&self, what: &str, why: &str) {
        println!("- skipped: {what}: {why}");
    }

    fn judge(&mut self, what: &str, figure: f64, sign: char, wanted: f64, holds: bool) {
        self.missed += usize::from(!holds);
        let word = if holds { "ok" } else { "MISSED" };
        println!("- {word}: {what} = {figure:.4} (wanted {sign} {wanted})");
    }

    /// How a program ends that has judged all it could.
    pub(crate) fn end(&self) -> ExitCode {
        if self.missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
