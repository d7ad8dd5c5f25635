//! Which waits are our own, or due to the user's limits, and what would lift them?

use super::advice::{Advice, NOTABLE, duration, percent, rate};
use super::facts::{SpeedFacts, Stretch};
use crate::watch::ledger::{Idle, Stage, StageResource};

/// The share of the bandwidth limit from which it counts as exhausted: heads and TLS are counted by
/// the limit and not by us.
const USED_UP: f64 = 0.75;

/// Whether the bandwidth limit is the bottleneck.
pub(super) fn is_bandwidth_used(facts: &SpeedFacts, time: &Stretch) -> bool {
    bandwidth_share(facts, time) >= USED_UP || time.idle_share(Idle::Bandwidth) >= NOTABLE
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn bandwidth_share(facts: &SpeedFacts, time: &Stretch) -> f64 {
    facts.bounds.bandwidth.map_or(0.0, |limit| time.byte_rate() / (limit as f64).max(1.0))
}

/// The bandwidth limit.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
pub(super) fn bandwidth(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let limit = facts.bounds.bandwidth.filter(|_| is_bandwidth_used(facts, time))?;
    let (phrase, help) = match &facts.schedule {
        Some(words) => (words.clone(), format!("{words}, as limits.schedule says")),
        None => {
            (format!("the bandwidth limit of {}", rate(limit as f64)), "a higher --bandwidth would help".to_owned())
        }
    };
    let share = bandwidth_share(facts, time).max(time.idle_share(Idle::Bandwidth)).min(1.0);
    let limit = rate(limit as f64);
    let text =
        format!("the bandwidth limit of {limit} is used up ({} of bodies come in): {help}", rate(time.byte_rate()));
    Some(Advice { rule: "bandwidth", share, phrase, text })
}

/// Hours at which the schedule allows nothing.
pub(super) fn schedule(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let (share, words) = (time.idle_share(Idle::Schedule), facts.schedule.clone()?);
    (share >= NOTABLE).then(|| Advice {
        rule: "schedule",
        share,
        text: format!("{words}: limits.schedule lets nothing be begun at this hour"),
        phrase: words,
    })
}

/// CPU and reading threads.
#[expect(clippy::cast_precision_loss, reason = "shares")]
pub(super) fn processor(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let (cores, workers) = (facts.bounds.cores.max(1), facts.bounds.workers.max(1));
    let used = time.share(time.cpu_seconds) / cores as f64;
    let read = time.tally.stage(Stage::Read);
    let reading = time.share(read.seconds()) / workers as f64;
    let behind = time.idle_share(Idle::Backlog) >= NOTABLE && reading >= commit_share(time);
    if used < 0.7 && reading < 0.8 && !behind {
        return None;
    }
    let work = Stage::ALL.iter().filter(|s| s.part() == StageResource::Work).map(|s| time.tally.stage(*s).seconds());
    let share_of_work = read.seconds() / work.sum::<f64>().max(1e-9);
    let others = time.load_share().map_or(0.0, |all| all - used);
    let threads =
        if workers == 1 { "one reading thread is".to_owned() } else { format!("{workers} reading threads are") };
    Some(Advice {
        rule: "processor",
        share: used.max(reading).min(1.0),
        phrase: if others >= NOTABLE { "the processor, with other programs" } else { "the processor" }.to_owned(),
        text: format!(
            "the processor is the limit: {} of {cores} cores are in use{}, and {threads} busy {} of the time; reading takes {} a page, {} of our own work; {}",
            percent(used),
            if others >= NOTABLE { format!(" and other programs take {}", percent(others)) } else { String::new() },
            percent(reading),
            duration(read.mean()),
            percent(share_of_work),
            match (workers < cores, others >= NOTABLE) {
                (true, _) => format!("--workers {cores} would use all cores"),
                (false, true) => "a machine of its own would help".to_owned(),
                (false, false) => "a faster machine would help, or keeping less (--no-archive, --no-links)".to_owned(),
            }
        ),
    })
}

/// The share of the time in which a commit was in progress.
fn commit_share(time: &Stretch) -> f64 {
    time.share([Stage::Archive, Stage::Catalogue, Stage::Index].iter().map(|s| time.tally.stage(*s).seconds()).sum())
}

/// Slow commits.
pub(super) fn commit(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let steps = [Stage::Archive, Stage::Catalogue, Stage::Index].map(|s| time.tally.stage(s));
    let (archive, catalogue, index) = (steps[0].mean(), steps[1].mean(), steps[2].mean());
    let share = commit_share(time);
    let held_up = time.idle_share(Idle::Backlog) + time.idle_share(Idle::Commit);
    let each = archive + catalogue + index;
    let is_limit = share >= 0.5 && held_up >= 0.1 || share >= 0.8;
    if facts.pause.is_some() || !(is_limit || each >= 0.5 && held_up >= NOTABLE) {
        return None;
    }
    let what = if archive >= catalogue + index { "the disk" } else { "recording" };
    Some(Advice {
        rule: "commit",
        share: share.min(1.0),
        phrase: format!("{what}: {} a commit", duration(each)),
        text: format!(
            "{what} is the limit: a commit takes {} (archive {}, catalogue {}, index {}) and one is under way {} of the time; a faster disk would help",
            duration(each),
            duration(archive),
            duration(catalogue),
            duration(index),
            percent(share)
        ),
    })
}

/// The limit on connections.
pub(super) fn connections(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let share = time.idle_share(Idle::Connections);
    let cap = facts.bounds.connections;
    (share >= NOTABLE && !is_bandwidth_used(facts, time)).then(|| Advice {
        rule: "connections",
        share,
        phrase: format!("all {cap} connections in use"),
        text: format!(
            "{} of the time all {cap} connections are in use: --connections {} would help where the line bears it",
            percent(share),
            cap * 2
        ),
    })
}

/// Slow DNS look-ups.
pub(super) fn names(_: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let dns = time.tally.stage(Stage::Dns);
    let share = time.idle_share(Idle::Names).max(dns.seconds() / network(time));
    (dns.mean() >= 0.1 && share >= 0.1).then(|| Advice {
        rule: "names",
        share: share.min(1.0),
        phrase: format!("looking names up ({} each)", duration(dns.mean())),
        text: format!(
            "looking a name up takes {} ({} look-ups): a nearer or faster name server would help (--dns)",
            duration(dns.mean()),
            dns.count
        ),
    })
}

/// Slow connects.
pub(super) fn handshakes(_: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let (connect, tls) = (time.tally.stage(Stage::Connect), time.tally.stage(Stage::Tls));
    let share = (connect.seconds() + tls.seconds()) / network(time);
    let each = connect.mean() + tls.mean();
    (share >= 0.4 && each >= 0.05).then(|| Advice {
        rule: "handshakes",
        share: share.min(1.0),
        phrase: format!("opening connections ({} each)", duration(each)),
        text: format!(
            "{} of the time on the network goes to opening connections ({} each, TLS {} of it; {} were opened): the servers are far or slow, or let none be used twice; more connections at once (--connections) hide it",
            percent(share),
            duration(each),
            duration(tls.mean()),
            connect.count
        ),
    })
}

/// Seconds of all connections together.
fn network(time: &Stretch) -> f64 {
    let network = Stage::ALL.iter().filter(|s| s.part() == StageResource::Network);
    network.map(|s| time.tally.stage(*s).seconds()).sum::<f64>().max(1e-9)
}
