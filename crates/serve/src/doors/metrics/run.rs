//! How do the runs that are under way get on, in Prometheus' terms?
//!
//! A run writes down every second what `orb status --why` reads, and so do we: counters count what
//! it has done so far, over all its resumptions. A run that has ended is told no more.

use crate::exposition::Exposition;
use orb_answers::RunCounters;
use orb_crawl::{Idle, SpeedFacts, Stage};

/// Upper bounds of the histograms' buckets in microseconds: powers of four, which coincide with
/// bounds of our own buckets.
const BOUNDS: [u64; 12] =
    [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864, 268_435_456];

/// A run that is under way.
pub(super) struct WatchedRun {
    pub(super) project: String,
    pub(super) counters: RunCounters,
    pub(super) facts: SpeedFacts,
}

/// A metric with one value for each run: its name, what it means, and where the value is.
type RunFamily<T> = (&'static str, &'static str, fn(&WatchedRun) -> T);

/// What runs have recorded and received.
const COUNTERS: [RunFamily<u64>; 6] = [
    ("orb_links_total", "Links recorded by the run.", |run| run.counters.links),
    ("orb_images_total", "Images recorded by the run.", |run| run.counters.images),
    ("orb_hosts_fetched_total", "Hosts of which the run fetched a page.", |run| run.counters.hosts),
    ("orb_responses_total", "Answers received.", |run| run.facts.whole.pages),
    ("orb_received_bytes_total", "Bytes of bodies received, as transferred.", |run| run.facts.whole.bytes),
    ("orb_fetch_errors_total", "Fetches that failed or were answered with an error.", |run| run.facts.whole.errors),
];

/// How they stand.
const GAUGES: [RunFamily<u64>; 8] = [
    ("orb_requests_in_flight", "Requests under way.", |run| run.facts.in_flight),
    ("orb_queued_pages", "Pages queued at the last commit.", |run| run.facts.queued),
    ("orb_known_urls", "URLs known at the last commit.", |run| run.facts.known),
    ("orb_hosts_active", "Hosts with a request under way.", |run| run.facts.hosts_active),
    ("orb_paused", "Whether the run waits as a whole.", |run| u64::from(run.facts.pause.is_some())),
    ("orb_connections_limit", "Connections allowed at once.", |run| run.facts.bounds.connections),
    ("orb_connection_waiters", "Requests that wait for a connection.", |run| run.facts.sockets.waiting),
    ("orb_run_resident_memory_bytes", "Memory in use by the run.", |run| run.facts.resident.unwrap_or(0)),
];

/// Everything there is to tell.
pub(super) fn runs(page: &mut Exposition, all: &[WatchedRun]) {
    for (kind, families) in [("counter", &COUNTERS[..]), ("gauge", &GAUGES[..])] {
        for (name, help, value) in families {
            page.family(name, kind, help);
            all.iter().for_each(|run| page.sample(name, &[("project", &run.project)], value(run)));
        }
    }
    each(page, all, ("orb_pages_total", "counter", "Pages recorded by the run, by kind."), |run, sample| {
        let of = &run.counters;
        for (kind, count) in [
            ("html", of.html),
            ("binary", of.binary),
            ("duplicate", of.duplicates),
            ("redirect", of.redirects),
            ("disallowed", of.disallowed),
            ("error", of.errors),
        ] {
            sample(("kind", kind), count.to_string());
        }
    });
    waiting(page, all);
    timed(page, all);
}

/// Where a family's samples go: a label of their own, and the value.
type AddSample<'s> = dyn FnMut((&str, &str), String) + 's;

/// A metric with several values for each run.
fn each(
    page: &mut Exposition,
    all: &[WatchedRun],
    (name, kind, help): (&str, &str, &str),
    samples: impl Fn(&WatchedRun, &mut AddSample<'_>),
) {
    page.family(name, kind, help);
    for run in all {
        samples(run, &mut |label, value| page.sample(name, &[("project", &run.project), label], value));
    }
}

/// Why hosts wait, and what for.
fn waiting(page: &mut Exposition, all: &[WatchedRun]) {
    each(page, all, ("orb_hosts_waiting", "gauge", "Hosts in memory that wait, by reason."), |run, sample| {
        run.facts.waiting.iter().for_each(|held| sample(("reason", &held.why), held.hosts.to_string()));
    });
    each(page, all, ("orb_connections", "gauge", "Connections, by state."), |run, sample| {
        let sockets = run.facts.sockets;
        let used = sockets.open.saturating_sub(sockets.idle).saturating_sub(sockets.closing);
        for (state, count) in [("used", used), ("idle", sockets.idle), ("closing", sockets.closing)] {
            sample(("state", state), count.to_string());
        }
    });
    let name = "orb_allowed_requests_per_second";
    page.family(name, "gauge", "The rate that politeness allows at present.");
    for run in all {
        let allowed = run.facts.allowed.map_or_else(|| "+Inf".to_owned(), |rate| format!("{rate:.3}"));
        page.sample(name, &[("project", &run.project)], allowed);
    }
    let name = "orb_bandwidth_limit_bytes_per_second";
    page.family(name, "gauge", "Bytes a second allowed.");
    for run in all {
        let limit = run.facts.bounds.bandwidth;
        limit.into_iter().for_each(|limit| page.sample(name, &[("project", &run.project)], limit));
    }
}

/// Where the time goes.
fn timed(page: &mut Exposition, all: &[WatchedRun]) {
    let name = "orb_run_cpu_seconds_total";
    page.family(name, "counter", "Processor time used by the run.");
    all.iter().for_each(|run| page.sample(name, &[("project", &run.project)], run.facts.whole.cpu_seconds));
    let idle = ("orb_idle_seconds_total", "counter", "Time in which nothing more could be asked for, by reason.");
    each(page, all, idle, |run, sample| {
        Idle::ALL.iter().for_each(|why| sample(("reason", why.name()), run.facts.whole.tally.idle(*why).to_string()));
    });
    const STAGE: &str = "orb_stage_duration_seconds";
    let help = "How long the stages of a page's life take; archive, catalogue and index are a commit's.";
    page.family(STAGE, "histogram", help);
    let (bucket, sum, count) = (format!("{STAGE}_bucket"), format!("{STAGE}_sum"), format!("{STAGE}_count"));
    for run in all {
        for stage in Stage::ALL {
            let (spread, labels) = (run.facts.whole.tally.stage(*stage), ("stage", stage.name()));
            let project = ("project", run.project.as_str());
            for bound in BOUNDS {
                #[expect(clippy::cast_precision_loss, reason = "small powers of two")]
                let le = (bound as f64 / 1e6).to_string();
                page.sample(&bucket, &[project, labels, ("le", &le)], spread.below(bound));
            }
            page.sample(&bucket, &[project, labels, ("le", "+Inf")], spread.count);
            page.sample(&sum, &[project, labels], spread.seconds());
            page.sample(&count, &[project, labels], spread.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_crawl::Ledger;

    #[test]
    fn a_histogram_is_cumulative_and_ends_with_its_count() {
        let ledger = Ledger::default();
        [50, 70, 2_000, 9_000_000_000].iter().for_each(|us| {
            ledger.note(Stage::Read, std::time::Duration::from_micros(*us));
        });
        let mut facts = SpeedFacts::default();
        facts.whole.tally = ledger.tally();
        let mut page = Exposition::default();
        runs(&mut page, &[WatchedRun { project: "p".to_owned(), counters: RunCounters::default(), facts }]);
        let text = page.text();
        let value = |line: &str| text.lines().find_map(|l| l.strip_prefix(line)).unwrap().trim().to_owned();
        let bucket = "orb_stage_duration_seconds_bucket{project=\"p\",stage=\"read\",le=";
        assert_eq!(value(&format!("{bucket}\"0.000064\"}}")), "1");
        assert_eq!(value(&format!("{bucket}\"0.000256\"}}")), "2");
        assert_eq!(value(&format!("{bucket}\"268.435456\"}}")), "3");
        assert_eq!(value(&format!("{bucket}\"+Inf\"}}")), "4");
        assert_eq!(value("orb_stage_duration_seconds_count{project=\"p\",stage=\"read\"}"), "4");
    }
}
