//! What can be said to `orb user`?

use super::ListingArgs;
use crate::command::user::token::TokenArgs;
use crate::command::user::{AddUserArgs, GrantArgs};
use clap::{Args, Subcommand};

/// `orb user`.
#[derive(Debug, Args)]
pub(crate) struct UserCommandArgs {
    #[command(subcommand)]
    pub(crate) what: UserCommand,
}

/// What can be done with accounts.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user; the password is read from standard input or asked for
    Add(AddUserArgs),
    /// List the users and what they may do
    List(ListingArgs),
    /// Remove a user with all sessions and tokens
    Remove {
        /// The user
        name: String,
    },
    /// Give a user another password, read from standard input or asked for
    Passwd {
        /// The user
        name: String,
    },
    /// Say what a user may do with a project
    Grant(GrantArgs),
    /// Make a token for a program, shown once; list or revoke tokens
    Token(TokenArgs),
}
