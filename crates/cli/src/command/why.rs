//! `orb status PROJECT --why`: where does the time go, who waits for what, and what would make it
//! faster?

use crate::out;
use orb_crawl::{Breakdown, IdleTime, SpeedAccount, SpeedFacts, StageTime, WaitingHost, WaitingHosts};
use std::io::{self, Write};

/// SpeedFacts of a running crawl that are older than this many seconds are called old.
const STALE: f64 = 5.0;

/// Prints it for people.
pub(crate) fn print(account: &SpeedAccount, out: &mut impl Write) -> io::Result<()> {
    print_head(account, out)?;
    writeln!(out, "\nwhat takes the time, and what would help")?;
    for advice in &account.advice {
        writeln!(out, "- {}", advice.text)?;
    }
    writeln!(out, "\nwhere the time goes")?;
    stages(out, &account.timing)?;
    print_waits(account, out)?;
    print_hosts(account, out)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate that is shown")]
fn print_head(account: &SpeedAccount, out: &mut impl Write) -> io::Result<()> {
    let age = match (account.state.as_str(), account.age) {
        (SpeedFacts::RUNNING, age) if age < STALE => String::new(),
        (SpeedFacts::RUNNING, age) => {
            format!(", as it was {} ago: nothing could be written down since", out::seconds(age))
        }
        (_, age) => format!(", {} ago", out::seconds(age)),
    };
    writeln!(out, "project {}, run {}: {}{age}", account.project, account.run, account.state)?;
    let n = &account.now;
    let allowed = match n.allowed_per_second {
        _ if account.state != SpeedFacts::RUNNING => String::new(),
        Some(rate) => format!("; politeness allows {rate:.1} requests/s at present"),
        None => "; politeness sets no bound".to_owned(),
    };
    writeln!(
        out,
        "{:.1} pages/s over {}; {:.1} pages/s and {}/s over the last {}{allowed}",
        account.pages_per_second,
        out::seconds(account.seconds),
        n.pages_per_second,
        out::bytes(n.bytes_per_second as u64),
        out::seconds(n.seconds),
    )?;
    writeln!(
        out,
        "processor {:.0} % of {} cores{}; {} reading threads {:.0} % busy; {} of {} connections open ({} idle, {} closing), {} requests under way; memory {}",
        n.cpu_share * 100.0,
        account.bounds.cores,
        n.machine_share.map_or_else(String::new, |all| format!(" ({:.0} % with all other programs)", all * 100.0)),
        account.bounds.workers,
        n.reading_share * 100.0,
        account.sockets.open,
        account.bounds.connections,
        account.sockets.idle,
        account.sockets.closing,
        account.in_flight,
        account.resident.map_or_else(|| "?".to_owned(), out::bytes),
    )?;
    if let Some(left) = account.eta_seconds {
        let (queued, left) = (out::grouped(account.queued), out::seconds(left));
        writeln!(out, "{queued} pages queued; about {left} left if the queue goes on shrinking as it does")?;
    }
    account.schedule.iter().try_for_each(|words| writeln!(out, "{words}"))
}

fn print_waits(account: &SpeedAccount, out: &mut impl Write) -> io::Result<()> {
    let told: Vec<_> = account.timing.idle.iter().filter(|i| i.share >= 0.001).collect();
    if told.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nwhat kept the next request from being sent")?;
    let row = |i: &IdleTime| vec![i.why.to_owned(), out::seconds(i.seconds), percent(i.share)];
    let rows: Vec<_> = told.into_iter().map(row).collect();
    out::table(out, &["for", "time", "share"], &rows)
}

fn print_hosts(account: &SpeedAccount, out: &mut impl Write) -> io::Result<()> {
    if !account.waiting.is_empty() {
        writeln!(out, "\nhosts in memory that wait")?;
        let row = |h: &WaitingHosts| vec![out::grouped(h.hosts), h.why.clone(), h.example.clone()];
        out::table(out, &["hosts", "why", "such as"], &account.waiting.iter().map(row).collect::<Vec<_>>())?;
    }
    if !account.hosts.is_empty() {
        writeln!(out, "\nhosts with the longest queues")?;
        let row = |h: &WaitingHost| {
            let until = h.until.as_deref().map_or(String::new(), |t| t.replace('T', " ").replace('Z', ""));
            vec![h.host.clone(), out::grouped(h.queued), h.why.clone(), until]
        };
        let rows: Vec<_> = account.hosts.iter().map(row).collect();
        out::table(out, &["host", "queued", "why", "until (UTC)"], &rows)?;
    }
    Ok(())
}

fn stages(out: &mut impl Write, timing: &Breakdown) -> io::Result<()> {
    let row = |s: &StageTime| {
        vec![
            s.stage.to_owned(),
            s.share.map_or_else(|| "-".to_owned(), percent),
            millis(s.median_ms),
            millis(s.mean_ms),
            millis(s.p95_ms),
            out::grouped(s.count),
            s.each.to_owned(),
        ]
    };
    let rows: Vec<_> = timing.stages.iter().map(row).collect();
    out::table(out, &["stage", "busy", "median ms", "mean ms", "95 % ms", "count", "each"], &rows)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn millis(ms: f64) -> String {
    if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.0}") }
}
