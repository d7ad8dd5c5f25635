//! Who is logged in?

use super::user::{COLUMNS, user_of};
use super::{Accounts, User, secret};
use crate::error::Result;
use orb_page::Moment;
use rusqlite::OptionalExtension as _;
use std::time::Duration;

/// How long a session lasts.
pub const SESSION_LIFE: Duration = Duration::from_secs(30 * 86_400);

/// How long a session lasts that nobody uses.
const IDLE_LIFE: Duration = Duration::from_secs(7 * 86_400);

/// How exactly it is known when a session or token was last used: writing it at every request would
/// make every read a write.
pub(super) const USE_RESOLUTION: Duration = Duration::from_secs(600);

impl Accounts<'_> {
    /// Begins a session and returns its id, a secret that is not stored.
    pub fn begin_session(&self, user: i64, now: Moment) -> Result<String> {
        let fail = self.fail("begin a session");
        let id = secret::fresh()?;
        // A good occasion to remove the sessions that are over.
        self.db.execute("DELETE FROM session WHERE until < ?1", [now.0]).map_err(&fail)?;
        let sql = "INSERT INTO session (hash, user, created, seen, until) VALUES (?1, ?2, ?3, ?3, ?4)";
        self.db.execute(sql, (secret::digest(&id), user, now.0, now.plus(SESSION_LIFE).0)).map_err(fail)?;
        Ok(id)
    }

    /// The user of a session and when it ends, if it is not over.
    pub fn session(&self, id: &str, now: Moment) -> Result<Option<(User, Moment)>> {
        let fail = self.fail("look up a session");
        let hash = secret::digest(id);
        let sql = format!(
            "SELECT {COLUMNS}, session.seen, session.until FROM session JOIN user ON user.id = session.user
             WHERE hash = ?1"
        );
        let read = |r: &rusqlite::Row<'_>| Ok((user_of(r)?, Moment(r.get(7)?), Moment(r.get(8)?)));
        let found = self.db.prepare_cached(&sql).and_then(|mut sql| sql.query_row([hash], read).optional());
        let Some((user, seen, until)) = found.map_err(&fail)? else { return Ok(None) };
        if now >= until || now.since(seen) > IDLE_LIFE {
            return Ok(None);
        }
        if now.since(seen) > USE_RESOLUTION {
            let sql = "UPDATE session SET seen = ?2 WHERE hash = ?1";
            self.db.execute(sql, (hash, now.0)).map_err(fail)?;
        }
        Ok(Some((self.with_public(user)?, until)))
    }

    /// Ends a session.
    pub fn end_session(&self, id: &str) -> Result<()> {
        let sql = "DELETE FROM session WHERE hash = ?1";
        self.db.execute(sql, [secret::digest(id)]).map(drop).map_err(self.fail("end a session"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Home, NewUser};

    #[test]
    fn a_session_ends_by_itself_when_idle_and_when_told() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        let bob = accounts.add(&NewUser { name: "bob".into(), ..NewUser::default() }, "password1").unwrap();
        let day = |n: u64| Moment::now().plus(Duration::from_secs(n * 86_400));
        let is_there = |id: &str, at: Moment| accounts.session(id, at).unwrap().is_some();
        let used = accounts.begin_session(bob.id, day(0)).unwrap();
        assert!([1, 6, 12, 18, 24, 29].into_iter().all(|n| is_there(&used, day(n))));
        assert!(!is_there(&used, day(31)), "no session is for ever");
        let idle = accounts.begin_session(bob.id, day(0)).unwrap();
        assert!(!is_there(&idle, day(8)));
        let ended = accounts.begin_session(bob.id, day(0)).unwrap();
        accounts.end_session(&ended).unwrap();
        assert!(!is_there(&ended, day(0)) && !is_there("", day(0)));
    }
}
