//! What may a program do in somebody's name?
//!
//! A token never allows more than its user may do, and of that only what its scopes name: there is
//! no order among scopes, so a token that starts runs cannot read unless it says so.

use super::session::USE_RESOLUTION;
use super::user::{COLUMNS, user_of};
use super::{Accounts, User, secret};
use crate::error::{Result, StoreError};
use orb_page::Moment;
use rusqlite::{OptionalExtension as _, Row};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a token begins, so that people and scanners of leaked secrets recognise one.
const PREFIX: &str = "orb_";

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenScope {
    /// Read facts, reports and texts.
    Read,
    /// Read content as it was archived.
    Content,
    /// Ask in SQL.
    Sql,
    /// Start, stop and acknowledge runs.
    Run,
    /// Change settings.
    Edit,
    /// Manage the server.
    Admin,
}

impl TokenScope {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Read, Self::Content, Self::Sql, Self::Run, Self::Edit, Self::Admin];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Content => "content",
            Self::Sql => "sql",
            Self::Run => "run",
            Self::Edit => "edit",
            Self::Admin => "admin",
        }
    }

    /// The scope of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// A token that is to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewToken {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub scopes: Vec<TokenScope>,
    /// For which projects alone; empty for all that its user may see.
    pub projects: Vec<String>,
    /// When it ends.
    pub until: Option<Moment>,
}

/// A token, without the secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TokenRow {
    /// A number, never used again.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub scopes: Vec<TokenScope>,
    /// For which projects alone; empty for all that its user may see.
    pub projects: Vec<String>,
    /// When it was made.
    pub created_at: String,
    /// When it ends.
    pub until: Option<String>,
    /// When it was last used, to within ten minutes.
    pub last_used: Option<String>,
}

const TOKEN_COLUMNS: &str = "token.id, token.name, scopes, projects, token.created, token.until, token.last_used";

/// A token from these columns, the first of which has this number.
fn token_of(row: &Row<'_>, first: usize) -> rusqlite::Result<TokenRow> {
    let words = |text: Option<String>| text.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let moment = |at: Option<i64>| at.map(|at| Moment(at).to_string());
    let scopes: Vec<String> = words(row.get(first + 2)?);
    Ok(TokenRow {
        id: row.get(first)?,
        name: row.get(first + 1)?,
        scopes: scopes.iter().filter_map(|name| TokenScope::named(name)).collect(),
        projects: words(row.get(first + 3)?),
        created_at: Moment(row.get(first + 4)?).to_string(),
        until: moment(row.get(first + 5)?),
        last_used: moment(row.get(first + 6)?),
    })
}

impl Accounts<'_> {
    /// Makes a token. The text is the token itself, which is not stored and shown this once.
    pub fn make_token(&self, user: i64, token: &NewToken) -> Result<(TokenRow, String)> {
        if token.scopes.is_empty() {
            return Err(StoreError::BadAccount("a token needs a scope".to_owned()));
        }
        let fail = self.fail("make a token");
        let text = format!("{PREFIX}{}", secret::fresh()?);
        let mut scopes = token.scopes.clone();
        scopes.sort();
        scopes.dedup();
        let scopes: Vec<&str> = scopes.into_iter().map(TokenScope::name).collect();
        let projects = (!token.projects.is_empty()).then(|| token.projects.join(" "));
        let sql = "INSERT INTO token (hash, user, name, scopes, projects, created, until)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (hash, until) = (secret::digest(&text), token.until.map(|at| at.0));
        let values = (hash, user, &token.name, scopes.join(" "), projects, Moment::now().0, until);
        self.db.execute(sql, values).map_err(&fail)?;
        let sql = format!("SELECT {TOKEN_COLUMNS} FROM token WHERE hash = ?1");
        let row = self.db.query_row(&sql, [hash], |r| token_of(r, 0)).map_err(fail)?;
        Ok((row, text))
    }

    /// The tokens of a user, newest first.
    pub fn tokens(&self, user: i64) -> Result<Vec<TokenRow>> {
        let fail = self.fail("list tokens");
        let sql = format!("SELECT {TOKEN_COLUMNS} FROM token WHERE user = ?1 ORDER BY id DESC");
        let mut rows = self.db.prepare(&sql).map_err(&fail)?;
        rows.query_map([user], |r| token_of(r, 0)).and_then(Iterator::collect).map_err(fail)
    }

    /// Removes a token of a user; `false` if there is none.
    pub fn revoke_token(&self, user: i64, id: i64) -> Result<bool> {
        let sql = "DELETE FROM token WHERE user = ?1 AND id = ?2";
        self.db.execute(sql, (user, id)).map(|rows| rows > 0).map_err(self.fail("revoke a token"))
    }

    /// Whom a token stands for, and what it allows, unless it has ended.
    pub fn token(&self, text: &str, now: Moment) -> Result<Option<(User, TokenRow)>> {
        if !text.starts_with(PREFIX) {
            return Ok(None);
        }
        let fail = self.fail("look up a token");
        let hash = secret::digest(text);
        let sql = format!(
            "SELECT {COLUMNS}, {TOKEN_COLUMNS} FROM token JOIN user ON user.id = token.user
             WHERE hash = ?1 AND (token.until IS NULL OR token.until > ?2)"
        );
        let read = |r: &Row<'_>| Ok((user_of(r)?, token_of(r, 7)?, r.get::<_, Option<i64>>(13)?));
        let found = self.db.prepare_cached(&sql).and_then(|mut sql| sql.query_row((hash, now.0), read).optional());
        let Some((user, token, used)) = found.map_err(&fail)? else { return Ok(None) };
        if used.is_none_or(|used| now.since(Moment(used)) > USE_RESOLUTION) {
            let sql = "UPDATE token SET last_used = ?2 WHERE hash = ?1";
            self.db.execute(sql, (hash, now.0)).map_err(fail)?;
        }
        Ok(Some((self.with_public(user)?, token)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Home, NewUser};
    use std::time::Duration;

    #[test]
    fn a_token_is_shown_once_found_again_ends_and_is_revoked() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        let bob = accounts.add(&NewUser { name: "bob".into(), ..NewUser::default() }, "password1").unwrap();
        let now = Moment::now();
        let wanted = NewToken {
            name: "a script".into(),
            scopes: vec![TokenScope::Run, TokenScope::Read, TokenScope::Run],
            projects: vec!["p".into(), "q".into()],
            until: Some(now.plus(Duration::from_secs(60))),
        };
        assert!(accounts.make_token(bob.id, &NewToken::default()).is_err(), "a token without a scope");
        let (row, text) = accounts.make_token(bob.id, &wanted).unwrap();
        assert_eq!((row.scopes.as_slice(), row.last_used.as_deref()), (&[TokenScope::Read, TokenScope::Run][..], None));
        let (user, found) = accounts.token(&text, now).unwrap().unwrap();
        assert_eq!((user.name.as_str(), found.projects.as_slice()), ("bob", &["p".to_owned(), "q".to_owned()][..]));
        assert!(accounts.tokens(bob.id).unwrap()[0].last_used.is_some());
        assert!(accounts.token(&text, now.plus(Duration::from_secs(61))).unwrap().is_none());
        let bytes = std::fs::read(tmp.path().join("orb.db")).unwrap();
        let log = std::fs::read(tmp.path().join("orb.db-wal")).unwrap();
        let holds = |hay: &[u8]| hay.windows(16).any(|w| w == &text.as_bytes()[4..20]);
        assert!(!holds(&bytes) && !holds(&log), "the token itself is stored");
        assert!(!accounts.revoke_token(bob.id + 1, row.id).unwrap(), "somebody else's token");
        assert!(accounts.revoke_token(bob.id, row.id).unwrap());
        assert!(accounts.token(&text, now).unwrap().is_none());
    }
}
