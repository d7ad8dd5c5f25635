//! Who may use a home, and for what?
//!
//! `orb.db` beside the projects holds users, what each may do with which project, their sessions
//! and tokens, how far they have read, and a log of what was done to accounts. Nothing in it opens
//! a door by itself: passwords are kept as argon2id hashes, session ids and tokens as SHA-256
//! digests of 256 random bits.
//!
//! Whether somebody may do something is decided by the caller; here it is only remembered.

mod audit;
mod link;
mod password;
mod secret;
mod session;
mod token;
mod user;

pub use audit::AuditRow;
pub use link::ReadingLink;
pub use secret::fresh as fresh_secret;
pub use session::{SESSION_LIFE, SessionRow};
pub use token::{NewToken, TokenRow, TokenScope};
pub use user::{ANYONE_NAME, Level, NewUser, User};

use crate::error::{Result, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

/// The tables of accounts, added by version 2 of `orb.db`.
pub(crate) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS user (
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, password TEXT NOT NULL, full_name TEXT, email TEXT,
      comment TEXT, admin INTEGER NOT NULL, created INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS \"grant\" (
      user INTEGER NOT NULL, project TEXT NOT NULL, level INTEGER NOT NULL, PRIMARY KEY (user, project)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS session (
      hash BLOB PRIMARY KEY, user INTEGER NOT NULL, created INTEGER NOT NULL, seen INTEGER NOT NULL,
      until INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS session_user ON session (user);
    CREATE TABLE IF NOT EXISTS token (
      id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, user INTEGER NOT NULL, name TEXT NOT NULL,
      scopes TEXT NOT NULL, projects TEXT, created INTEGER NOT NULL, until INTEGER, last_used INTEGER);
    CREATE INDEX IF NOT EXISTS token_user ON token (user);
    CREATE TABLE IF NOT EXISTS seen (
      user INTEGER NOT NULL, project TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (user, project)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT, what TEXT NOT NULL);
";

/// What of the accounts mentions a project that is removed.
pub(crate) const FORGET_PROJECT: &[&str] =
    &["DELETE FROM \"grant\" WHERE project = ?1", "DELETE FROM seen WHERE project = ?1"];

/// The accounts of a home.
#[derive(Clone, Copy, Debug)]
pub struct Accounts<'h> {
    db: &'h Connection,
    path: &'h Path,
}

impl<'h> Accounts<'h> {
    pub(crate) fn new(db: &'h Connection, path: &'h Path) -> Self {
        Self { db, path }
    }

    /// A failure of the database.
    fn fail(&self, what: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
        let path = self.path.join("orb.db");
        move |e| StoreError::sql(what, &path, e)
    }

    /// All or nothing, and nobody else in between.
    fn transaction(&self) -> rusqlite::Result<Transaction<'h>> {
        Transaction::new_unchecked(self.db, TransactionBehavior::Immediate)
    }

    /// How far a user has read the changes of a project.
    pub fn seen(&self, user: i64, project: &str) -> Result<u64> {
        let sql = "SELECT coalesce(max(seq), 0) FROM seen WHERE user = ?1 AND project = ?2";
        let seq = self.db.query_row(sql, (user, project), |r| r.get::<_, i64>(0));
        seq.map(i64::unsigned_abs).map_err(self.fail("read what was seen"))
    }

    /// Remembers how far a user has read the changes of a project; it never goes back.
    pub fn mark_seen(&self, user: i64, project: &str, seq: u64) -> Result<()> {
        let sql = "INSERT INTO seen (user, project, seq) VALUES (?1, ?2, ?3)
                   ON CONFLICT (user, project) DO UPDATE SET seq = max(seq, excluded.seq)";
        self.db.execute(sql, (user, project, seq.cast_signed())).map(drop).map_err(self.fail("note what was seen"))
    }
}

#[cfg(test)]
mod tests {
    use crate::Home;

    #[test]
    fn what_was_seen_never_goes_back() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        assert_eq!(accounts.seen(1, "p").unwrap(), 0);
        for seq in [3, 7, 5] {
            accounts.mark_seen(1, "p", seq).unwrap();
        }
        assert_eq!((accounts.seen(1, "p").unwrap(), accounts.seen(2, "p").unwrap()), (7, 0));
    }
}
