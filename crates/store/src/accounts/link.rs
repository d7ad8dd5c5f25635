//! Who reads a project because somebody gave them its link?
//!
//! A link is a token of a kind of its own: it opens the pages of one project that guests may see,
//! and nothing else. It has none of the scopes that programs need, belongs to whoever has made it,
//! ends when they may no longer read the project, and is revoked like any token.

use super::user::{COLUMNS, user_of};
use super::{Accounts, secret};
use crate::error::Result;
use orb_page::Moment;
use rusqlite::{OptionalExtension as _, Row};
use schemars::JsonSchema;
use serde::Serialize;

/// What stands where the scopes of a token do.
const KIND: &str = "link";

/// A link to a project, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadingLink {
    /// The number of its token.
    pub id: i64,
    /// Who has made it.
    pub user: String,
    /// The project.
    pub project: String,
    /// When it was made.
    pub created_at: String,
    /// When it ends.
    pub until: Option<String>,
}

impl Accounts<'_> {
    /// Makes a link to a project. The text is its secret, which is not stored and shown this once.
    pub fn make_link(&self, user: i64, project: &str, until: Option<Moment>) -> Result<String> {
        let text = format!("orb_{}", secret::fresh()?);
        let sql = "INSERT INTO token (hash, user, name, scopes, projects, created, until)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let name = format!("link to {project}");
        let values = (secret::digest(&text), user, name, KIND, project, Moment::now().0, until.map(|at| at.0));
        self.db.execute(sql, values).map_err(self.fail("make a link"))?;
        Ok(text)
    }

    /// The links there are, by project.
    pub fn links(&self) -> Result<Vec<ReadingLink>> {
        let fail = self.fail("list links");
        let sql = "SELECT token.id, user.name, projects, token.created, until FROM token
                   JOIN user ON user.id = token.user WHERE scopes = ?1 ORDER BY projects, token.id";
        let read = |r: &Row<'_>| {
            Ok(ReadingLink {
                id: r.get(0)?,
                user: r.get(1)?,
                project: r.get(2)?,
                created_at: Moment(r.get(3)?).to_string(),
                until: r.get::<_, Option<i64>>(4)?.map(|at| Moment(at).to_string()),
            })
        };
        let mut rows = self.db.prepare(sql).map_err(&fail)?;
        rows.query_map([KIND], read).and_then(Iterator::collect).map_err(fail)
    }

    /// The project that a link leads to and when it ends, unless it has ended or whoever has made
    /// it may not read the project any more.
    pub fn link(&self, text: &str, now: Moment) -> Result<Option<(String, Option<Moment>)>> {
        let sql = format!(
            "SELECT {COLUMNS}, projects, until FROM token JOIN user ON user.id = token.user
             WHERE hash = ?1 AND scopes = ?2 AND (token.until IS NULL OR token.until > ?3)"
        );
        let read = |r: &Row<'_>| Ok((user_of(r)?, r.get::<_, String>(7)?, r.get::<_, Option<i64>>(8)?));
        let values = (secret::digest(text), KIND, now.0);
        let found = self.db.prepare_cached(&sql).and_then(|mut sql| sql.query_row(values, read).optional());
        let Some((user, project, until)) = found.map_err(self.fail("look up a link"))? else { return Ok(None) };
        let user = self.with_public(user)?;
        Ok(user.level(&project).is_some().then_some((project, until.map(Moment))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Home, Level, NewUser};
    use std::time::Duration;

    #[test]
    fn a_link_leads_to_its_project_until_it_ends() {
        let tmp = tempfile::tempdir().unwrap();
        let home = Home::open(tmp.path()).unwrap();
        home.project("p").unwrap();
        let accounts = home.accounts();
        let bob = accounts.add(&NewUser { name: "bob".into(), ..NewUser::default() }, "a password").unwrap();
        accounts.grant("bob", "p", Some(Level::Edit)).unwrap();
        let now = Moment::now();
        let text = accounts.make_link(bob.id, "p", Some(now.plus(Duration::from_secs(60)))).unwrap();
        let leads = |at: Moment| accounts.link(&text, at).unwrap().map(|(project, _)| project);
        assert_eq!(leads(now).as_deref(), Some("p"));
        assert_eq!(leads(now.plus(Duration::from_secs(61))), None);
        assert_eq!(accounts.link("orb_wrong", now).unwrap(), None);
        let (_, token) = accounts.token(&text, now).unwrap().unwrap();
        assert!(token.scopes.is_empty(), "it opens nothing for programs");
        accounts.grant("bob", "p", None).unwrap();
        assert_eq!(leads(now), None, "whoever made it may not read it any more");
        accounts.grant("bob", "p", Some(Level::Read)).unwrap();
        let listed = accounts.links().unwrap();
        assert_eq!((listed[0].user.as_str(), listed[0].project.as_str(), listed.len()), ("bob", "p", 1));
        assert!(accounts.revoke_token(bob.id, listed[0].id).unwrap());
        assert_eq!(leads(now), None);
    }
}
