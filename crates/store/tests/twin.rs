//! Is the store of the simulation the one that we have?
//!
//! Random traces of calls are played on PostgreSQL and on the store of `orb_simulation`, and their
//! answers are compared, call by call. Time is that of the server. It is moved on by moving back
//! what the tables say of time, by steps that no lease is a multiple of: a trace ends before its
//! own length could decide anything.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod cluster;

use cluster::until;
use cluster::worker::{SCHEMA, SHARDS, Store, Worker};
use orb_page::{PageId, RunId};
use orb_simulation::{FakeAsk, FakeBatch, FakeEnd, FakeLetter, FakeMember, FakePage, FakeStore, SimDice};
use orb_store::{AddressDesk, AddressRelease, Batch, Letter, StoreError, WorkerReport, shard_of};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_secs(20);
/// Longer than a lease from the second step on, and shorter before, whatever the trace takes.
const STEP: i64 = 12_000;
const LONGEST: Duration = Duration::from_secs(7);
/// After the lease of an address, and before the second step.
const DELAY: Duration = Duration::from_millis(3_500);
const OPENS: Duration = Duration::from_secs(10);

/// A worker of both.
struct Pair {
    real: Worker,
    desk: AddressDesk,
    fake: FakeMember,
    batch: u64,
    turn: u64,
}

struct Twins {
    store: Store,
    fake: FakeStore,
    dice: SimDice,
    pairs: Vec<Pair>,
    urls: BTreeMap<String, u32>,
    /// How much later it is than the server thinks.
    ahead: i64,
    run: RunId,
    said: Vec<String>,
}

fn site(n: usize) -> String {
    format!("http://site{n}.org/")
}

fn links_of(url: &str) -> Vec<String> {
    let n: usize = url.trim_start_matches("http://site").split('.').next().unwrap().parse().unwrap();
    if url.ends_with("org/") { vec![site((n + 1) % 12), site((n + 5) % 12), format!("{url}a")] } else { vec![site(n)] }
}

fn host_of(url: &str) -> &str {
    url.trim_start_matches("http://").split('/').next().unwrap()
}

impl Twins {
    fn now(&self) -> i64 {
        self.store.server.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint") + self.ahead
    }

    fn started(&self) -> i64 {
        self.store.server.number("SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint") + self.ahead
    }

    fn new(store: Store, seed: u64) -> Self {
        store.server.run_sql(&format!("DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"));
        store.project();
        let run = store.plant(&[&site(0)]);
        let home = shard_of(host_of(&site(0)), SHARDS);
        let fake = FakeStore::new(SHARDS, (home, 0), Some(1_000), None);
        let urls = BTreeMap::from([(site(0), 0)]);
        let dice = SimDice::new(seed);
        Self { store, fake, dice, pairs: Vec::new(), urls, ahead: 0, run, said: Vec::new() }
    }

    fn url(&mut self, url: &str) -> u32 {
        let next = u32::try_from(self.urls.len()).unwrap();
        *self.urls.entry(url.to_owned()).or_insert(next)
    }

    fn say(&mut self, what: String) {
        self.said.push(what);
    }

    fn join(&mut self) {
        let name = format!("w{}", self.said.len());
        let now = self.now();
        let real = Worker::join(&self.store.address(), &name, LEASE);
        let fake = self.fake.join(1, 20_000, now);
        self.say(format!("join {}", fake.id.0));
        assert_eq!(real.member.worker(), fake.id, "{:#?}", self.said);
        let desk = real.member.addresses(DELAY).unwrap();
        self.pairs.push(Pair { real, desk, fake, batch: 0, turn: 0 });
    }

    /// One call by one worker; false if it is over with it.
    fn call(&mut self, at: usize) -> bool {
        let what = self.dice.index(9);
        let who = self.pairs[at].fake.id.0;
        self.say(format!(
            "{who}: {}",
            ["beat", "beat", "take", "digest", "visit", "give", "idle", "draw", "ask"][what]
        ));
        match what {
            0 | 1 => self.beat(at),
            2 => self.take(at),
            3 => {
                let batch = self.pairs[at].real.digest();
                let held = self.pairs[at].real.project.held();
                let read: BTreeSet<_> = self.fake.read(&held, &BTreeSet::new()).into_iter().map(|(id, _)| id).collect();
                assert_eq!(batch.read.iter().copied().collect::<BTreeSet<_>>(), read, "{:#?}", self.said);
                self.commit(at, batch)
            }
            4 => {
                let batch = self.pairs[at].real.visit(4, links_of);
                self.commit(at, batch)
            }
            5 => {
                let mut gifts = self.pairs[at].real.project.held();
                gifts.truncate(self.dice.index(3));
                self.commit(at, Batch { gifts, ..Batch::default() })
            }
            6 => {
                let idle = Some(self.run);
                self.commit(at, Batch { idle, ..Batch::default() })
            }
            7 => {
                let pages = 1 + self.dice.index(400) as u64;
                let real = self.pairs[at].real.clerk.draw(self.run, pages);
                let fake = self.fake.draw(self.pairs[at].fake, pages);
                self.same(real.map(Some), fake.map(Some))
            }
            _ => self.ask(at),
        }
    }

    /// Compares two answers; false if the worker was fenced, in both.
    fn same<T: PartialEq + std::fmt::Debug>(
        &self,
        real: Result<T, StoreError>,
        fake: Result<T, orb_simulation::FakeFenced>,
    ) -> bool {
        match (real, fake) {
            (Ok(real), Ok(fake)) => {
                assert_eq!(real, fake, "{:#?}", self.said);
                true
            }
            (Err(StoreError::Fenced { .. }), Err(_)) => false,
            (real, fake) => panic!("PostgreSQL says {real:?}, the other {fake:?} after {:#?}", self.said),
        }
    }

    fn beat(&mut self, at: usize) -> bool {
        let now = self.now();
        let pair = &mut self.pairs[at];
        let real = pair.real.clerk.beat(&WorkerReport::default());
        let fake = self.fake.beat(pair.fake, now).map(|(reply, _)| reply);
        if let Some(run) = real.as_ref().ok().and_then(|beat| beat.run.as_ref()) {
            pair.real.run = run.record.id;
            pair.real.project.enter_run(run).unwrap();
        }
        let real = real.map(|beat| (usize::from(beat.share), beat.held, usize::from(beat.free), beat.run.is_some()));
        self.same(real, fake.map(|reply| (reply.share, reply.held, reply.free, reply.running)))
    }

    fn take(&mut self, at: usize) -> bool {
        let most = self.dice.index(8);
        let pair = &mut self.pairs[at];
        let real = pair.real.clerk.take(u16::try_from(most).unwrap()).unwrap();
        let fake = self.fake.take(pair.fake, most);
        assert_eq!(real, fake, "{:#?}", self.said);
        let adopted = pair.real.project.adopt(&real).unwrap();
        let (pages, _) = self.fake.load(&fake);
        assert_eq!(adopted.pages, pages.len() as u64, "{:#?}", self.said);
        true
    }

    fn ask(&mut self, at: usize) -> bool {
        let ips: Vec<IpAddr> = (1..5u8).map(|n| IpAddr::from([192, 0, 2, n])).collect();
        let wanted: Vec<IpAddr> = ips.iter().copied().filter(|_| self.dice.chance(500)).collect();
        let released: Vec<IpAddr> =
            ips.into_iter().filter(|ip| !wanted.contains(ip) && self.dice.chance(500)).collect();
        let now = self.now();
        let pair = &mut self.pairs[at];
        pair.turn += 1;
        let given: Vec<AddressRelease> = released.iter().map(|ip| AddressRelease { ip: *ip, open_in: OPENS }).collect();
        let answer = pair.desk.ask(&wanted, &given, LEASE).unwrap();
        let (slice, delay) = (20_000, i64::try_from(DELAY.as_millis()).unwrap());
        let released = released.into_iter().map(|ip| (ip, 10_000)).collect();
        let ask = FakeAsk { turn: pair.turn, wanted, released, slice, delay };
        let fake = self.fake.ask(pair.fake, &ask, now);
        let real: BTreeMap<IpAddr, (i64, bool)> = answer
            .granted
            .iter()
            .map(|grant| {
                (grant.ip, (i64::try_from(grant.open_in.as_millis()).unwrap(), answer.contested.contains(&grant.ip)))
            })
            .collect();
        let fake: BTreeMap<IpAddr, (i64, bool)> =
            fake.into_iter().map(|(ip, open_in, contested)| (ip, (open_in, contested))).collect();
        assert_eq!(real.keys().collect::<Vec<_>>(), fake.keys().collect::<Vec<_>>(), "{:#?}", self.said);
        for (ip, (open_in, contested)) in real {
            assert_eq!(contested, fake[&ip].1, "{ip} after {:#?}", self.said);
            assert!(
                (open_in - fake[&ip].0).abs() < 1_500,
                "{ip}: {open_in} and {:?} after {:#?}",
                fake[&ip],
                self.said
            );
        }
        true
    }

    fn commit(&mut self, at: usize, mut batch: Batch) -> bool {
        batch.run = self.run;
        let mut fake = self.translated(&batch);
        let now = self.now();
        let pair = &mut self.pairs[at];
        fake.marked = pair.real.project.held();
        pair.batch += 1;
        let (no, nonce) = (pair.batch, now.unsigned_abs() | 1);
        let real = pair.real.commit(&mut batch).map(drop);
        let fake = match self.fake.commit(pair.fake, (no, nonce), &fake, now).unwrap() {
            FakeEnd::Done => Ok(()),
            FakeEnd::Fenced => Err(orb_simulation::FakeFenced),
        };
        self.same(real, fake)
    }

    /// The same batch for the other store.
    fn translated(&mut self, batch: &Batch) -> FakeBatch {
        let mut out = FakeBatch { idle: batch.idle.is_some(), gifts: batch.gifts.clone(), ..FakeBatch::default() };
        for page in &batch.discovered {
            let host_name = host_of(&page.url).to_owned();
            let (url, shard) = (self.url(&page.url), shard_of(&host_name, SHARDS));
            let row = FakePage { url, host: page.host, host_name, shard, visited: None, duplicate_of: None };
            out.pages.push((page.page, row));
        }
        for finished in &batch.visits {
            out.visits.push(finished.visit.page);
            let targets = finished.targets.iter().filter(|target| **target != PageId(0));
            out.links.extend(targets.map(|target| (finished.visit.page, *target)));
        }
        out.links.extend(batch.told.iter().map(|told| (told.src, told.dst)));
        for (to, letter) in &batch.letters {
            let Letter::Found(found) = letter else { continue };
            out.letters.push((*to, FakeLetter::Found(found.from.map(|(page, _)| page), self.url(&found.url))));
        }
        out.read.clone_from(&batch.read);
        out
    }

    fn advance(&mut self) {
        self.say(format!("{STEP} ms pass"));
        let step = format!("interval '{STEP} milliseconds'");
        self.store.server.run_sql(&format!(
            "UPDATE {SCHEMA}.worker SET until = until - {step};
             UPDATE {SCHEMA}.address SET until = until - {step}, open_at = open_at - {step}"
        ));
        self.ahead += STEP;
        self.fake.started += STEP;
    }

    fn compare(&self) {
        let real = |what: &str| self.store.count(what);
        let fake = [
            ("page_row", self.fake.pages.len()),
            ("link_row", self.fake.links.len()),
            ("letter", self.fake.letters()),
            ("worker w WHERE w.alive", self.fake.workers.values().filter(|worker| worker.alive).count()),
        ];
        for (what, count) in fake {
            assert_eq!(real(what), i64::try_from(count).unwrap(), "{what} after {:#?}", self.said);
        }
    }

    /// Plays until the trace has taken as long as it may; how many calls that were.
    fn play(&mut self, most: usize) -> usize {
        let began = Instant::now();
        for call in 0..most {
            if began.elapsed() > LONGEST {
                return call;
            }
            let chosen = self.dice.index(20);
            if self.pairs.is_empty() || (chosen == 0 && self.pairs.len() < 3) {
                self.join();
                continue;
            }
            let at = self.dice.index(self.pairs.len());
            let stays = match chosen {
                1 | 2 => {
                    self.advance();
                    true
                }
                3 => {
                    self.say(format!("leave {}", self.pairs[at].fake.id.0));
                    let now = self.now();
                    self.pairs[at].real.clerk.leave().unwrap();
                    self.fake.leave(self.pairs[at].fake, now);
                    false
                }
                4 => {
                    self.say("is it over?".to_owned());
                    let real = self.store.project().end_if_done(self.run).unwrap();
                    assert_eq!(real, self.fake.end_if_done(), "{:#?}", self.said);
                    true
                }
                _ => self.call(at),
            };
            if !stays {
                self.pairs.remove(at);
            }
            self.compare();
        }
        most
    }
}

#[test]
fn the_simulations_store_answers_as_postgresql_does() {
    let mut store = Some(Store::start());
    let up = |store: &Store| {
        store.server.number("SELECT (extract(epoch FROM now() - pg_postmaster_start_time()) * 1000)::bigint")
    };
    let lease = i64::try_from(LEASE.as_millis()).unwrap();
    let mut calls = 0;
    for seed in 0..12 {
        let here = store.take().unwrap();
        // While the server has just come up nobody is buried, then everybody may be; in between a
        // trace would have to guess.
        if up(&here) > lease - 9_000 {
            until("a lease since the server's start", || up(&here) > lease);
        }
        let mut twins = Twins::new(here, seed);
        twins.fake.started = twins.started();
        calls += twins.play(40);
        store = Some(twins.store);
    }
    assert!(calls > 60, "only {calls} calls");
}
