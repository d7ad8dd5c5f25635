//! `orb project`: how are projects listed, created, shown, changed, acknowledged and removed?

pub(crate) mod ack;
mod edit;
pub(crate) mod new;

use super::with_home;
use crate::args::{Common, ListingArgs, ProjectCommand, ProjectCommandArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_project::{Home, Settings, settings_text};
use std::io::{BufRead as _, IsTerminal as _, Write as _};

pub(crate) fn run(common: &Common, args: &ProjectCommandArgs) -> Result<(), CommandFailure> {
    let look = || Home::look(&common.home);
    match &args.what {
        ProjectCommand::List(listing) => list(common, &look()?, listing),
        ProjectCommand::New(args) => with_home(common, |home| new::run(common, home, args)),
        ProjectCommand::Ack(args) => ack::run(common, &look()?, args),
        ProjectCommand::Edit { project } => edit::run(common, &look()?, project),
        ProjectCommand::Show { project } => show(common, &look()?, project),
        ProjectCommand::Remove { project, yes } => remove(common, &look()?, project, *yes),
    }
}

fn list(common: &Common, home: &Home, listing: &ListingArgs) -> Result<(), CommandFailure> {
    let projects = orb_answers::projects(home, listing.window(u64::MAX))?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &projects)?;
    } else {
        for listed in projects {
            writeln!(stdout, "{}", listed.project)?;
        }
    }
    Ok(stdout.flush()?)
}

fn show(common: &Common, home: &Home, name: &str) -> Result<(), CommandFailure> {
    let project = home.find(name)?;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &Settings::read(&project.settings())?)?;
    } else {
        stdout.write_all(settings_text(&project)?.as_bytes())?;
    }
    Ok(stdout.flush()?)
}

fn remove(common: &Common, home: &Home, name: &str, yes: bool) -> Result<(), CommandFailure> {
    let project = home.find(name)?;
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(CommandFailure::Usage(format!(
                "pass --yes to remove project {name} with everything it collected"
            )));
        }
        let mut stderr = std::io::stderr();
        write!(stderr, "Remove project {name} with everything in {}? [y/N] ", project.dir.display())?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !answer.trim().eq_ignore_ascii_case("y") {
            return Err(CommandFailure::Failed(anyhow::anyhow!("nothing was removed")));
        }
    }
    home.remove(name)?;
    if !common.quiet && !common.json {
        let mut stdout = out::stdout();
        writeln!(stdout, "removed project {name}")?;
        stdout.flush()?;
    }
    Ok(())
}
