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

/// The characters of a digest that name a session.
const NAME: usize = 16;

/// How exactly it is known when a session or token was last used: writing it at every request would
/// make every read a write.
pub(super) const USE_RESOLUTION: Duration = Duration::from_secs(600);

/// A session, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// What names it: nothing that could be used to log in.
    pub name: String,
    /// When it began.
    pub created_at: String,
    /// When it was last used, to within ten minutes.
    pub last_used: String,
    /// Whether it is the one with this id.
    pub is_this: bool,
}

impl Accounts<'_> {
    /// The sessions of a user, the latest used first; `id` is that of the one who asks.
    pub fn sessions(&self, user: i64, id: &str, now: Moment) -> Result<Vec<SessionRow>> {
        let fail = self.fail("list sessions");
        let sql = "SELECT lower(hex(hash)), created, seen, hash = ?3 FROM session
                   WHERE user = ?1 AND until > ?2 AND seen >= ?4 ORDER BY seen DESC, created DESC";
        let mut statement = self.db.prepare_cached(sql).map_err(&fail)?;
        let idle_since = Moment(now.0.saturating_sub(i64::try_from(IDLE_LIFE.as_millis()).unwrap_or(i64::MAX)));
        let rows = statement.query_map((user, now.0, secret::digest(id), idle_since.0), |r| {
            let moment = |at: i64| Moment(at).to_string();
            let hash: String = r.get(0)?;
            let name = hash.chars().take(NAME).collect();
            Ok(SessionRow { name, created_at: moment(r.get(1)?), last_used: moment(r.get(2)?), is_this: r.get(3)? })
        });
        rows.and_then(Iterator::collect).map_err(fail)
    }

    /// Ends a session of a user by its name; whether there was one.
    pub fn end_session_named(&self, user: i64, name: &str) -> Result<bool> {
        let sql = "DELETE FROM session WHERE user = ?1 AND substr(lower(hex(hash)), 1, ?3) = ?2";
        let ended = self.db.execute(sql, (user, name, NAME as i64)).map_err(self.fail("end a session"))?;
        Ok(ended > 0)
    }

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

    #[test]
    fn sessions_are_listed_and_ended_one_by_one_by_those_who_have_them() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        let add =
            |name: &str| accounts.add(&NewUser { name: name.into(), ..NewUser::default() }, "password1").unwrap().id;
        let (bob, eve, now) = (add("bob"), add("eve"), Moment::now());
        let (here, there) = (accounts.begin_session(bob, now).unwrap(), accounts.begin_session(bob, now).unwrap());
        accounts.begin_session(eve, now).unwrap();
        let listed = accounts.sessions(bob, &here, now).unwrap();
        assert_eq!(listed.iter().filter(|one| one.is_this).count(), 1);
        let other = listed.iter().find(|one| !one.is_this).unwrap();
        assert!(!accounts.end_session_named(eve, &other.name).unwrap(), "it is not hers");
        assert!(accounts.end_session_named(bob, &other.name).unwrap());
        assert!(accounts.session(&there, now).unwrap().is_none() && accounts.session(&here, now).unwrap().is_some());
        let later = now.plus(Duration::from_secs(8 * 86_400));
        assert_eq!(
            (accounts.sessions(bob, &here, now).unwrap().len(), accounts.sessions(bob, &here, later).unwrap().len()),
            (1, 0)
        );
    }
}
