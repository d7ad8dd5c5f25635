//! What would make it faster?
//!
//! Each rule examines the facts and either stays silent or says one thing in plain words, with the
//! share of the time it explains. Adding a rule is one function and one line in [`RULES`]. A rule
//! never guesses: every number it prints is a fact.

use super::facts::{SpeedFacts, Stretch};
use super::{politeness, resources};
use crate::watch::ledger::{Idle, Stage};
use orb_frontier::Why;
use schemars::JsonSchema;
use serde::Serialize;

/// One statement about a run's speed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// The rule's name.
    pub rule: &'static str,
    /// The share of the time it explains, 0 to 1.
    pub share: f64,
    /// A few words, for a display.
    pub phrase: String,
    /// A sentence or two: what takes the time, and what would help.
    pub text: String,
}

/// What a rule examines: the facts, and the significant interval.
pub(super) type AdviceRule = fn(&SpeedFacts, &Stretch) -> Option<Advice>;

/// The minimum share of the time that is worth mentioning.
pub(super) const NOTABLE: f64 = 0.25;

const RULES: &[AdviceRule] = &[
    ended,
    paused,
    resources::schedule,
    resources::bandwidth,
    resources::processor,
    resources::commit,
    resources::connections,
    resources::names,
    resources::handshakes,
    politeness::delay,
    politeness::crawl_delay,
    politeness::address,
    politeness::answers,
    politeness::slow_server,
    politeness::resting,
    starved,
];

impl SpeedFacts {
    /// What takes the time and what would help, most important first; never empty.
    pub fn advice(&self) -> Vec<Advice> {
        let telling = self.telling();
        let mut said: Vec<Advice> = RULES.iter().filter_map(|rule| rule(self, telling)).collect();
        said.sort_by(|a, b| b.share.total_cmp(&a.share));
        if said.is_empty() {
            said.push(nothing(telling));
        }
        said
    }
}

/// A run that has ended waits for nothing.
fn ended(facts: &SpeedFacts, _: &Stretch) -> Option<Advice> {
    let (phrase, text) = match (facts.state.as_str(), facts.queued) {
        ("done", 0) => ("nothing left to do", "nothing is left to do: everything in scope was visited".to_owned()),
        ("done", queued) => (
            "only hosts that cannot be asked are left",
            format!(
                "nothing is left to do but {queued} pages of hosts that could not be asked; a later crawl tries them again"
            ),
        ),
        ("budget", queued) => {
            ("the budget is spent", format!("the budget of the run is spent; {queued} pages are queued"))
        }
        ("stopped", queued) => ("stopped", format!("the run was stopped; {queued} pages are queued")),
        _ => return None,
    };
    // Above everything else: what is over cannot be made faster.
    Some(Advice { rule: "ended", share: 1.0, phrase: phrase.to_owned(), text })
}

fn paused(facts: &SpeedFacts, _: &Stretch) -> Option<Advice> {
    let why = facts.pause.as_deref().filter(|_| facts.state == SpeedFacts::RUNNING)?;
    Some(Advice {
        rule: "paused",
        share: 1.0,
        phrase: format!("paused: {why}"),
        text: format!("the run is paused: {why}"),
    })
}

/// Nothing is known to be fetched until what was read is recorded.
fn starved(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let share = time.idle_share(Idle::Commit);
    let gather = time.tally.stage(Stage::Gather).mean();
    (share >= NOTABLE && facts.pause.is_none()).then(|| Advice {
        rule: "starved",
        share,
        phrase: "waiting for what was read to be recorded".to_owned(),
        text: format!(
            "{} of the time nothing is known to fetch until what was read is recorded ({} from the first page of a batch to its commit): so it is on small sites and at the beginning; more seeds would help",
            percent(share),
            duration(gather)
        ),
    })
}

fn nothing(time: &Stretch) -> Advice {
    let text = if time.pages == 0 {
        "nothing was fetched yet, and nothing stands out".to_owned()
    } else {
        format!("nothing stands out: {:.1} pages/s, and no wait takes a quarter of the time", time.page_rate())
    };
    Advice { rule: "nothing", share: 0.0, phrase: "nothing stands out".to_owned(), text }
}

/// The median response time, from sending the request.
pub(super) fn answer_time(time: &Stretch) -> f64 {
    time.tally.stage(Stage::Wait).quantile(0.5) + time.tally.stage(Stage::Body).quantile(0.5)
}

/// `such as example.org`, if there is one.
pub(super) fn such_as(facts: &SpeedFacts, reasons: &[Why]) -> (u64, String) {
    let (hosts, example) = facts.held(reasons);
    (hosts, example.map_or_else(String::new, |name| format!(" (such as {name})")))
}

/// `97 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0)
}

/// Seconds in the unit that suits them: `85 µs`, `12 ms`, `4.0 s`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.000_999_5 => format!("{:.0} µs", s * 1e6),
        s if s < 0.009_95 => format!("{:.1} ms", s * 1e3),
        s if s < 0.999_5 => format!("{:.0} ms", s * 1e3),
        s if s < 99.95 => format!("{s:.1} s"),
        s => format!("{s:.0} s"),
    }
}

/// Seconds in the syntax of a flag: `200ms`, `2s`.
pub(super) fn flag(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0}ms", seconds * 1e3) } else { format!("{seconds:.0}s") }
}

/// `1 host`, `3 hosts`.
pub(super) fn hosts(n: u64) -> String {
    if n == 1 { "1 host".to_owned() } else { format!("{n} hosts") }
}

/// Bytes per second in the syntax of the command line.
pub(super) fn rate(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B/s"),
        b if b < 1e6 => format!("{:.0} kB/s", b / 1e3),
        b => format!("{:.1} MB/s", b / 1e6),
    }
}
