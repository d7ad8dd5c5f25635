//! How much of the run's budget may this machine spend?
//!
//! Pages and bytes are drawn from the store in tickets: a share of what is left, so that no machine
//! sits on what others could use. More is drawn before a ticket is used up. A machine that rests
//! gives the remainder back. Time is the run's, by the store's clock.

use super::Team;
use crate::shared::SharedState;
use orb_page::RunId;
use orb_store::{HeartbeatReply, ShardClerk, SharedRun, StoreError};
use std::time::Instant;

/// The largest tickets: pages, and bytes.
const MOST_PAGES: u64 = 1_000;
const MOST_BYTES: u64 = 64 << 20;

/// The smallest ticket of bytes: a page or two.
const LEAST_BYTES: u64 = 64 << 10;

/// What a machine has of the budget.
pub(super) struct Purse {
    pages: Option<TicketKind>,
    bytes: Option<TicketKind>,
    /// When the time of the run is over.
    end: Option<Instant>,
    /// Whether something was drawn that was not given back.
    holds: bool,
}

/// Tickets of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct TicketKind {
    /// How much to draw at once.
    size: u64,
    /// What the last drawing gave.
    last: u64,
}

impl TicketKind {
    /// What to draw if so much is left of the last ticket: nothing while that is plenty, or while
    /// there was nothing left to draw, unless somebody waits for it.
    fn wish(self, left: u64, waiting: bool) -> Option<u64> {
        (waiting && left == 0 || self.last > 0 && left < self.last / 4).then_some(self.size.max(1))
    }
}

impl Purse {
    /// What a run allows; a machine begins with nothing.
    pub(super) fn of(run: &SharedRun) -> Self {
        let tickets = |limited: bool| limited.then(TicketKind::default);
        let mut purse =
            Self { pages: tickets(run.budget.is_some()), bytes: tickets(run.bytes.is_some()), end: None, holds: false };
        purse.measure(run, 1);
        purse
    }

    /// Whether the number of pages is limited.
    pub(super) fn limits_pages(&self) -> bool {
        self.pages.is_some()
    }

    /// Whether the number of bytes is limited.
    pub(super) fn limits_bytes(&self) -> bool {
        self.bytes.is_some()
    }

    /// Learns from a heartbeat how much is left, and how many share it.
    pub(super) fn heed(&mut self, beat: &HeartbeatReply, shards: u16) {
        if let Some(run) = &beat.run {
            self.measure(run, u64::from(shards / beat.share.max(1)).max(1));
        }
    }

    fn measure(&mut self, run: &SharedRun, workers: u64) {
        let share = |left: Option<u64>| left.unwrap_or(0) / (2 * workers);
        self.pages.iter_mut().for_each(|tickets| tickets.size = share(run.budget).clamp(1, MOST_PAGES));
        self.bytes.iter_mut().for_each(|tickets| tickets.size = share(run.bytes).clamp(LEAST_BYTES, MOST_BYTES));
        self.end = run.time.map(|most| Instant::now() + most.saturating_sub(run.elapsed));
    }

    /// Draws what is needed, gives back what is not, and notices that the time is over; whether the
    /// driver has something new to look at.
    pub(super) fn tend(
        &mut self,
        desk: &mut ShardClerk,
        shared: &SharedState,
        team: &Team,
        run: RunId,
    ) -> Result<bool, StoreError> {
        let late = self.end.is_some_and(|end| Instant::now() >= end);
        if late {
            team.be_late();
        }
        let fetched = shared.progress.bytes();
        if self.holds && team.is_idle() && shared.frontier().revoke_pages() {
            if self.bytes.is_some() {
                team.allow_bytes(fetched);
            }
            // Not drawn again before somebody asks for it.
            self.pages.iter_mut().chain(&mut self.bytes).for_each(|tickets| tickets.last = 0);
            desk.give_back(run)?;
            self.holds = false;
        }
        if late {
            return Ok(false);
        }
        let waiting = team.take_wish();
        let mut more = false;
        let pages_left = shared.frontier().pages_left().unwrap_or(0);
        if let Some(tickets) = &mut self.pages
            && let Some(wish) = tickets.wish(pages_left, waiting)
        {
            // Also if the answer is lost.
            self.holds = true;
            let drawn = desk.draw(run, wish)?.unwrap_or(u64::MAX);
            tickets.last = drawn;
            shared.frontier().allow_pages(drawn);
            more |= drawn > 0;
        }
        if let Some(tickets) = &mut self.bytes
            && let Some(wish) = tickets.wish(team.bytes_left(fetched), waiting)
        {
            self.holds = true;
            let drawn = desk.draw_bytes(run, wish)?.unwrap_or(u64::MAX / 2);
            tickets.last = drawn;
            team.allow_more_bytes(fetched, drawn);
            more |= drawn > 0;
        }
        if more && waiting {
            // What the driver said before it got these is not true any more.
            team.next_epoch();
        }
        Ok(more)
    }
}
