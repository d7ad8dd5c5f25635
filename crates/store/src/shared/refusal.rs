//! What does a failure of PostgreSQL mean?
//!
//! Either the store is away, and the same call may be made again, or it says no, and then a line
//! says what to do about it.

use super::connect::CONNECT;
use crate::error::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// What a failure is: the store is away, or says no.
pub(super) fn failed(what: &'static str, shown: &str, error: &Error) -> StoreError {
    let Some(said) = error.as_db_error() else { return unheard(what, shown, error) };
    let code = said.code().code();
    let passing = ["08", "53", "57", "40", "58"].iter().any(|class| code.starts_with(class))
        || [
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]
        .contains(said.code());
    if passing && *said.code() != SqlState::QUERY_CANCELED {
        return StoreError::StoreAway { what, source: format!("{shown}: {}", said.message()).into() };
    }
    if what == CONNECT {
        return StoreError::Shared(format!("cannot connect to {shown}: {}", said.message()));
    }
    if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(said.code()) {
        return StoreError::Shared(format!("cannot {what} in {shown}: the project's tables are gone; was it deleted?"));
    }
    StoreError::Shared(format!("cannot {what} in {shown}: {}", said.message()))
}

/// What a failure is that the server has not told of.
fn unheard(what: &'static str, shown: &str, error: &Error) -> StoreError {
    let (text, cause) = (error.to_string(), std::error::Error::source(error));
    let (why, kind) = (cause.map_or_else(|| text.clone(), ToString::to_string), format!("{cause:?}"));
    let says = |word: &str| text.contains(word) || why.contains(word);
    if says("password missing") {
        StoreError::Shared(format!("{shown} wants a password: put it into PGPASSWORD"))
    } else if says("password") || says("authentication") || text.contains("invalid configuration") {
        StoreError::Shared(format!("cannot connect to {shown}: {why}"))
    } else if kind.contains("InvalidCertificate") {
        StoreError::Shared(format!(
            "{shown} cannot be reached by TLS: {why} (PGSSLROOTCERT may name a file with the authority to trust; \
             ?sslmode=disable at the end of the address goes without TLS)"
        ))
    } else if says("tls") || says("TLS") {
        StoreError::Shared(format!(
            "{shown} cannot be reached by TLS: {why} (?sslmode=disable at the end of the address goes without)"
        ))
    } else {
        StoreError::StoreAway { what, source: format!("{shown}: {why}").into() }
    }
}
