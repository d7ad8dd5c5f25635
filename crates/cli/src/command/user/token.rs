//! `orb user token`: what may programs do in somebody's name?

use crate::args::Common;
use crate::command::known_name;
use crate::failure::CommandFailure;
use crate::out;
use clap::{Args, ValueEnum};
use orb_page::Moment;
use orb_project::{Home, NewToken, TokenRow, TokenScope};
use serde::Serialize;
use std::io::Write as _;
use std::time::Duration;

/// `orb user token`.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// The user in whose name it acts
    user: String,
    /// What it may do; may be repeated
    #[arg(long = "scope", value_enum, value_name = "SCOPE", default_value = "read")]
    scopes: Vec<ScopeChoice>,
    /// A project it is for [default: all that the user may read]; may be repeated
    #[arg(long = "project", value_name = "PROJECT")]
    projects: Vec<String>,
    /// Days until it ends [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
    /// What to call it
    #[arg(long, value_name = "NAME", default_value = "orb user token")]
    name: String,
    /// List the user's tokens instead of making one
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Revoke this token instead of making one
    #[arg(long, value_name = "ID")]
    revoke: Option<i64>,
}

/// What a token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// Read facts, reports and texts
    Read,
    /// Read content as it was archived
    Content,
    /// Ask in SQL
    Sql,
    /// Start, stop and acknowledge runs
    Run,
    /// Change settings
    Edit,
    /// Manage the server
    Admin,
}

impl ScopeChoice {
    const fn scope(self) -> TokenScope {
        match self {
            Self::Read => TokenScope::Read,
            Self::Content => TokenScope::Content,
            Self::Sql => TokenScope::Sql,
            Self::Run => TokenScope::Run,
            Self::Edit => TokenScope::Edit,
            Self::Admin => TokenScope::Admin,
        }
    }
}

/// A token that was made, with the token itself.
#[derive(Serialize)]
struct MadeToken {
    token: String,
    #[serde(flatten)]
    row: TokenRow,
}

pub(super) fn run(common: &Common, home: &Home, args: &TokenArgs) -> Result<(), CommandFailure> {
    let accounts = home.accounts();
    let user = accounts.user(&args.user)?;
    let mut stdout = out::stdout();
    if args.list {
        let tokens = accounts.tokens(user.id)?;
        if common.json {
            out::json(&mut stdout, &tokens)?;
        } else if !tokens.is_empty() {
            let heads = ["id", "name", "scopes", "projects", "until", "last used"];
            out::table(&mut stdout, &heads, &tokens.iter().map(cells).collect::<Vec<_>>())?;
        }
    } else if let Some(id) = args.revoke {
        if !accounts.revoke_token(user.id, id)? {
            return Err(anyhow::anyhow!("user {} has no token {id}", user.name).into());
        }
        accounts.note(None, &format!("revoked token {id} of {}", user.name))?;
        if !common.quiet && !common.json {
            writeln!(stdout, "revoked token {id} of {}", user.name)?;
        }
    } else {
        let projects = args.projects.iter().map(|name| known_name(home, name));
        let wanted = NewToken {
            name: args.name.clone(),
            scopes: args.scopes.iter().map(|scope| scope.scope()).collect(),
            projects: projects.collect::<Result<_, _>>()?,
            until: args.days.map(|days| Moment::now().plus(Duration::from_secs(u64::from(days) * 86_400))),
        };
        let (row, token) = accounts.make_token(user.id, &wanted)?;
        accounts.note(None, &format!("made token {} ({}) for {}", row.id, row.name, user.name))?;
        match common.json {
            true => out::json(&mut stdout, &MadeToken { token, row })?,
            false => writeln!(stdout, "{token}")?,
        }
    }
    Ok(stdout.flush()?)
}

fn cells(token: &TokenRow) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
    let projects = if token.projects.is_empty() { "all".to_owned() } else { token.projects.join(" ") };
    vec![
        token.id.to_string(),
        token.name.clone(),
        scopes.join(" "),
        projects,
        text(&token.until),
        text(&token.last_used),
    ]
}
