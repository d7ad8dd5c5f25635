//! What takes too long for every change, and must hold all the same?
//!
//! The crash tests, repeated many times: processes killed at random moments under load, every file
//! torn in every way, a crash at every step; the protocol of many machines, simulated; and, where
//! the corpus lies beside the project, every document of it, whole, cut off and damaged. `--kills
//! N` and `--rounds N` set the repetitions; a failure names the home, the point or the file.

use crate::quality::corpus;
use crate::simulate::{NIGHT, protocol};
use crate::steps::{cargo, cargo_with, step};
use anyhow::{Context, Result, bail};

/// Runs them all; the first failure ends it.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut kills, mut rounds) = (200, 3);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let place = match arg.as_str() {
            "--kills" => &mut kills,
            "--rounds" => &mut rounds,
            other => bail!("{other} is neither --kills nor --rounds"),
        };
        let value = args.next().with_context(|| format!("{arg} needs a number"))?;
        *place = value.parse::<u32>().with_context(|| format!("{arg} needs a number, not {value}"))?;
    }
    let test_with = |kills: u32, name: &str, only: &[&str]| {
        let environment = [
            ("ORB_KILLS", kills.to_string()),
            ("ORB_ROUNDS", rounds.to_string()),
            ("ORB_RESTARTS", "10".to_owned()),
            ("ORB_AWAY", "60".to_owned()),
            ("ORB_LOST", "100".to_owned()),
            ("ORB_SILENCES", "100".to_owned()),
            ("ORB_SHARED", "20".to_owned()),
            ("ORB_HOT", "50000".to_owned()),
        ];
        let args = [&["test", "--workspace", "--test", name, "--", "--nocapture"], only].concat();
        cargo_with(&args, &environment)
    };
    let test = |name: &str, only: &str| test_with(kills, name, &[only]);
    // What they tell of times is of machines that do nothing else.
    let alone = |kills: u32, name: &str| test_with(kills, name, &["--test-threads=1"]);
    let fewer = kills.min(50);
    step("build", || cargo_with(&["test", "--workspace", "--no-run"], &[]))?;
    step(&format!("{kills} processes killed at random moments"), || test("resume", "killed_at_any_moment"))?;
    step(&format!("every file torn, {rounds} times"), || test("torn", ""))?;
    step("every step broken off, every step on a failing disk", || test("faults", ""))?;
    step("disks that are full, for real", || test("full_disk", ""))?;
    step("politeness across restarts", || test("patience", ""))?;
    step(&format!("{fewer} workers killed, addresses shared, two hot hosts"), || alone(fewer, "many_machines"))?;
    step("stores that crash, lines that break, workers killed between object and commit", || {
        alone(fewer, "many_machines_broken")
    })?;
    step(&format!("{NIGHT} histories of many machines"), || protocol(NIGHT, 0))?;
    let Some(documents) = corpus().map(|corpus| corpus.join("documents")).filter(|place| place.is_dir()) else {
        println!("skipped: damaged documents: there is no corpus beside the project");
        return Ok(());
    };
    let documents = documents.display().to_string();
    let survive = ["run", "--release", "--quiet", "-p", "orb-aside", "--example", "survive", "--", &documents];
    step("documents, whole, cut off and damaged", || cargo(&survive))
}
