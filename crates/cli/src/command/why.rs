//! `orb status PROJECT --why`: where does the time go, who waits for what, and what would make it
//! faster?

use crate::failure::CommandFailure;
use crate::out;
use orb_crawl::{Advice, Breakdown, SpeedFacts};
use orb_page::Moment;
use orb_store::{ProjectDir, RunRecord};
use serde::Serialize;
use std::io::{self, Write};

/// Facts of a running crawl that are older than this many seconds are called old.
const STALE: f64 = 5.0;

/// What is shown about a run's speed.
#[derive(Serialize)]
pub(crate) struct SpeedReport {
    project: String,
    run: u32,
    state: String,
    /// Seconds since the facts were recorded.
    age: f64,
    seconds: f64,
    pages_per_second: f64,
    now: RecentSpeed,
    timing: Breakdown,
    recent: Breakdown,
    bounds: orb_crawl::Bounds,
    sockets: orb_crawl::Sockets,
    in_flight: u64,
    queued: u64,
    known: u64,
    resident: Option<u64>,
    waiting: Vec<orb_crawl::WaitingHosts>,
    hosts: Vec<QueuedHost>,
    slowest: Vec<orb_crawl::SlowHost>,
    pause: Option<String>,
    /// What the schedule says at this hour, if one of its rows applies.
    schedule: Option<String>,
    advice: Vec<Advice>,
}

/// Its recent speed.
#[derive(Serialize)]
struct RecentSpeed {
    seconds: f64,
    pages_per_second: f64,
    bytes_per_second: f64,
    /// Requests per second that politeness allows; `None` if it does not bound them.
    allowed_per_second: Option<f64>,
    cpu_share: f64,
    /// The same for all processes of the machine together, if known.
    machine_share: Option<f64>,
    reading_share: f64,
}

/// A host with a long queue.
#[derive(Serialize)]
struct QueuedHost {
    host: String,
    queued: u64,
    why: String,
    until: Option<String>,
}

impl SpeedReport {
    /// What is known about a run; `state` comes from the lock, which is more reliable than what the
    /// run itself recorded.
    pub(crate) fn of(project: &ProjectDir, run: &RunRecord, state: &str) -> Result<Self, CommandFailure> {
        let Some(facts) = SpeedFacts::read(project, run.id) else {
            let why = format!(
                "nothing is known about the speed of run {} of {}: it wrote nothing down",
                run.id.0, project.name
            );
            return Err(CommandFailure::Failed(anyhow::anyhow!(why)));
        };
        Ok(Self::new(project.name.clone(), state.to_owned(), facts))
    }

    #[expect(clippy::cast_precision_loss, reason = "shares for people")]
    fn new(project: String, state: String, facts: SpeedFacts) -> Self {
        let (recent, cores, workers) = (&facts.recent, facts.bounds.cores.max(1), facts.bounds.workers.max(1));
        let reading = recent.tally.stage(orb_crawl::Stage::Read).seconds();
        let now = RecentSpeed {
            seconds: recent.seconds,
            pages_per_second: recent.page_rate(),
            bytes_per_second: recent.byte_rate(),
            allowed_per_second: facts.allowed,
            cpu_share: recent.share(recent.cpu_seconds) / cores as f64,
            machine_share: recent.load_share(),
            reading_share: recent.share(reading) / workers as f64,
        };
        Self {
            project,
            run: facts.run,
            state,
            age: Moment::now().since(facts.at).as_secs_f64(),
            seconds: facts.whole.seconds,
            pages_per_second: facts.whole.page_rate(),
            now,
            timing: facts.whole.breakdown(),
            recent: recent.breakdown(),
            advice: facts.advice(),
            bounds: facts.bounds,
            sockets: facts.sockets,
            in_flight: facts.in_flight,
            queued: facts.queued,
            known: facts.known,
            resident: facts.resident,
            waiting: facts.waiting,
            hosts: facts.hosts.into_iter().map(QueuedHost::from).collect(),
            slowest: facts.slowest,
            pause: facts.pause,
            schedule: facts.schedule,
        }
    }

    /// Prints it for people.
    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        self.print_head(out)?;
        writeln!(out, "\nwhat takes the time, and what would help")?;
        for advice in &self.advice {
            writeln!(out, "- {}", advice.text)?;
        }
        writeln!(out, "\nwhere the time goes")?;
        stages(out, &self.timing)?;
        self.print_waits(out)?;
        self.print_hosts(out)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate that is shown")]
    fn print_head(&self, out: &mut impl Write) -> io::Result<()> {
        let age = match (self.state.as_str(), self.age) {
            (SpeedFacts::RUNNING, age) if age < STALE => String::new(),
            (SpeedFacts::RUNNING, age) => {
                format!(", as it was {} ago: nothing could be written down since", out::seconds(age))
            }
            (_, age) => format!(", {} ago", out::seconds(age)),
        };
        writeln!(out, "project {}, run {}: {}{age}", self.project, self.run, self.state)?;
        let n = &self.now;
        let allowed = match n.allowed_per_second {
            _ if self.state != SpeedFacts::RUNNING => String::new(),
            Some(rate) => format!("; politeness allows {rate:.1} requests/s at present"),
            None => "; politeness sets no bound".to_owned(),
        };
        writeln!(
            out,
            "{:.1} pages/s over {}; {:.1} pages/s and {}/s over the last {}{allowed}",
            self.pages_per_second,
            out::seconds(self.seconds),
            n.pages_per_second,
            out::bytes(n.bytes_per_second as u64),
            out::seconds(n.seconds),
        )?;
        writeln!(
            out,
            "processor {:.0} % of {} cores{}; {} reading threads {:.0} % busy; {} of {} connections open ({} idle, {} closing), {} requests under way; memory {}",
            n.cpu_share * 100.0,
            self.bounds.cores,
            n.machine_share.map_or_else(String::new, |all| format!(" ({:.0} % with all other programs)", all * 100.0)),
            self.bounds.workers,
            n.reading_share * 100.0,
            self.sockets.open,
            self.bounds.connections,
            self.sockets.idle,
            self.sockets.closing,
            self.in_flight,
            self.resident.map_or_else(|| "?".to_owned(), out::bytes),
        )?;
        self.schedule.iter().try_for_each(|words| writeln!(out, "{words}"))
    }

    fn print_waits(&self, out: &mut impl Write) -> io::Result<()> {
        let told: Vec<_> = self.timing.idle.iter().filter(|i| i.share >= 0.001).collect();
        if told.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nwhat kept the next request from being sent")?;
        let row = |i: &orb_crawl::IdleTime| vec![i.why.to_owned(), out::seconds(i.seconds), percent(i.share)];
        let rows: Vec<_> = told.into_iter().map(row).collect();
        out::table(out, &["for", "time", "share"], &rows)
    }

    fn print_hosts(&self, out: &mut impl Write) -> io::Result<()> {
        if !self.waiting.is_empty() {
            writeln!(out, "\nhosts in memory that wait")?;
            let row = |h: &orb_crawl::WaitingHosts| vec![out::grouped(h.hosts), h.why.clone(), h.example.clone()];
            out::table(out, &["hosts", "why", "such as"], &self.waiting.iter().map(row).collect::<Vec<_>>())?;
        }
        if !self.hosts.is_empty() {
            writeln!(out, "\nhosts with the longest queues")?;
            let row = |h: &QueuedHost| {
                let until = h.until.as_deref().map_or(String::new(), |t| t.replace('T', " ").replace('Z', ""));
                vec![h.host.clone(), out::grouped(h.queued), h.why.clone(), until]
            };
            let rows: Vec<_> = self.hosts.iter().map(row).collect();
            out::table(out, &["host", "queued", "why", "until (UTC)"], &rows)?;
        }
        Ok(())
    }
}

impl From<orb_crawl::HostWait> for QueuedHost {
    fn from(wait: orb_crawl::HostWait) -> Self {
        Self { host: wait.host, queued: wait.queued, why: wait.why, until: wait.until.map(|at| at.to_string()) }
    }
}

fn stages(out: &mut impl Write, timing: &Breakdown) -> io::Result<()> {
    let row = |s: &orb_crawl::StageTime| {
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
