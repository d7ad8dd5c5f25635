//! Who may send to an address now?
//!
//! Politeness is owed to machines, and hosts of several workers may be on one machine. So an
//! address is leased to one worker for a slice of time; another that wants it says so, and the
//! holder gives it up at the end of its slice, with the time that is left of its delay. Spans of
//! time are passed on, never moments: no two clocks are compared. The table is logged and its
//! commits are synchronous on purpose: after a crash an empty table would grant what others still
//! use.

use super::WorkerId;
use super::connect::Redial;
use crate::error::{Result, StoreError};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

/// Leases on addresses. One thread's.
pub struct AddressDesk {
    line: Redial,
    worker: WorkerId,
    /// How long after a lease that ran out unreleased the address opens.
    delay: Duration,
    /// Counts the calls.
    turn: i64,
}

/// An address that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRelease {
    /// The address.
    pub ip: IpAddr,
    /// After how long the next request may go there.
    pub open_in: Duration,
}

/// An address that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressGrant {
    /// The address.
    pub ip: IpAddr,
    /// After how long the first request may go there.
    pub open_in: Duration,
}

/// Who got what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressAnswer {
    /// Ours for the slice, counted from before the call.
    pub granted: Vec<AddressGrant>,
    /// Held by others, who are told that they are wanted.
    pub refused: Vec<IpAddr>,
    /// Ours, and wanted by another.
    pub contested: Vec<IpAddr>,
}

/// A call may be executed after we have given up waiting for it and have leased the address again:
/// then it gives up nothing.
const RELEASE: &str = "UPDATE address a SET until = now(), open_at = now() + r.ms * interval '1 millisecond', delay_ms = 0, wanted = NULL, wanted_by = NULL
    FROM unnest($2::text[], $3::bigint[]) AS r(key, ms) WHERE a.key = r.key AND a.worker = $1 AND a.turn < $4";

/// A lease that ran out unreleased may have been used until its end, so the address opens its
/// holder's delay later. After a failover there may have been leases that this server knows nothing
/// of: whatever they were, they have ended a slice after the first worker joined, and the address
/// opens a delay later. Rows are locked in the order of their keys, so that two workers cannot wait
/// for each other.
const ASK: &str = "INSERT INTO address AS a (key, worker, until, open_at, delay_ms, turn)
    SELECT k, $1::bigint, now() + $3::bigint * interval '1 millisecond',
      greatest(now(), (SELECT since FROM project) + ($3::bigint + $4::bigint) * interval '1 millisecond'), $4::bigint, $5::bigint
    FROM unnest($2::text[]) AS k
    WHERE EXISTS (SELECT 1 FROM worker WHERE id = $1 AND alive) ORDER BY k
    ON CONFLICT (key) DO UPDATE SET
      open_at = CASE WHEN a.worker = $1 THEN a.open_at ELSE greatest(a.open_at, a.until + a.delay_ms * interval '1 millisecond', excluded.open_at) END,
      worker = $1, turn = greatest(a.turn, excluded.turn), delay_ms = excluded.delay_ms, until = excluded.until,
      wanted = CASE WHEN a.worker = $1 THEN a.wanted END, wanted_by = CASE WHEN a.worker = $1 THEN a.wanted_by END
    WHERE a.worker = $1 OR a.until < now()
    RETURNING a.key, greatest(0, ceil(extract(epoch FROM a.open_at - now()) * 1000))::bigint, a.wanted IS NOT NULL";

/// Whoever asked first since the address changed hands stays written down.
const WANT: &str = "UPDATE address SET wanted = now(), wanted_by = $1
    WHERE key IN (SELECT key FROM address WHERE key = ANY($2) AND worker <> $1 AND wanted IS NULL ORDER BY key FOR UPDATE)";

impl AddressDesk {
    pub(super) fn new(line: Redial, worker: WorkerId, delay: Duration) -> Self {
        Self { line, worker, delay, turn: 0 }
    }

    /// Gives up some addresses and asks for others, or for more time with them.
    pub fn ask(&mut self, wanted: &[IpAddr], released: &[AddressRelease], slice: Duration) -> Result<AddressAnswer> {
        self.turn += 1;
        let (worker, delay, turn) = (self.worker.0, millis(self.delay), self.turn);
        self.line.with(|line| {
            let mut answer = AddressAnswer::default();
            if !released.is_empty() {
                let keys: Vec<String> = released.iter().map(|release| release.ip.to_string()).collect();
                let spans: Vec<i64> = released.iter().map(|release| millis(release.open_in)).collect();
                let sql = line.prepared("release addresses", RELEASE)?;
                line.wait("release addresses", line.client().execute(&sql, &[&worker, &keys, &spans, &turn]))?;
            }
            let mut missing: BTreeSet<IpAddr> = wanted.iter().copied().collect();
            if missing.is_empty() {
                return Ok(answer);
            }
            let keys: BTreeSet<String> = missing.iter().map(IpAddr::to_string).collect();
            let keys: Vec<String> = keys.into_iter().collect();
            let sql = line.prepared("lease addresses", ASK)?;
            let slice = millis(slice);
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] = [&worker, &keys, &slice, &delay, &turn];
            for row in line.wait("lease addresses", line.client().query(&sql, &values))? {
                let key: String = row.get(0);
                let ip = key.parse().map_err(|_| StoreError::Shared(format!("{key} is not an address")))?;
                missing.remove(&ip);
                answer
                    .granted
                    .push(AddressGrant { ip, open_in: Duration::from_millis(row.get::<_, i64>(1).cast_unsigned()) });
                answer.contested.extend(row.get::<_, bool>(2).then_some(ip));
            }
            if !missing.is_empty() {
                let keys: Vec<String> = missing.iter().map(IpAddr::to_string).collect();
                let sql = line.prepared("ask for addresses", WANT)?;
                line.wait("ask for addresses", line.client().execute(&sql, &[&worker, &keys]))?;
            }
            answer.refused = missing.into_iter().collect();
            Ok(answer)
        })
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_micros().div_ceil(1_000)).unwrap_or(i64::MAX)
}
