//! Who is there, and what may they do with which project?

use super::{Accounts, password};
use crate::error::{Result, StoreError};
use orb_page::Moment;
use rusqlite::{OptionalExtension as _, Row};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a user may do with a project. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Read what was collected.
    Read,
    /// Start and stop runs, and acknowledge them.
    Run,
    /// Change the settings.
    Edit,
}

impl Level {
    /// All of them, least first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Run, Self::Edit];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Edit => "edit",
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Somebody who may log in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct User {
    /// A number, never used again.
    pub id: i64,
    /// The name to log in with.
    pub name: String,
    /// The name of the person.
    pub full_name: Option<String>,
    /// How to reach the person.
    pub email: Option<String>,
    /// Anything else.
    pub comment: Option<String>,
    /// Whether this user may do everything.
    pub admin: bool,
    /// When the account was made.
    pub created_at: String,
    /// What the user may do, by project.
    pub grants: BTreeMap<String, Level>,
}

impl User {
    /// What this user may do with a project; `None` if nothing.
    pub fn level(&self, project: &str) -> Option<Level> {
        if self.admin { Some(Level::Edit) } else { self.grants.get(project).copied() }
    }
}

/// Somebody who is to get an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewUser {
    /// The name to log in with.
    pub name: String,
    /// The name of the person.
    pub full_name: Option<String>,
    /// How to reach the person.
    pub email: Option<String>,
    /// Anything else.
    pub comment: Option<String>,
    /// Whether this user may do everything.
    pub admin: bool,
}

/// The columns of a user, as [`user_of`] reads them.
pub(super) const COLUMNS: &str = "user.id, user.name, full_name, email, comment, admin, user.created";

/// The number that nobody has: what is granted to it is granted to anyone.
const ANYONE: i64 = 0;

/// What stands for it where a name is asked for; no user has it.
pub const ANYONE_NAME: &str = "anyone";

/// Holds of a user without whom there is still an administrator.
const DISPENSABLE: &str = "(admin = 0 OR (SELECT count(*) FROM user WHERE admin) > 1)";

/// A user without grants.
pub(super) fn user_of(row: &Row<'_>) -> rusqlite::Result<User> {
    Ok(User {
        id: row.get(0)?,
        name: row.get(1)?,
        full_name: row.get(2)?,
        email: row.get(3)?,
        comment: row.get(4)?,
        admin: row.get(5)?,
        created_at: Moment(row.get(6)?).to_string(),
        grants: BTreeMap::new(),
    })
}

impl Accounts<'_> {
    /// Whether anybody has an account.
    pub fn has_users(&self) -> Result<bool> {
        self.db.query_row("SELECT EXISTS (SELECT 1 FROM user)", [], |r| r.get(0)).map_err(self.fail("look for users"))
    }

    /// Adds a user.
    pub fn add(&self, user: &NewUser, password: &str) -> Result<User> {
        self.insert(user, password, "true")?;
        self.user(&user.name)
    }

    /// Adds the first user; `None` if there is one already.
    pub fn add_first(&self, user: &NewUser, password: &str) -> Result<Option<User>> {
        let added = self.insert(user, password, "NOT EXISTS (SELECT 1 FROM user)")?;
        added.then(|| self.user(&user.name)).transpose()
    }

    fn insert(&self, user: &NewUser, password: &str, condition: &str) -> Result<bool> {
        check_name(&user.name)?;
        let hash = password::hash(password)?;
        let sql = format!(
            "INSERT INTO user (name, password, full_name, email, comment, admin, created)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE {condition}"
        );
        let values = (&user.name, hash, &user.full_name, &user.email, &user.comment, user.admin, Moment::now().0);
        match self.db.execute(&sql, values) {
            Ok(rows) => Ok(rows > 0),
            Err(e) if e.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                Err(StoreError::BadAccount(format!("there is a user {} already", user.name)))
            }
            Err(e) => Err(self.fail("add a user")(e)),
        }
    }

    /// All users by name.
    pub fn users(&self) -> Result<Vec<User>> {
        let fail = self.fail("list the users");
        let mut rows = self.db.prepare(&format!("SELECT {COLUMNS} FROM user ORDER BY name")).map_err(&fail)?;
        let users: Vec<User> = rows.query_map([], user_of).and_then(Iterator::collect).map_err(fail)?;
        users.into_iter().map(|user| self.with_grants(user)).collect()
    }

    /// The user of this name, who must exist.
    pub fn user(&self, name: &str) -> Result<User> {
        let sql = format!("SELECT {COLUMNS} FROM user WHERE name = ?1");
        let found = self.db.query_row(&sql, [name], user_of).optional().map_err(self.fail("look up a user"))?;
        let user = found.ok_or_else(|| StoreError::NoSuchUser { name: name.to_owned() })?;
        self.with_grants(user)
    }

    /// The same user with what he or she may do.
    pub(super) fn with_grants(&self, user: User) -> Result<User> {
        let fail = self.fail("read what a user may do");
        let sql = "SELECT project, level FROM \"grant\" WHERE user = ?1";
        let mut rows = self.db.prepare_cached(sql).map_err(&fail)?;
        let grants = rows.query_map([user.id], |r| {
            let level: u8 = r.get(1)?;
            Ok((r.get(0)?, Level::ALL.get(usize::from(level)).copied().unwrap_or(Level::Read)))
        });
        Ok(User { grants: grants.and_then(Iterator::collect).map_err(fail)?, ..user })
    }

    /// The projects that anyone may read, also without an account.
    pub fn public(&self) -> Result<Vec<String>> {
        let fail = self.fail("read what anyone may do");
        let sql = "SELECT project FROM \"grant\" WHERE user = ?1 ORDER BY project";
        let mut rows = self.db.prepare_cached(sql).map_err(&fail)?;
        rows.query_map([ANYONE], |r| r.get(0)).and_then(Iterator::collect).map_err(fail)
    }

    /// Says whether anyone may read a project.
    pub fn set_public(&self, project: &str, is_public: bool) -> Result<()> {
        let sql = if is_public {
            "INSERT OR REPLACE INTO \"grant\" (user, project, level) VALUES (?1, ?2, 0)"
        } else {
            "DELETE FROM \"grant\" WHERE user = ?1 AND project = ?2"
        };
        self.db.execute(sql, (ANYONE, project)).map(drop).map_err(self.fail("say what anyone may do"))
    }

    /// The same user with what anyone may read besides.
    pub(super) fn with_public(&self, user: User) -> Result<User> {
        let mut user = self.with_grants(user)?;
        for project in self.public()? {
            user.grants.entry(project).or_insert(Level::Read);
        }
        Ok(user)
    }

    /// The user, if name and password are right.
    pub fn log_in(&self, name: &str, password: &str) -> Result<Option<User>> {
        let sql = "SELECT password FROM user WHERE name = ?1";
        let stored: Option<String> =
            self.db.query_row(sql, [name], |r| r.get(0)).optional().map_err(self.fail("look up a user"))?;
        password::is_right(password, stored.as_deref())?.then(|| self.user(name)).transpose()
    }

    /// Gives a user another password, and ends all sessions.
    pub fn set_password(&self, name: &str, password: &str) -> Result<()> {
        let (user, hash) = (self.user(name)?, password::hash(password)?);
        let change = || {
            let tx = self.transaction()?;
            tx.execute("UPDATE user SET password = ?2 WHERE id = ?1", (user.id, hash))?;
            tx.execute("DELETE FROM session WHERE user = ?1", [user.id])?;
            tx.commit()
        };
        change().map_err(self.fail("change a password"))
    }

    /// Removes a user with sessions, tokens and rights. The last administrator stays.
    pub fn remove(&self, name: &str) -> Result<()> {
        let user = self.user(name)?;
        let remove = || {
            let tx = self.transaction()?;
            let sql = format!("DELETE FROM user WHERE id = ?1 AND {DISPENSABLE}");
            if tx.execute(&sql, [user.id])? == 0 {
                return Ok(false);
            }
            for table in ["session", "token", "\"grant\"", "seen"] {
                tx.execute(&format!("DELETE FROM {table} WHERE user = ?1"), [user.id])?;
            }
            tx.commit().map(|()| true)
        };
        self.unless_last(name, remove().map_err(self.fail("remove a user"))?)
    }

    /// Lets a user do everything, or only what was granted. The last administrator stays one.
    pub fn set_admin(&self, name: &str, admin: bool) -> Result<User> {
        let user = self.user(name)?;
        let sql = format!("UPDATE user SET admin = ?2 WHERE id = ?1 AND (?2 OR {DISPENSABLE})");
        let rows = self.db.execute(&sql, (user.id, admin)).map_err(self.fail("change what a user may do"))?;
        self.unless_last(name, rows > 0)?;
        self.user(name)
    }

    /// Refuses what was not done because nobody could manage the accounts afterwards.
    fn unless_last(&self, name: &str, is_done: bool) -> Result<()> {
        let why = || format!("{name} is the last administrator: make somebody else one first");
        if is_done { Ok(()) } else { Err(StoreError::BadAccount(why())) }
    }

    /// Says what a user may do with a project; `None` is nothing.
    pub fn grant(&self, name: &str, project: &str, level: Option<Level>) -> Result<User> {
        let user = self.user(name)?;
        let done = match level {
            Some(level) => self.db.execute(
                "INSERT OR REPLACE INTO \"grant\" (user, project, level) VALUES (?1, ?2, ?3)",
                (user.id, project, level as u8),
            ),
            None => self.db.execute("DELETE FROM \"grant\" WHERE user = ?1 AND project = ?2", (user.id, project)),
        };
        done.map_err(self.fail("grant a right"))?;
        self.with_grants(user)
    }
}

/// Names are typed, printed and compared byte by byte, so only plain ones are valid.
fn check_name(name: &str) -> Result<()> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let good = (1..=64).contains(&name.len())
        && name.bytes().all(|b| plain(b) || b"._-@".contains(&b))
        && name.as_bytes().first().is_some_and(|b| plain(*b))
        && name != ANYONE_NAME;
    let rule =
        "use 1 to 64 of a-z, 0-9, '.', '_', '-' and '@', beginning with a letter or digit; 'anyone' is everybody";
    if good { Ok(()) } else { Err(StoreError::BadAccount(format!("{name:?} is not a user's name: {rule}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    fn named(name: &str) -> NewUser {
        NewUser { name: name.to_owned(), ..NewUser::default() }
    }

    #[test]
    fn users_are_added_listed_and_removed() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        assert!(!accounts.has_users().unwrap());
        accounts.add(&NewUser { email: Some("b@x.test".into()), ..named("bob") }, "password1").unwrap();
        accounts.add(&NewUser { admin: true, ..named("ann") }, "password2").unwrap();
        assert!(matches!(accounts.add(&named("bob"), "password3"), Err(StoreError::BadAccount(_))));
        assert!(matches!(accounts.add(&named("Bob"), "password3"), Err(StoreError::BadAccount(_))));
        let names: Vec<String> = accounts.users().unwrap().into_iter().map(|user| user.name).collect();
        assert_eq!(names, ["ann", "bob"]);
        assert!(accounts.add_first(&named("eve"), "password4").unwrap().is_none());
        accounts.remove("bob").unwrap();
        assert!(matches!(accounts.user("bob"), Err(StoreError::NoSuchUser { .. })));
        assert!(matches!(accounts.remove("bob"), Err(StoreError::NoSuchUser { .. })));
    }

    #[test]
    fn the_last_administrator_stays() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        accounts.add(&NewUser { admin: true, ..named("ann") }, "password1").unwrap();
        accounts.add(&named("bob"), "password2").unwrap();
        assert!(matches!(accounts.remove("ann"), Err(StoreError::BadAccount(_))));
        assert!(matches!(accounts.set_admin("ann", false), Err(StoreError::BadAccount(_))));
        assert!(!accounts.set_admin("bob", false).unwrap().admin, "bob was none");
        assert!(accounts.set_admin("bob", true).unwrap().admin);
        assert!(!accounts.set_admin("ann", false).unwrap().admin);
        assert!(matches!(accounts.remove("bob"), Err(StoreError::BadAccount(_))));
        accounts.remove("ann").unwrap();
        assert!(accounts.user("bob").unwrap().admin);
    }

    #[test]
    fn rights_are_granted_per_project_and_go_with_it() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        accounts.add(&named("bob"), "password1").unwrap();
        home.project("p").unwrap();
        assert_eq!(accounts.user("bob").unwrap().level("p"), None);
        accounts.grant("bob", "p", Some(Level::Run)).unwrap();
        let bob = accounts.grant("bob", "q", Some(Level::Read)).unwrap();
        assert_eq!((bob.level("p"), bob.level("q"), bob.level("r")), (Some(Level::Run), Some(Level::Read), None));
        assert_eq!(accounts.grant("bob", "q", None).unwrap().level("q"), None);
        accounts.set_public("q", true).unwrap();
        accounts.set_public("p", true).unwrap();
        let session = accounts.begin_session(bob.id, Moment::now()).unwrap();
        let seen = || accounts.session(&session, Moment::now()).unwrap().unwrap().0;
        assert_eq!((seen().level("p"), seen().level("q")), (Some(Level::Run), Some(Level::Read)));
        assert_eq!(accounts.user("bob").unwrap().level("q"), None, "what is everybody's is shown as his own");
        accounts.set_public("q", false).unwrap();
        assert_eq!((seen().level("q"), accounts.public().unwrap()), (None, vec!["p".to_owned()]));
        assert!(accounts.add(&named(ANYONE_NAME), "password1").is_err());
        home.remove("p").unwrap();
        home.project("p").unwrap();
        assert_eq!(accounts.user("bob").unwrap().level("p"), None, "a new project of the same name is another");
    }

    #[test]
    fn a_new_password_ends_the_sessions() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        let accounts = home.accounts();
        let bob = accounts.add(&named("bob"), "password1").unwrap();
        let session = accounts.begin_session(bob.id, Moment::now()).unwrap();
        assert!(accounts.log_in("bob", "password2").unwrap().is_none());
        assert!(accounts.log_in("eve", "password1").unwrap().is_none());
        assert_eq!(accounts.log_in("bob", "password1").unwrap().unwrap().id, bob.id);
        accounts.set_password("bob", "password2").unwrap();
        assert!(accounts.session(&session, Moment::now()).unwrap().is_none());
        assert!(accounts.log_in("bob", "password2").unwrap().is_some());
    }
}
