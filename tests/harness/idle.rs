//! Was a worker idle while a host of its own was due?
//!
//! Judged by what the servers saw. A host is due from the moment its delay is over, if it has pages
//! that its worker knows of, until it is asked. Who asks nobody meanwhile is idle.

use orb_testweb::LoggedRequest;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Shorter silences are none.
const NOTICED: Duration = Duration::from_millis(500);

/// When hosts are due.
pub(crate) struct Manners {
    /// How long a host is left alone after a request.
    pub(crate) delay: Duration,
    /// How long after the first page of a host, by which all others are found, they can be asked
    /// for.
    pub(crate) known: Duration,
}

/// From when to when.
type Span = (Instant, Instant);

/// The longest time for which each of these workers asked for nothing although a host of its own
/// was due all along. The requests are in the order of their arrival, and each host has an address
/// of its own.
pub(crate) fn longest_idle(
    requests: &[LoggedRequest],
    workers: &[IpAddr],
    manners: &Manners,
) -> BTreeMap<IpAddr, Duration> {
    let (due, ends) = (due(requests, manners), (requests[0].at, requests[requests.len() - 1].at));
    let idle = |worker: &IpAddr| {
        let asked = requests.iter().filter(|request| request.peer == *worker).map(|request| request.at);
        let times: Vec<Instant> = std::iter::once(ends.0).chain(asked).chain([ends.1]).collect();
        let silences = times.windows(2).map(|pair| (pair[0], pair[1]));
        let of_its_own = due.get(worker).map_or(&[][..], Vec::as_slice);
        let long: Vec<Span> = silences.filter(|silence| silence.1 - silence.0 > NOTICED).collect();
        let both = long.iter().flat_map(|silence| of_its_own.iter().map(move |span| overlap(*silence, *span)));
        both.max().unwrap_or_default()
    };
    workers.iter().map(|worker| (*worker, idle(worker))).collect()
}

/// When the hosts of each worker were due: a host is whose who asked it in the end.
fn due(requests: &[LoggedRequest], manners: &Manners) -> BTreeMap<IpAddr, Vec<Span>> {
    let mut of_hosts: BTreeMap<IpAddr, Vec<&LoggedRequest>> = BTreeMap::new();
    requests.iter().for_each(|request| of_hosts.entry(request.local).or_default().push(request));
    let mut spans: BTreeMap<IpAddr, Vec<Span>> = BTreeMap::new();
    for asked in of_hosts.values() {
        // The first is for robots.txt, the second for the first page.
        for (number, pair) in asked.windows(2).enumerate() {
            let free = pair[0].at + manners.delay;
            let from = if number == 0 { free } else { free.max(asked[1].at + manners.known) };
            if from < pair[1].at {
                spans.entry(pair[1].peer).or_default().push((from, pair[1].at));
            }
        }
    }
    spans
}

/// For how long two spans are one.
fn overlap(a: Span, b: Span) -> Duration {
    a.1.min(b.1).saturating_duration_since(a.0.max(b.0))
}
