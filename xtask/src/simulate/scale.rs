//! How many shards, and how long a slice?
//!
//! Discrete events over pairs of worker and address: all hosts of one worker at one address are one
//! queue, since the delay is owed to the address. An event is the end of a slice. A worker has as
//! many addresses at once as its rate allows; one that waits for an address that another holds
//! takes none of it. What is counted: pages within a day against the least of what politeness, the
//! workers' speed and the web allow; rows of address leases; time lost when an address changes
//! hands; evenness of the workers.

use super::web::{WebSize, delay_of};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Instant;

const WORKERS: u16 = 100;
/// Pages a worker fetches in a thousand seconds: 120 a second.
const SPEED: u64 = 120_000;
const DAY: u64 = 86_400_000;
/// Asking for a lease takes half a period of the clerk and a statement.
const ASK: u64 = 60;
/// Until a worker notices that an address was given up.
const NOTICE: u64 = 100;
/// How long a server takes to answer.
const ANSWER: u64 = 300;
const NOBODY: u32 = u32::MAX;

/// Pages of one worker at one address.
struct Pair {
    worker: u16,
    address: u32,
    left: u32,
    /// What is fetched in the current slice.
    slice: u32,
}

#[derive(Default)]
struct ScaleTally {
    pages: u64,
    rows: u64,
    handovers: u64,
    /// Time in which an address was open, wanted and not used.
    lost: u64,
    /// Time of slices on addresses that others waited for.
    contested: u64,
    by_worker: Vec<u64>,
}

struct Cluster {
    pairs: Vec<Pair>,
    /// The next pair that a worker has not begun, and the end of its pairs.
    next: Vec<(usize, usize)>,
    rate: Vec<u64>,
    holder: Vec<u32>,
    open_at: Vec<u64>,
    waiting: HashMap<u32, VecDeque<u32>>,
    events: BinaryHeap<Reverse<(u64, u32)>>,
    slice: u64,
    tally: ScaleTally,
}

/// The rate an address adds, in pages per thousand seconds.
fn rate_of(address: u32) -> u64 {
    1_000_000 / delay_of(address)
}

impl Cluster {
    fn new(web: WebSize, shards: u64, slice: u64) -> Self {
        let worker = |domain: u64| (domain % shards % u64::from(WORKERS)) as u16;
        let mut hosts: Vec<(u16, u32, u32)> = web.hosts().map(|h| (worker(h.domain), h.address, h.pages)).collect();
        hosts.sort_unstable();
        let mut pairs: Vec<Pair> = Vec::new();
        for (worker, address, pages) in hosts {
            match pairs.last_mut().filter(|last| last.worker == worker && last.address == address) {
                Some(last) => last.left = last.left.saturating_add(pages),
                None => pairs.push(Pair { worker, address, left: pages, slice: 0 }),
            }
        }
        // Every worker begins with the addresses that take longest.
        pairs.sort_by_cached_key(|p| (p.worker, Reverse(u64::from(p.left) * delay_of(p.address)), p.address));
        let starts: Vec<usize> = (0..=WORKERS).map(|w| pairs.partition_point(|p| p.worker < w)).collect();
        let all = web.addresses() as usize;
        Self {
            next: starts.windows(2).map(|w| (w[0], w[1])).collect(),
            rate: vec![0; usize::from(WORKERS)],
            holder: vec![NOBODY; all],
            open_at: vec![0; all],
            waiting: HashMap::new(),
            events: BinaryHeap::new(),
            slice,
            tally: ScaleTally { by_worker: vec![0; usize::from(WORKERS)], ..ScaleTally::default() },
            pairs,
        }
    }

    fn run(mut self) -> ScaleTally {
        for worker in 0..WORKERS {
            self.fill(worker, 0);
        }
        while let Some(Reverse((now, pair))) = self.events.pop()
            && now <= DAY
        {
            self.end_slice(pair, now);
        }
        self.tally
    }

    /// Begins addresses while a worker has room.
    fn fill(&mut self, worker: u16, now: u64) {
        let place = usize::from(worker);
        while self.rate[place] < SPEED && self.next[place].0 < self.next[place].1 {
            let pair = self.next[place].0;
            self.next[place].0 += 1;
            let address = self.pairs[pair].address;
            if self.holder[address as usize] == NOBODY {
                self.grant(pair as u32, now + ASK);
            } else {
                self.waiting.entry(address).or_default().push_back(pair as u32);
            }
        }
    }

    /// An address is leased to a pair for a slice.
    fn grant(&mut self, index: u32, now: u64) {
        let pair = &mut self.pairs[index as usize];
        let (address, place) = (pair.address as usize, usize::from(pair.worker));
        let delay = delay_of(pair.address);
        let (begin, until) = (now.max(self.open_at[address]), now + self.slice);
        let most = if begin < until { (until - begin).div_ceil(delay) } else { 0 };
        pair.slice = u32::try_from(most).unwrap_or(u32::MAX).min(pair.left);
        self.open_at[address] = self.open_at[address].max(begin + u64::from(pair.slice) * delay);
        self.tally.rows += 1;
        self.rate[place] += rate_of(pair.address);
        self.holder[address] = index;
        let last = begin + u64::from(pair.slice.saturating_sub(1)) * delay + ANSWER;
        let end = if pair.slice == pair.left { last } else { until };
        self.events.push(Reverse((end, index)));
    }

    fn end_slice(&mut self, index: u32, now: u64) {
        let pair = &mut self.pairs[index as usize];
        let (address, worker, done) = (pair.address, pair.worker, pair.slice);
        pair.left -= done;
        let left = pair.left;
        self.tally.pages += u64::from(done);
        self.tally.by_worker[usize::from(worker)] += u64::from(done);
        self.rate[usize::from(worker)] -= rate_of(address);
        self.holder[address as usize] = NOBODY;
        let next = self.waiting.get_mut(&address).and_then(VecDeque::pop_front);
        match next {
            Some(next) => {
                // Given up, with what is left of the delay.
                self.tally.rows += 1;
                self.tally.handovers += 1;
                self.tally.contested += u64::from(done) * delay_of(address);
                self.tally.lost += (now + NOTICE).saturating_sub(self.open_at[address as usize]);
                if left > 0 {
                    self.waiting.entry(address).or_default().push_back(index);
                }
                self.grant(next, now + NOTICE);
            }
            // Renewed before it ends.
            None if left > 0 => self.grant(index, now),
            None => {
                self.tally.rows += 1;
                self.waiting.remove(&address);
            }
        }
        self.fill(worker, now);
    }
}

/// What a day could bring: the least of what politeness and speed allow.
fn bound(web: WebSize) -> (u64, u64, u64) {
    let (mut at, mut pages) = (vec![0u64; web.addresses() as usize], 0);
    for host in web.hosts() {
        at[host.address as usize] += u64::from(host.pages);
        pages += u64::from(host.pages);
    }
    let allowed = (0..).zip(&at).map(|(address, pages)| (*pages).min(DAY / delay_of(address)));
    let used = at.iter().filter(|pages| **pages > 0).count() as u64;
    (pages, allowed.sum(), used)
}

/// How uneven the pages of the shards are over so many workers: the most of one by the mean.
fn unevenness(web: WebSize, shards: u64, workers: u64) -> f64 {
    let mut load = vec![0u64; workers as usize];
    web.hosts().for_each(|h| load[(h.domain % shards % workers) as usize] += u64::from(h.pages));
    let most = load.iter().max().copied().unwrap_or(0);
    most as f64 * workers as f64 / load.iter().sum::<u64>().max(1) as f64
}

/// Prints what shards and slices of several sizes lead to.
pub(super) fn scale(hosts: u32, seed: u64) {
    let web = WebSize { hosts, pages: f64::from(hosts) * 100.0, seed };
    let (pages, allowed, used) = bound(web);
    let speed = u64::from(WORKERS) * SPEED / 1_000 * (DAY / 1_000);
    let bound = allowed.min(speed).min(pages);
    println!("{pages} pages on {hosts} hosts at {used} addresses; {WORKERS} workers, seed {seed}");
    println!("a day allows {allowed} pages by politeness, {speed} by speed\n");
    println!("shards  slice  pages in a day  of bound  lease rows/s  hand-overs/s  lost  most/mean  letters/s");
    for shards in [256, 1_024] {
        for slice in [30, 60] {
            let begun = Instant::now();
            let tally = Cluster::new(web, shards, slice * 1_000).run();
            let a_second = |n: u64| n as f64 / (DAY / 1_000) as f64;
            let most = tally.by_worker.iter().max().copied().unwrap_or(0);
            let even = most as f64 * f64::from(WORKERS) / tally.pages.max(1) as f64;
            // A batch of five seconds has a letter for each shard that its links lead to.
            let foreign = tally.pages as f64 / f64::from(WORKERS) / (DAY / 1_000) as f64 * 5.0 * 10.0;
            let reached = shards as f64 * (1.0 - (-foreign / shards as f64).exp());
            println!(
                "{shards:>6}  {slice:>4}s  {:>14}  {:>7.1}%  {:>12.0}  {:>12.1}  {:>3.1}%  {even:>9.3}  {:>9.0}",
                tally.pages,
                tally.pages as f64 * 100.0 / bound as f64,
                a_second(tally.rows),
                a_second(tally.handovers),
                tally.lost as f64 * 100.0 / (tally.contested + tally.lost).max(1) as f64,
                reached * f64::from(WORKERS) / 5.0,
            );
            eprintln!("        ({:.0} s)", begun.elapsed().as_secs_f64());
        }
    }
    println!("\nshards  most/mean of 100 workers  of 99");
    for shards in [256, 1_024] {
        let of = |workers| unevenness(web, shards, workers);
        println!("{shards:>6}  {:>24.3}  {:>5.3}", of(100), of(99));
    }
}
