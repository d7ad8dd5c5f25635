//! `orb worker`: how does a machine work on projects that several share?

use crate::args::{Common, StoreArgs};
use crate::failure::{CommandFailure, complain};
use crate::signals;
use clap::Args;
use orb_crawl::{ClusterWorker, Progress, SharedAddress, Stop};
use orb_project::units::HumanDuration;
use std::net::IpAddr;
use std::sync::Arc;

/// `orb worker`.
#[derive(Debug, Args)]
#[command(mut_arg("name", |arg| arg.long("name").alias("worker-name")))]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    /// Work on this project alone
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    #[command(flatten)]
    pub(crate) part: WorkerPart,
}

/// What a worker is.
#[derive(Debug, Args)]
pub(crate) struct WorkerPart {
    /// The worker's name [default: the machine's]
    #[arg(long = "worker-name", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The machine's name, for projects that name theirs [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Option<String>,
    /// How much it takes on, compared with others
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) weight: u32,
    /// The address of this machine that connections come from
    #[arg(long, value_name = "ADDR")]
    pub(crate) source: Option<IpAddr>,
    /// Time without a sign of life after which the others take a worker for dead
    #[arg(long, value_name = "DUR", default_value = "15s")]
    pub(crate) lease: HumanDuration,
    /// Time for which a worker has an address to itself
    #[arg(long, value_name = "DUR", default_value = "30s")]
    pub(crate) slice: HumanDuration,
}

pub(crate) fn run(common: &Common, args: &WorkerArgs) -> Result<(), CommandFailure> {
    let Some(at) = args.place.address(true)? else { return Ok(()) };
    let worker = worker(common, at, &args.part);
    let _listening = signals::watch(Arc::clone(&worker.stop))?;
    worker.work(args.project.as_deref())?;
    Ok(())
}

/// This machine as a worker.
pub(crate) fn worker(common: &Common, at: SharedAddress, part: &WorkerPart) -> ClusterWorker {
    let told = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = || told().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or("worker".into());
    let machine = part.machine.clone().unwrap_or_else(host);
    let name = part.name.clone().unwrap_or_else(|| machine.clone());
    ClusterWorker {
        at,
        scratch: common.home.join("workers").join(&name),
        name,
        machine,
        weight: part.weight,
        lease: part.lease.0,
        slice: part.slice.0,
        source: part.source,
        stop: Stop::new(),
        progress: Arc::new(Progress::default()),
        variable: |name| std::env::var(name).ok(),
        say: if common.quiet { |_| () } else { complain },
    }
}
