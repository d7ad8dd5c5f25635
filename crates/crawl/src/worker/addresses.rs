//! Who leases the addresses that our hosts are at?
//!
//! A thread with a connection of its own: ten times a second it asks the frontier which addresses
//! it wants and which it does not need, and the store for all of them at once. A lease counts from
//! before it was asked for.

use crate::drive::clock::SteadyClock;
use crate::shared::SharedState;
use orb_store::{AddressDesk, AddressRelease, StoreError};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How often the frontier is asked.
const EVERY: Duration = Duration::from_millis(100);

/// What the leasing thread works with.
pub(super) struct AddressClerk {
    pub(super) desk: AddressDesk,
    pub(super) shared: Arc<SharedState>,
    pub(super) clock: SteadyClock,
    /// How long an address is leased.
    pub(super) slice: Duration,
}

impl AddressClerk {
    /// Leases until this incarnation is asked to stop.
    pub(super) fn run(&mut self) -> Result<(), StoreError> {
        while !self.shared.stop.wait(EVERY) {
            let now = self.clock.now();
            let mut frontier = self.shared.frontier();
            let given = frontier.leases_to_give(now);
            let wanted = frontier.addresses_wanted(now, self.slice / 3);
            drop(frontier);
            if !given.is_empty() || !wanted.is_empty() {
                self.ask(&wanted, given)?;
            }
        }
        Ok(())
    }

    /// Gives everything back, once nothing is in flight any more.
    pub(super) fn leave(mut self) {
        let given = self.shared.frontier().give_all_leases(self.clock.now());
        // What cannot be given back runs out.
        let _ = self.ask(&[], given);
    }

    fn ask(&mut self, wanted: &[IpAddr], given: Vec<(IpAddr, Duration)>) -> Result<(), StoreError> {
        let begun = self.clock.now();
        let released: Vec<AddressRelease> =
            given.into_iter().map(|(ip, open_in)| AddressRelease { ip, open_in }).collect();
        let answer = match self.desk.ask(wanted, &released, self.slice) {
            // Leases run out, and are asked for again.
            Err(StoreError::StoreAway { .. }) => return Ok(()),
            answer => answer?,
        };
        // Early by a twentieth: the last request must have left before the others may send.
        let until = begun.plus(self.slice - self.slice / 20);
        let now = self.clock.now();
        let mut frontier = self.shared.frontier();
        for grant in answer.granted {
            // One that others want ends with its slice, though the store has renewed it.
            if answer.contested.contains(&grant.ip) {
                frontier.contested(grant.ip);
            }
            frontier.leased(grant.ip, until, grant.open_in, now);
        }
        drop(frontier);
        self.shared.wake.notify_one();
        Ok(())
    }
}
