//! What can be said to `orb project`?

use super::{ListingArgs, ProjectArgs, StoreArgs};
use clap::{Args, Subcommand};

/// `orb project`.
#[derive(Debug, Args)]
pub(crate) struct ProjectCommandArgs {
    #[command(subcommand)]
    pub(crate) what: ProjectCommand,
}

/// What can be done with projects.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// List the projects in the home, or on a shared store
    List {
        #[command(flatten)]
        listing: ListingArgs,
        #[command(flatten)]
        place: StoreArgs,
    },
    /// Create a project with a commented settings file
    New(crate::command::project::new::NewArgs),
    /// Show a project's settings
    Show(ProjectArgs),
    /// Edit a project's settings with $VISUAL or $EDITOR; invalid settings are refused with their
    /// line
    Edit(ProjectArgs),
    /// Acknowledge the changes of a run; see hold_until_acknowledged in docs/project.toml
    Ack(crate::command::project::ack::AckArgs),
    /// Delete a project with everything it collected
    Remove {
        #[command(flatten)]
        of: ProjectArgs,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}
