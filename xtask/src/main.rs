//! What is done to the project, rather than by it?
//!
//! `setup` installs what tests need, `test` runs everything a change must pass, `tidy` formats and
//! measures the sources, `fuzz` feeds the parsers nonsense, `nightly` crashes the crawler, `bench`
//! measures the crawler, `quality` its answers, `profile` shows where its time goes, `simulate`
//! plays what a hundred machines would do and what can fail between a few. Each is one file; each
//! step is printed with its duration.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

mod bench;
mod fuzz;
mod judges;
mod nightly;
mod packages;
mod profile;
mod quality;
mod shape;
mod simulate;
mod steps;
mod test;
mod tidy;

use std::process::ExitCode;

/// A command: its name, what it does, and its function.
type Task = (&'static str, &'static str, fn(&[String]) -> anyhow::Result<()>);

const TASKS: &[Task] = &[
    ("setup", "install what the tests need: Debian packages and Python judges", |_| test::setup()),
    ("test", "set up, then check formatting, lints and shape, and run every test", |_| test::run()),
    ("tidy", "format the sources and say where they have grown too large", |_| tidy::run()),
    ("fuzz", "drive the parsers of foreign bytes with libFuzzer (--seconds N, target…)", fuzz::run_targets),
    ("nightly", "kill, tear and break far more often than the tests do (--kills N --rounds N)", nightly::run),
    (
        "bench",
        "measure the crawler (--only PART,… --tools TOOL,… --webs WEB,… --pages N --rounds N --slow --orb PATH --against PATH)",
        bench::run,
    ),
    (
        "quality",
        "how good main content, Markdown, documents and search are; fails below a target (--only PART,… --corpus PATH --worst N --learn --shipped)",
        quality::run,
    ),
    (
        "simulate",
        "a thousand million pages (scale --hosts N --seed N), or all that can fail (protocol --seeds N --seed N)",
        simulate::run,
    ),
    ("profile", "where each microsecond of a page goes (--web WEB --pages N)", profile::profile),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (wanted, rest) = args.split_first().map_or(("", &[][..]), |(wanted, rest)| (wanted.as_str(), rest));
    let Some((_, _, task)) = TASKS.iter().find(|(name, _, _)| *name == wanted) else {
        eprintln!("usage: cargo xtask <task>");
        for (name, what, _) in TASKS {
            eprintln!("  {name:<8} {what}");
        }
        return ExitCode::from(2);
    };
    match task(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {wanted}: {error:#}");
            ExitCode::from(steps::exit_code(&error))
        }
    }
}
