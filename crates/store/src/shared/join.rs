//! Who works on a shared project, and who holds which shard?
//!
//! A worker is a row that says until when it lives. Its number is its incarnation: once buried it
//! never comes back. Only PostgreSQL's clock decides who is dead, and a server that was away itself
//! gives everybody one lease time to come back: otherwise the first worker to reach it would bury
//! all others. There is no leader; everybody computes the shares from the same table.

use super::addresses::AddressDesk;
use super::burial;
use super::connect::{JoinedAs, Redial, SharedAddress, SharedLine};
use super::letters::Mailbox;
use super::runs::{SharedRun, last};
use super::schema::schema_of;
use super::{ShardId, SharedProject, WorkerId, shard_of};
use crate::error::{Result, StoreError};
use orb_page::Moment;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The server never ends a transaction that rests for less, however short a lease is: between two
/// statements an honest worker may have to wait for its turn on a busy machine.
const LEAST_SILENCE: Duration = Duration::from_secs(5);

/// How many pages are taken over at once.
const PORTION: u64 = 1_000_000;

/// Who joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCard {
    /// Its name; another living worker of the same name makes it `name-2`.
    pub name: String,
    /// The machine it runs on.
    pub machine: String,
    /// How many shards it takes, compared with the others.
    pub weight: u32,
    /// How long it lives without a heartbeat.
    pub lease: Duration,
}

/// One incarnation of a worker.
#[derive(Clone, Debug)]
pub struct Membership {
    pub(super) address: Arc<SharedAddress>,
    pub(super) project: String,
    pub(super) shards: u16,
    pub(super) id: WorkerId,
    name: Arc<str>,
    lease: Duration,
    /// What PostgreSQL's clock said when it joined, and when that was heard.
    joined: (Moment, Instant),
    /// The server's timeline when it joined.
    timeline: i64,
}

/// Keeps a worker alive and its shards right. One thread's.
pub struct ShardClerk {
    pub(super) member: Membership,
    pub(super) line: Redial,
    /// Until when it buries nobody.
    grace: BurialGrace,
}

/// Since when a worker reaches the store. Where it has not reached it for a while, the others may
/// not have either: their leases have run out, and they get one lease time to come back. The
/// server's own start does not tell, because it may have recovered for longer than a lease since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BurialGrace {
    /// The store was there all the time.
    None,
    /// It does not answer.
    Away,
    /// It was away, and has been back since then.
    Since(Instant),
}

impl BurialGrace {
    /// The store has answered a heartbeat, or has not.
    fn heard(&mut self, answered: bool, now: Instant) {
        *self = match (answered, *self) {
            (false, _) => Self::Away,
            (true, Self::Away) => Self::Since(now),
            (true, before) => before,
        }
    }

    /// Whether the others have had so long to come back.
    fn is_over(self, lease: Duration, now: Instant) -> bool {
        match self {
            Self::None => true,
            Self::Away => false,
            Self::Since(back) => now - back >= lease,
        }
    }
}

/// What a worker says of itself with a heartbeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerReport {
    /// Why it is not faster.
    pub why: String,
    /// Its speed.
    pub pages_per_second: f32,
    /// How many pages are queued in its shards.
    pub queued: u64,
}

/// What a heartbeat is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// PostgreSQL's clock.
    pub store_time: Moment,
    /// How long the lease lasts, counted from before the call.
    pub lease: Duration,
    /// How many shards this worker should hold.
    pub share: u16,
    /// The shards it holds.
    pub held: Vec<ShardId>,
    /// How many shards nobody living holds.
    pub free: u16,
    /// The run that goes on.
    pub run: Option<SharedRun>,
    /// The number of the latest seed.
    pub seed: u64,
}

impl Membership {
    /// Joins; `alone` is for what one worker at a time may do. Nothing if others are there.
    pub(super) fn begin(project: &SharedProject, card: &WorkerCard, alone: bool) -> Result<Option<Self>> {
        let line = project.address.connect(Some(&schema_of(&project.name)), &format!("orb {}", card.name))?;
        let line = line.resting_at_most(card.lease.max(LEAST_SILENCE));
        let timeline = line.timeline()?;
        line.begin("join")?;
        // The first to join after a failover says when that was.
        let draw = "UPDATE project SET next_worker = next_worker + 1, timeline = $1,
                      since = CASE WHEN timeline IN (0, $1) THEN since ELSE now() END RETURNING next_worker - 1";
        let id: i64 = line.wait("join", line.client().query_one(draw, &[&timeline]))?.get(0);
        if alone {
            // The dead are buried by whoever comes: nobody else may be there to do it.
            burial::bury_dead(&line, timeline)?;
        }
        let taken = "SELECT name FROM worker WHERE alive";
        let rows = line.wait("join", line.client().query(taken, &[]))?;
        let taken: std::collections::HashSet<String> = rows.iter().map(|row| row.get(0)).collect();
        if alone && !taken.is_empty() {
            line.run("join", "COMMIT")?;
            return Ok(None);
        }
        let mut names = std::iter::once(card.name.clone()).chain((2..).map(|n| format!("{}-{n}", card.name)));
        let name = names.find(|name| !taken.contains(name)).unwrap_or_default();
        let sql = "INSERT INTO worker (id, name, machine, alive, until, lease_ms, batch, nonce, weight, version, joined, beaten,
                     timeline)
                   VALUES ($1, $2, $3, true, now() + $4::bigint * interval '1 millisecond', $4::bigint, 0, 0, $5, $6, now(), now(), $7)
                   RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let lease = i64::try_from(card.lease.as_millis()).unwrap_or(i64::MAX);
        let weight = i32::try_from(card.weight.max(1)).unwrap_or(i32::MAX);
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
            [&id, &name, &card.machine, &lease, &weight, &env!("CARGO_PKG_VERSION"), &timeline];
        let row = line.wait("join", line.client().query_one(sql, &values))?;
        let joined = (Moment(row.get(0)), Instant::now());
        line.run("join", "COMMIT")?;
        Ok(Some(Self {
            address: Arc::clone(&project.address),
            project: project.name.clone(),
            shards: project.shards,
            id: WorkerId(id),
            name: name.into(),
            lease: card.lease,
            joined,
            timeline,
        }))
    }

    /// Its number.
    pub fn worker(&self) -> WorkerId {
        self.id
    }

    /// Its name, which no other living worker has.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many shards the project has.
    pub fn shards(&self) -> u16 {
        self.shards
    }

    /// How long it lives without a heartbeat.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// The shard of a host.
    pub fn shard_of(&self, host: &str) -> ShardId {
        shard_of(host, self.shards)
    }

    /// PostgreSQL's clock now. It is behind by the time that the answer took when the worker
    /// joined, so that a wait until a moment of another worker is never too short.
    pub fn store_time(&self) -> Moment {
        self.joined.0.plus(self.joined.1.elapsed())
    }

    /// Whoever keeps it alive.
    pub fn clerk(&self) -> Result<ShardClerk> {
        // Who waits sends no heartbeat: after an answer that never comes there must still be time
        // for another.
        let line = self.redial("clerk").waiting_at_most(self.lease / 5, self.lease / 2);
        Ok(ShardClerk { member: self.clone(), line, grace: BurialGrace::None })
    }

    /// Its letters.
    pub fn mailbox(&self) -> Result<Mailbox> {
        Ok(Mailbox::new(self.redial("post")))
    }

    /// Its leases on addresses; one that runs out unreleased leaves its address closed for `delay`.
    pub fn addresses(&self, delay: Duration) -> Result<AddressDesk> {
        Ok(AddressDesk::new(self.redial("addresses"), self.id, delay))
    }

    pub(crate) fn project(&self) -> &str {
        &self.project
    }

    pub(crate) fn address(&self) -> &SharedAddress {
        &self.address
    }

    pub(super) fn redial(&self, what: &str) -> Redial {
        let who = format!("{} {what} {}", burial::line_name(&self.project, self.id), self.name);
        let joined =
            JoinedAs { name: self.name.to_string(), timeline: self.timeline, silence: self.lease.max(LEAST_SILENCE) };
        Redial::new(Arc::clone(&self.address), &schema_of(&self.project), &who).of_worker(joined)
    }

    pub(super) fn fenced(&self) -> StoreError {
        StoreError::Fenced { worker: self.name.to_string() }
    }
}

impl ShardClerk {
    /// Renews the lease and buries workers whose own has run out; nobody for a lease time after the
    /// store was away.
    pub fn beat(&mut self, report: &WorkerReport) -> Result<HeartbeatReply> {
        let buries = self.grace.is_over(self.member.lease, Instant::now());
        let beaten = self.renew(report, buries);
        let away = matches!(beaten, Err(StoreError::StoreAway { .. }));
        self.grace.heard(!away, Instant::now());
        beaten
    }

    fn renew(&mut self, report: &WorkerReport, buries: bool) -> Result<HeartbeatReply> {
        let member = &self.member;
        self.line.with(|line| {
            let sql = "UPDATE worker SET until = now() + lease_ms * interval '1 millisecond', beaten = now(), why = $2,
                         pages_per_second = $3, queued = $4
                       WHERE id = $1 AND alive RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
            let sql = line.prepared("send a heartbeat", sql)?;
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
                [&member.id.0, &report.why, &report.pages_per_second, &report.queued.cast_signed()];
            let row = line.wait("send a heartbeat", line.client().query_opt(&sql, &values))?;
            let store_time = Moment(row.ok_or_else(|| member.fenced())?.get(0));
            match buries.then(|| burial::bury(line, &member.project, member.timeline)) {
                // What it needs is locked: the next heartbeat tries again.
                None | Some(Ok(()) | Err(StoreError::StoreAway { .. })) => {}
                Some(Err(error)) => return Err(error),
            }
            let (share, held, free) = shares(line, member)?;
            let seed = line.prepared("read the seeds", "SELECT next_seed - 1 FROM project")?;
            let seed: i64 = line.wait("read the seeds", line.client().query_one(&seed, &[]))?.get(0);
            let run = last(line)?.filter(|run| run.record.finished_at.is_none());
            Ok(HeartbeatReply { store_time, lease: member.lease, share, held, free, run, seed: seed.cast_unsigned() })
        })
    }

    /// Takes up to `most` shards that nobody living holds, and no more than can be loaded in a few
    /// seconds: others may take the rest, and work begins with the first. They are locked first and
    /// looked at again then, with a new snapshot: a lock that comes after somebody else's commit is
    /// judged by the new row of the shard but the old rows of the workers, and would take it from
    /// the living.
    pub fn take(&mut self, most: u16) -> Result<Vec<ShardId>> {
        let id = self.member.id.0;
        self.line.with(|line| {
            line.begin("take shards")?;
            let sql =
                "SELECT s.id, s.pages FROM shard s LEFT JOIN worker w ON w.id = s.worker AND w.alive WHERE w.id IS NULL
                       ORDER BY s.id LIMIT $1 FOR UPDATE OF s SKIP LOCKED";
            let rows = line.wait("take shards", line.client().query(sql, &[&i64::from(most)]))?;
            let locked = portion(rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1).cast_unsigned())));
            let sql = "UPDATE shard s SET worker = $1, since = now() WHERE s.id = ANY($2)
                         AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.id = s.worker AND w.alive)
                         AND EXISTS (SELECT 1 FROM worker WHERE id = $1 AND alive) RETURNING s.id";
            let rows = line.wait("take shards", line.client().query(sql, &[&id, &locked]))?;
            line.run("take shards", "COMMIT")?;
            let mut taken: Vec<_> = rows.iter().map(|row| ShardId::from_sql(row.get(0))).collect();
            taken.sort_unstable();
            Ok(taken)
        })
    }

    /// Leaves in order: the shards are free at once, and what was drawn and not spent goes back.
    pub fn leave(&mut self) -> Result<()> {
        let id = self.member.id;
        self.line.with(|line| burial::leave(line, id))
    }
}

/// The first of these shards that have so many pages together, or the first alone.
fn portion(shards: impl Iterator<Item = (i16, u64)>) -> Vec<i16> {
    let mut sum = 0;
    let fits = |(at, (id, pages)): (usize, (i16, u64))| {
        sum += pages;
        (at == 0 || sum <= PORTION).then_some(id)
    };
    shards.enumerate().map_while(fits).collect()
}

/// How many shards the worker should hold, which it holds, and how many nobody does. What is left
/// over by rounding goes to those with the smallest numbers, so that all shares together are all
/// shards.
fn shares(line: &mut SharedLine, member: &Membership) -> Result<(u16, Vec<ShardId>, u16)> {
    let sql = "SELECT id, weight::bigint FROM worker WHERE alive ORDER BY id";
    let living = line.prepared("count the workers", sql)?;
    let rows = line.wait("count the workers", line.client().query(&living, &[]))?;
    let living: Vec<(i64, u64)> = rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1).cast_unsigned())).collect();
    let share = share_of(member.id.0, &living, member.shards);
    let sql = "SELECT s.id, s.worker = $1, w.id IS NULL FROM shard s LEFT JOIN worker w ON w.id = s.worker AND w.alive
               WHERE s.worker = $1 OR w.id IS NULL ORDER BY s.id";
    let shards = line.prepared("read the shards", sql)?;
    let (mut held, mut free) = (Vec::new(), 0);
    for row in line.wait("read the shards", line.client().query(&shards, &[&member.id.0]))? {
        if row.get::<_, Option<bool>>(1) == Some(true) {
            held.push(ShardId::from_sql(row.get(0)));
        } else if row.get(2) {
            free += 1;
        }
    }
    Ok((share, held, free))
}

fn share_of(me: i64, living: &[(i64, u64)], shards: u16) -> u16 {
    let all: u64 = living.iter().map(|(_, weight)| weight).sum::<u64>().max(1);
    let even = |weight: u64| u64::from(shards) * weight / all;
    let rest = u64::from(shards).saturating_sub(living.iter().map(|(_, weight)| even(*weight)).sum());
    let found = living.iter().position(|(id, _)| *id == me);
    found.map_or(0, |at| {
        let more = u64::from((at as u64) < rest);
        u16::try_from(even(living[at].1) + more).unwrap_or(shards)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_taken_in_portions() {
        assert_eq!(portion([(3, 0), (4, PORTION), (5, 1)].into_iter()), [3, 4]);
        assert_eq!(portion([(3, 2 * PORTION), (4, 0)].into_iter()), [3]);
        assert_eq!(portion((0..256).map(|id| (id, 0))).len(), 256);
    }

    #[test]
    fn all_shares_together_are_all_shards() {
        for weights in [vec![1], vec![1, 1, 1], vec![5, 1], vec![1, 2, 3, 4], vec![1; 300]] {
            let living: Vec<(i64, u64)> = (7..).zip(weights).collect();
            let shares: u64 = living.iter().map(|(id, _)| u64::from(share_of(*id, &living, 256))).sum();
            assert_eq!(shares, 256, "{living:?}");
        }
        assert_eq!(share_of(1, &[(1, 3), (2, 1)], 256), 192);
        assert_eq!(share_of(9, &[(1, 3), (2, 1)], 256), 0);
    }
}
