//! How is a crawl described in Prometheus' terms?
//!
//! Counters count what this process did, except for pages, links and images, which count the run.

use orb_answers::RunCounters;
use orb_crawl::{Progress, Snapshot, Stage, Tally, machine};
use orb_serve::Exposition;

/// Upper bounds of the histograms' buckets in microseconds: powers of four, which coincide with
/// bounds of our own buckets.
const BOUNDS: [u64; 12] =
    [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864, 268_435_456];

/// Everything there is to tell.
pub(crate) fn page(project: &str, progress: &Progress) -> String {
    let (now, tally) = (progress.snapshot(), progress.ledger().tally());
    let mut page = Exposition::default();
    let version = env!("CARGO_PKG_VERSION");
    page.family("orb_build_info", "gauge", "The program that crawls, and the project.");
    page.sample("orb_build_info", &[("project", project), ("version", version)], 1);
    counted(&mut page, &now.counters);
    fetched(&mut page, &now);
    waiting(&mut page, &now);
    timed(&mut page, &tally);
    used(&mut page);
    page.text()
}

/// What the run has recorded.
fn counted(page: &mut Exposition, run: &RunCounters) {
    page.family("orb_pages_total", "counter", "Pages recorded by this run, by kind.");
    let kinds = [
        ("html", run.html),
        ("binary", run.binary),
        ("duplicate", run.duplicates),
        ("redirect", run.redirects),
        ("disallowed", run.disallowed),
        ("error", run.errors),
    ];
    for (kind, count) in kinds {
        page.sample("orb_pages_total", &[("kind", kind)], count);
    }
    page.alone("orb_links_total", "counter", "Links recorded by this run.", run.links);
    page.alone("orb_images_total", "counter", "Images recorded by this run.", run.images);
    page.alone("orb_hosts_fetched_total", "counter", "Hosts of which this run fetched a page.", run.hosts);
}

/// What this process has requested.
fn fetched(page: &mut Exposition, now: &Snapshot) {
    page.alone("orb_responses_total", "counter", "Answers received.", now.fetched);
    page.alone("orb_received_bytes_total", "counter", "Bytes of bodies received, as transferred.", now.bytes);
    page.family("orb_fetch_errors_total", "counter", "Fetches that failed or were answered with an error, by kind.");
    for (kind, count) in &now.failures {
        page.sample("orb_fetch_errors_total", &[("kind", kind)], count);
    }
    page.alone("orb_requests_in_flight", "gauge", "Requests under way.", now.active);
    page.alone("orb_queued_pages", "gauge", "Pages queued at the last commit.", now.queued);
    page.alone("orb_known_urls", "gauge", "URLs known at the last commit.", now.known);
}

/// Why hosts wait.
fn waiting(page: &mut Exposition, now: &Snapshot) {
    page.alone("orb_hosts_active", "gauge", "Hosts with a request under way.", now.waiting.active);
    page.family("orb_hosts_waiting", "gauge", "Hosts in memory that wait, by reason.");
    for (why, hosts, _) in &now.waiting.reasons {
        page.sample("orb_hosts_waiting", &[("reason", why)], hosts);
    }
    page.alone("orb_paused", "gauge", "Whether the run waits as a whole.", u8::from(now.pause.is_some()));
    let Some(facts) = &now.facts else { return };
    page.family("orb_connections", "gauge", "Connections, by state.");
    let sockets = facts.sockets;
    let used = sockets.open.saturating_sub(sockets.idle).saturating_sub(sockets.closing);
    for (state, count) in [("used", used), ("idle", sockets.idle), ("closing", sockets.closing)] {
        page.sample("orb_connections", &[("state", state)], count);
    }
    page.alone("orb_connections_limit", "gauge", "Connections allowed at once.", facts.bounds.connections);
    page.alone("orb_connection_waiters", "gauge", "Requests that wait for a connection.", sockets.waiting);
    let allowed = facts.allowed.map_or_else(|| "+Inf".to_owned(), |rate| format!("{rate:.3}"));
    page.alone("orb_allowed_requests_per_second", "gauge", "The rate that politeness allows at present.", allowed);
    if let Some(limit) = facts.bounds.bandwidth {
        page.alone("orb_bandwidth_limit_bytes_per_second", "gauge", "Bytes a second allowed.", limit);
    }
}

/// Where the time goes.
fn timed(page: &mut Exposition, tally: &Tally) {
    page.family("orb_idle_seconds_total", "counter", "Time in which nothing more could be asked for, by reason.");
    for why in orb_crawl::Idle::ALL {
        page.sample("orb_idle_seconds_total", &[("reason", why.name())], tally.idle(*why));
    }
    const STAGE: &str = "orb_stage_duration_seconds";
    page.family(
        STAGE,
        "histogram",
        "How long the stages of a page's life take; archive, catalogue and index are a commit's.",
    );
    let (bucket, sum, count) = (format!("{STAGE}_bucket"), format!("{STAGE}_sum"), format!("{STAGE}_count"));
    for stage in Stage::ALL {
        let (name, spread) = (stage.name(), tally.stage(*stage));
        for bound in BOUNDS {
            #[expect(clippy::cast_precision_loss, reason = "small powers of two")]
            let le = (bound as f64 / 1e6).to_string();
            page.sample(&bucket, &[("stage", name), ("le", &le)], spread.below(bound));
        }
        page.sample(&bucket, &[("stage", name), ("le", "+Inf")], spread.count);
        page.sample(&sum, &[("stage", name)], spread.seconds());
        page.sample(&count, &[("stage", name)], spread.count);
    }
}

/// Its resource usage, under the conventional names of exporters.
fn used(page: &mut Exposition) {
    page.alone("process_cpu_seconds_total", "counter", "Processor time used.", machine::cpu_seconds());
    if let Some(bytes) = machine::resident() {
        page.alone("process_resident_memory_bytes", "gauge", "Memory in use.", bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_cumulative_and_ends_with_its_count() {
        let progress = Progress::default();
        [50, 70, 2_000, 9_000_000_000].iter().for_each(|us| {
            progress.ledger().note(Stage::Read, std::time::Duration::from_micros(*us));
        });
        let text = page("p", &progress);
        let value = |line: &str| text.lines().find_map(|l| l.strip_prefix(line)).unwrap().trim().to_owned();
        assert_eq!(value("orb_stage_duration_seconds_bucket{stage=\"read\",le=\"0.000064\"}"), "1");
        assert_eq!(value("orb_stage_duration_seconds_bucket{stage=\"read\",le=\"0.000256\"}"), "2");
        assert_eq!(value("orb_stage_duration_seconds_bucket{stage=\"read\",le=\"268.435456\"}"), "3");
        assert_eq!(value("orb_stage_duration_seconds_bucket{stage=\"read\",le=\"+Inf\"}"), "4");
        assert_eq!(value("orb_stage_duration_seconds_count{stage=\"read\"}"), "4");
    }
}
