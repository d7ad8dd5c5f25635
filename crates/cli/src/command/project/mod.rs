//! `orb project`: how are projects listed, created, shown, changed, acknowledged and removed?

pub(crate) mod ack;
mod edit;
pub(crate) mod new;

use super::{ProjectPlace, find, find_facts, with_home};
use crate::args::{Common, ListingArgs, ProjectArgs, ProjectCommand, ProjectCommandArgs, StoreArgs};
use crate::failure::CommandFailure;
use crate::out;
use orb_crawl::SharedAddress;
use orb_project::{Home, Settings, settings_text, shared_settings_text, without_user};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

pub(crate) fn run(common: &Common, args: &ProjectCommandArgs) -> Result<(), CommandFailure> {
    match &args.what {
        ProjectCommand::List { listing, place } => list(common, listing, place),
        ProjectCommand::New(args) => with_home(common, |home| new::run(common, home, args)),
        ProjectCommand::Ack(args) => ack::run(common, args),
        ProjectCommand::Edit(of) => edit::run(common, of),
        ProjectCommand::Show(of) => show(common, of),
        ProjectCommand::Remove { of, yes } => remove(common, of, *yes),
    }
}

fn list(common: &Common, listing: &ListingArgs, place: &StoreArgs) -> Result<(), CommandFailure> {
    let window = listing.window(u64::MAX);
    let mut stdout = out::stdout();
    if place.store.is_some() {
        let projects = window.of(orb_answers::shared_projects(&place.database()?)?);
        match common.json {
            true => out::json(&mut stdout, &projects)?,
            false => projects.iter().try_for_each(|listed| writeln!(stdout, "{}", listed.project))?,
        }
        return Ok(stdout.flush()?);
    }
    let projects = orb_answers::projects(&Home::look(&common.home)?, window)?;
    match common.json {
        true => out::json(&mut stdout, &projects)?,
        false => projects.iter().try_for_each(|listed| writeln!(stdout, "{}", listed.project))?,
    }
    Ok(stdout.flush()?)
}

fn show(common: &Common, of: &ProjectArgs) -> Result<(), CommandFailure> {
    let (text, file) = match find_facts(common, of)? {
        ProjectPlace::Here(project) => (settings_text(&project)?, project.settings()),
        ProjectPlace::There(at) => (shared_settings_text(&at, &of.project)?, "project.toml".into()),
    };
    let mut stdout = out::stdout();
    match common.json {
        true => out::json(&mut stdout, &Settings::parse(&text, &file)?)?,
        false => stdout.write_all(text.as_bytes())?,
    }
    Ok(stdout.flush()?)
}

fn remove(common: &Common, of: &ProjectArgs, yes: bool) -> Result<(), CommandFailure> {
    let (name, place) = (&of.project, find(common, of)?);
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(CommandFailure::Usage(format!(
                "pass --yes to remove project {name} with everything it collected"
            )));
        }
        let wherein = match &place {
            ProjectPlace::Here(project) => project.dir.display().to_string(),
            ProjectPlace::There(at) => format!("{} and {}", without_user(&at.postgres), at.archive),
        };
        let mut stderr = std::io::stderr();
        write!(stderr, "Remove project {name} with everything in {wherein}? [y/N] ")?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !answer.trim().eq_ignore_ascii_case("y") {
            return Err(CommandFailure::Failed(anyhow::anyhow!("nothing was removed")));
        }
    }
    match place {
        ProjectPlace::Here(_) => Home::look(&common.home)?.remove(name)?,
        ProjectPlace::There(at) => remove_shared(&common.home, &at, name)?,
    }
    if !common.quiet && !common.json {
        let mut stdout = out::stdout();
        writeln!(stdout, "removed project {name}")?;
        stdout.flush()?;
    }
    Ok(())
}

/// Removes a shared project, and the copy of it that answers questions here.
fn remove_shared(home: &Path, at: &SharedAddress, name: &str) -> Result<(), CommandFailure> {
    orb_project::remove_shared(at, name)?;
    Ok(orb_answers::forget_copy(home, at, name)?)
}
