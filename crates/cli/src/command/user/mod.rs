//! `orb user`: who may use what `orb serve` shows?

mod password;
pub(crate) mod token;

use super::{known_name, with_home};
use crate::args::{Common, ListingArgs, UserCommand, UserCommandArgs};
use crate::failure::CommandFailure;
use crate::out;
use clap::{Args, ValueEnum};
use orb_project::{ANYONE_NAME, Home, Level, NewUser, User};
use std::io::Write as _;

/// `orb user add`.
#[derive(Debug, Args)]
pub(crate) struct AddUserArgs {
    /// The name to log in with
    name: String,
    /// May do everything
    #[arg(long)]
    admin: bool,
    /// The name of the person
    #[arg(long, value_name = "NAME")]
    full_name: Option<String>,
    /// How to reach the person
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Anything else
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
}

/// `orb user grant`.
#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    /// The user; `anyone` is everybody, also without an account, who may read or not
    name: String,
    /// The project
    project: String,
    /// What the user may do with it
    #[arg(value_enum)]
    level: LevelName,
}

/// What may be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// Nothing: takes a right away
    None,
    /// Read what was collected
    Read,
    /// Also start, stop and acknowledge runs
    Run,
    /// Also change its settings
    Edit,
}

impl LevelName {
    const fn level(self) -> Option<Level> {
        match self {
            Self::None => None,
            Self::Read => Some(Level::Read),
            Self::Run => Some(Level::Run),
            Self::Edit => Some(Level::Edit),
        }
    }
}

pub(crate) fn run(common: &Common, args: &UserCommandArgs) -> Result<(), CommandFailure> {
    let look = || Home::look(&common.home);
    match &args.what {
        UserCommand::Add(args) => with_home(common, |home| add(common, home, args)),
        UserCommand::List(listing) => list(common, &look()?, listing),
        UserCommand::Remove { name } => remove(common, &look()?, name),
        UserCommand::Passwd { name } => change_password(common, &look()?, name),
        UserCommand::Grant(args) => with_home(common, |home| grant(common, home, args)),
        UserCommand::Token(args) => token::run(common, &look()?, args),
    }
}

/// Prints one user, or what was done to one.
fn tell(common: &Common, changed: &impl serde::Serialize, done: &str) -> Result<(), CommandFailure> {
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, changed)?;
    } else if !common.quiet {
        writeln!(stdout, "{done}")?;
    }
    Ok(stdout.flush()?)
}

fn add(common: &Common, home: &Home, args: &AddUserArgs) -> Result<(), CommandFailure> {
    let new = NewUser {
        name: args.name.clone(),
        full_name: args.full_name.clone(),
        email: args.email.clone(),
        comment: args.comment.clone(),
        admin: args.admin,
    };
    let accounts = home.accounts();
    let user = accounts.add(&new, &password::read(&args.name)?)?;
    accounts.note(None, &format!("added user {}", user.name))?;
    tell(common, &user, &format!("added user {}", user.name))
}

fn list(common: &Common, home: &Home, listing: &ListingArgs) -> Result<(), CommandFailure> {
    let users = listing.window(u64::MAX).of(home.accounts().users()?);
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &users)?;
    } else if !users.is_empty() {
        out::table(&mut stdout, &["user", "name", "email", "rights"], &users.iter().map(cells).collect::<Vec<_>>())?;
    }
    Ok(stdout.flush()?)
}

fn cells(user: &User) -> Vec<String> {
    let grants = user.grants.iter().map(|(project, level)| format!("{project}: {}", level.name()));
    let rights = if user.admin { "all".to_owned() } else { grants.collect::<Vec<_>>().join(", ") };
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    vec![user.name.clone(), text(&user.full_name), text(&user.email), rights]
}

fn remove(common: &Common, home: &Home, name: &str) -> Result<(), CommandFailure> {
    let accounts = home.accounts();
    let user = accounts.user(name)?;
    accounts.remove(name)?;
    accounts.note(None, &format!("removed user {name}"))?;
    tell(common, &user, &format!("removed user {name}"))
}

fn change_password(common: &Common, home: &Home, name: &str) -> Result<(), CommandFailure> {
    let accounts = home.accounts();
    let user = accounts.user(name)?;
    accounts.set_password(name, &password::read(name)?)?;
    accounts.note(None, &format!("changed the password of {name}"))?;
    tell(common, &user, &format!("user {name} has a new password, and all sessions ended"))
}

/// Lets anyone read a project, or no longer.
fn publish(common: &Common, home: &Home, project: &str, level: Option<Level>) -> Result<(), CommandFailure> {
    if level > Some(Level::Read) {
        return Err(CommandFailure::Usage("anyone may read a project, or not; no more can be granted".to_owned()));
    }
    home.accounts().set_public(project, level.is_some())?;
    let told = format!("anyone may {} project {project}", level.map_or("not read", Level::name));
    home.accounts().note(None, &told)?;
    let public = home.accounts().public()?;
    tell(common, &public, &told)
}

fn grant(common: &Common, home: &Home, args: &GrantArgs) -> Result<(), CommandFailure> {
    let (accounts, level) = (home.accounts(), args.level.level());
    let project = known_name(home, &args.project)?;
    if args.name == ANYONE_NAME {
        return publish(common, home, &project, level);
    }
    let user = accounts.grant(&args.name, &project, level)?;
    let level = level.map_or("nothing", Level::name);
    let told = format!("user {} may {level} on project {project}", user.name);
    accounts.note(None, &told)?;
    tell(common, &user, &told)
}
