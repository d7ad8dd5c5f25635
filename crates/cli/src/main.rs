//! The program `orb`: one file a command.
//!
//! Parses the command line, does what it says through the other crates, prints, and exits: 0 done;
//! 1 failed, with the reason in one line; 2 wrong usage; 3 there are changes and --fail-on-change
//! was given; 130 stopped by the user with everything saved. The only crate that reads the
//! environment, prints or exits.

mod args;
mod command;
mod failure;
mod live;
mod meter;
mod out;
#[cfg(test)]
mod reference;
mod signals;

use args::{Cli, Command};
use failure::CommandFailure;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(answered) = command::answer_ssh::answer() {
        return answered;
    }
    let cli = Cli::read();
    command::read_aside::install();
    keep_quiet_about_what_is_caught();
    if cli.common.verbose {
        // Fails only if a subscriber is already set, and nobody else sets one.
        let _ = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false).compact().try_init();
    }
    // Fault injection, for the tests.
    if let Err(why) = orb_crawl::arm_fault(|name| std::env::var(name).ok()) {
        return CommandFailure::Usage(why).report();
    }
    orb_crawl::reach_s3(args::s3_options());
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// A damaged text index is reported in one line by the question that met it: the panic by which its
/// engine noticed is not printed.
fn keep_quiet_about_what_is_caught() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !orb_answers::expects_panic() {
            told(panic);
        }
    }));
}

fn run(cli: &Cli) -> Result<(), CommandFailure> {
    let common = &cli.common;
    match &cli.command {
        Command::Crawl(a) => command::crawl::run(common, a),
        Command::Track(a) => command::track::run(common, a),
        Command::RunDue(a) => command::run_due::run(common, a),
        Command::Pull(a) => command::pull::run(common, a),
        Command::Worker(a) => command::worker::run(common, a),
        Command::Store(a) => command::store::run(common, a),
        Command::Status(a) => command::status::run(common, a),
        Command::Stats(a) => command::stats::run(common, a),
        Command::Report(a) => command::report::run(common, a),
        Command::Changes(a) => command::changes::run(common, a),
        Command::Deliver(a) => command::deliver::run(common, a),
        Command::Show(a) => command::show::run(common, a),
        Command::Cat(a) => command::cat::run(common, a),
        Command::Diff(a) => command::diff::run(common, a),
        Command::Links(a) => command::links::run(common, a),
        Command::Top(a) => command::top::run(common, a),
        Command::Graph(a) => command::graph::run(common, a),
        Command::Search(a) => command::search::run(common, a),
        Command::Words(a) => command::words::run(common, a),
        Command::Index(a) => command::index::run(common, a),
        Command::Health(a) => command::health::run(common, a),
        Command::Sql(a) => command::sql::run(common, a),
        Command::Export(a) => command::export::run(common, a),
        Command::Check(a) => command::check::run(common, a),
        Command::Plan(a) => command::plan::run(common, a),
        Command::Intake(a) => command::intake::run(common, a),
        Command::Inspect(a) => command::inspect::run(common, a),
        Command::Project(a) => command::project::run(common, a),
        Command::User(a) => command::user::run(common, a),
        Command::Serve(a) => command::serve::run(common, a),
        Command::Mcp(a) => command::mcp::run(common, a),
        Command::Demo(a) => command::demo::run(common, a),
        Command::Browser(a) => command::browser::run(a),
        Command::ReadAside(a) => command::read_aside::run(a),
    }
}
