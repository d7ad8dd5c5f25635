//! Which waits are due to the servers, and what would shorten them?

use super::advice::{Advice, NOTABLE, answer_time, duration, flag, hosts, percent, such_as};
use super::facts::{SpeedFacts, Stretch};
use super::resources::is_bandwidth_used;
use crate::watch::ledger::Idle;
use orb_frontier::Why;

/// A slower response counts as slow.
const SLOW: f64 = 1.0;

/// Reasons for which a host waits longer than its delay.
const RESTING: &[(Why, &str)] = &[
    (Why::RobotsUnreachable, "with a robots.txt that cannot be read"),
    (Why::Silent, "not answering"),
    (Why::LongWait, "wanting a longer break than this run"),
    (Why::BackOff, "backing off after errors"),
    (Why::RetryAfter, "having asked us to come back later"),
    (Why::Unreachable, "unreachable"),
];

/// The delay between two requests to a host.
pub(super) fn delay(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let share = time.idle_share(Idle::Delay);
    if share < NOTABLE {
        return None;
    }
    let (waiting, _) = facts.held(&[Why::Delay, Why::Ready, Why::InFlight, Why::Address]);
    let known = if facts.state == SpeedFacts::RUNNING { waiting + facts.hosts_active } else { 0 };
    let asked = hosts(if known > 0 { known } else { facts.hosts_fetched.max(1) });
    let (delay, answer) = (facts.bounds.delay, answer_time(time));
    let shorter = delay / 5.0;
    let help = if shorter >= answer && shorter >= 0.001 {
        format!("--delay {} or more hosts would help", flag(shorter))
    } else {
        "more hosts would help".to_owned()
    };
    Some(Advice {
        rule: "delay",
        share,
        phrase: format!("waiting for the delay of {asked}"),
        text: format!(
            "{} of the time is waiting for the delay of {} of {asked}; {help} (an answer takes {})",
            percent(share),
            duration(delay),
            duration(answer)
        ),
    })
}

/// The Crawl-delay of robots.txt.
pub(super) fn crawl_delay(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let share = time.idle_share(Idle::CrawlDelay);
    let (n, example) = such_as(facts, &[Why::CrawlDelay]);
    (share >= NOTABLE).then(|| Advice {
        rule: "crawl-delay",
        share,
        phrase: format!("waiting for the Crawl-delay of {}", hosts(n.max(1))),
        text: format!(
            "{} of the time is waiting for the Crawl-delay that robots.txt of {}{example} asks for; more hosts would help, or a lower frontier.max_crawl_delay where the sites are your own",
            percent(share),
            hosts(n.max(1))
        ),
    })
}

/// An address that several hosts share.
pub(super) fn address(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let share = time.idle_share(Idle::Address);
    let (n, example) = such_as(facts, &[Why::Address]);
    (share >= NOTABLE).then(|| Advice {
        rule: "address",
        share,
        phrase: "waiting for addresses that hosts share".to_owned(),
        text: format!(
            "{} of the time is waiting for addresses that several hosts share{}; the delay of {} is owed to the machine, so hosts on other addresses or a shorter --delay would help",
            percent(share),
            if n > 0 { format!(", {} at present{example}", hosts(n)) } else { String::new() },
            duration(facts.bounds.delay)
        ),
    })
}

/// Servers with as many requests as they take.
pub(super) fn answers(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let share = time.idle_share(Idle::Answers);
    if share < NOTABLE || is_bandwidth_used(facts, time) {
        return None;
    }
    let (answer, per_host) = (duration(answer_time(time)), facts.bounds.per_host);
    let help = if facts.bounds.delay > 0.0 {
        "more hosts would help".to_owned()
    } else {
        format!(
            "more than {per_host} requests to a host at once (--per-host {}) or more hosts would help",
            per_host * 2
        )
    };
    Some(Advice {
        rule: "answers",
        share,
        phrase: format!("waiting for the servers ({answer} an answer)"),
        text: format!(
            "{} of the time is waiting for servers to answer, which takes {answer}: every host with pages has as many requests under way as it may; {help}",
            percent(share)
        ),
    })
}

/// A server that takes seconds.
pub(super) fn slow_server(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let slow = facts.slowest.first().filter(|s| s.mean >= SLOW)?;
    let share = time.idle_share(Idle::Slow) + time.idle_share(Idle::Answers);
    if share < 0.05 || is_bandwidth_used(facts, time) {
        return None;
    }
    Some(Advice {
        rule: "slow-server",
        share,
        phrase: format!("slow server {}", slow.host),
        text: format!(
            "slow server {}: {} for an answer on average ({} so far), and it is given as long a rest; nothing here makes it faster, but other hosts are not held up by it",
            slow.host,
            duration(slow.mean),
            slow.answers
        ),
    })
}

/// Hosts in back-off after refusals and failures.
pub(super) fn resting(facts: &SpeedFacts, time: &Stretch) -> Option<Advice> {
    let resting: Vec<String> = RESTING
        .iter()
        .filter_map(|(why, words)| {
            let (n, example) = such_as(facts, &[*why]);
            (n > 0).then(|| format!("{n} {words}{example}"))
        })
        .collect();
    let waited = time.idle_share(Idle::BackOff) + time.idle_share(Idle::RetryAfter);
    if resting.is_empty() && waited < NOTABLE {
        return None;
    }
    let (n, _) = facts.held(&RESTING.iter().map(|(why, _)| *why).collect::<Vec<_>>());
    let list = if resting.is_empty() { String::new() } else { format!(": {}", resting.join(", ")) };
    let text = if waited >= NOTABLE {
        format!("{} of the time is waiting for hosts that refused or failed{list}", percent(waited))
    } else {
        let verb = if n == 1 { "is" } else { "are" };
        format!("{} {verb} left alone at present{list}; the pages stay queued", hosts(n))
    };
    // Those that were waited for may be ready again.
    let phrase = match n {
        0 => "waiting for hosts that refused or failed".to_owned(),
        n => format!("{} left alone", hosts(n)),
    };
    Some(Advice { rule: "resting", share: waited.max(0.01), phrase, text })
}
