//! Who did what to the accounts?

use super::Accounts;
use crate::error::Result;
use orb_page::Moment;
use schemars::JsonSchema;
use serde::Serialize;

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditRow {
    /// When.
    pub at: String,
    /// By whom; `None` on the command line and for people who are nobody yet.
    pub user: Option<String>,
    /// What.
    pub what: String,
}

impl Accounts<'_> {
    /// Notes what was done, and by whom.
    pub fn note(&self, user: Option<&str>, what: &str) -> Result<()> {
        let sql = "INSERT INTO audit (at, user, what) VALUES (?1, ?2, ?3)";
        self.db.execute(sql, (Moment::now().0, user, what)).map(drop).map_err(self.fail("write the audit log"))
    }

    /// What was done last, newest first.
    pub fn noted(&self, limit: u64) -> Result<Vec<AuditRow>> {
        let fail = self.fail("read the audit log");
        let sql = "SELECT at, user, what FROM audit ORDER BY id DESC LIMIT ?1";
        let mut rows = self.db.prepare_cached(sql).map_err(&fail)?;
        let rows = rows.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |r| {
            Ok(AuditRow { at: Moment(r.get(0)?).to_string(), user: r.get(1)?, what: r.get(2)? })
        });
        rows.and_then(Iterator::collect).map_err(fail)
    }
}
