//! How often may a password be tried?
//!
//! Five times; after that every further failure doubles the time to wait, by the name that was
//! tried and by the address it came from. Neither alone is enough: one attacker tries many names,
//! many attackers try one. A success forgets the failures of both. An attempt counts as a failure
//! from its beginning, so that many at once gain nothing. It is all in memory: a restart forgives.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Failures without consequence.
const FREE: u32 = 5;

/// The longest wait.
const LONGEST: Duration = Duration::from_secs(900);

/// How many names and addresses are remembered; a flood of new ones forgets the oldest.
const REMEMBERED: usize = 10_000;

/// Who failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Suspect {
    Account(String),
    Address(IpAddr),
}

/// How often, and when last.
#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    fn wait(self) -> Duration {
        match self.count.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(more) => Duration::from_secs(1 << more.min(10)).min(LONGEST),
        }
    }
}

/// What is remembered of failed log-ins.
#[derive(Debug, Default)]
pub(crate) struct Brake(Mutex<HashMap<Suspect, Failures>>);

impl Brake {
    fn failures(&self) -> MutexGuard<'_, HashMap<Suspect, Failures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long this name or address has to wait from now on; zero if it may try.
    pub(crate) fn wait(&self, name: &str, address: IpAddr, now: Instant) -> Duration {
        longest_wait(&self.failures(), name, address, now)
    }

    /// Counts an attempt as a failure until it has succeeded; or says how long to wait before it.
    pub(crate) fn attempt(&self, name: &str, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut failures = self.failures();
        let wait = longest_wait(&failures, name, address, now);
        if !wait.is_zero() {
            return Err(wait);
        }
        for suspect in suspects(name, address) {
            let known = failures.entry(suspect).or_insert(Failures { count: 0, last: now });
            *known = Failures { count: known.count.saturating_add(1), last: now };
        }
        if failures.len() > REMEMBERED {
            failures.retain(|_, f| now.saturating_duration_since(f.last) < LONGEST);
        }
        while failures.len() > REMEMBERED {
            let oldest = failures.iter().min_by_key(|(_, f)| f.last).map(|(suspect, _)| suspect.clone());
            oldest.map(|suspect| failures.remove(&suspect));
        }
        Ok(())
    }

    /// A password was right.
    pub(crate) fn succeeded(&self, name: &str, address: IpAddr) {
        let mut failures = self.failures();
        suspects(name, address).iter().for_each(|suspect| {
            failures.remove(suspect);
        });
    }
}

/// How long one of this name or address has to wait.
fn longest_wait(failures: &HashMap<Suspect, Failures>, name: &str, address: IpAddr, now: Instant) -> Duration {
    let left = |suspect| {
        let known = failures.get(suspect).copied();
        known.map_or(Duration::ZERO, |f| (f.last + f.wait()).saturating_duration_since(now))
    };
    suspects(name, address).iter().map(left).max().unwrap_or_default()
}

/// Names are cut, since a stranger chooses them.
fn suspects(name: &str, address: IpAddr) -> [Suspect; 2] {
    [Suspect::Account(name.chars().take(64).collect()), Suspect::Address(customer(address))]
}

/// Who has an address: of IPv6 counts the network, of which one customer has all addresses.
pub(crate) fn customer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => IpAddr::V6((six.to_bits() & !u128::from(u64::MAX)).into()),
        four => four,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_five_failures_every_further_one_doubles_the_wait() {
        let (brake, now) = (Brake::default(), Instant::now());
        let here: IpAddr = "192.0.2.1".parse().unwrap();
        let mut waits = Vec::new();
        let mut now = now;
        for _ in 0..18 {
            let wait = brake.wait("ann", here, now);
            waits.push(wait.as_secs());
            if !wait.is_zero() {
                assert_eq!(brake.attempt("ann", here, now), Err(wait));
            }
            now += wait;
            brake.attempt("ann", here, now).unwrap();
        }
        assert_eq!(waits, [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
        brake.succeeded("ann", here);
        assert_eq!(brake.wait("ann", here, now), Duration::ZERO);
    }

    #[test]
    fn neither_another_name_nor_another_address_helps() {
        let (brake, now) = (Brake::default(), Instant::now());
        let at = |text: &str| text.parse::<IpAddr>().unwrap();
        (0..5).for_each(|n| brake.attempt(&format!("name {n}"), at("192.0.2.1"), now).unwrap());
        assert!(brake.wait("ann", at("192.0.2.1"), now) > Duration::ZERO);
        assert!(brake.wait("ann", at("::ffff:192.0.2.1"), now) > Duration::ZERO);
        (0..5).for_each(|n| brake.attempt("bob", at(&format!("2001:db8::{n}")), now).unwrap());
        assert!(brake.wait("bob", at("198.51.100.7"), now) > Duration::ZERO);
        assert!(brake.wait("eve", at("2001:db8::ffff"), now) > Duration::ZERO, "the same network");
        assert_eq!(brake.wait("eve", at("2001:db8:0:1::1"), now), Duration::ZERO);
    }
}
