//! Who logs in where several machines could?
//!
//! One of them, which walks the steps of the project before it crawls and says meanwhile that it is
//! alive. One that was taken for dead stops at once: another machine is logging in then.

use super::pulse::beat_until;
use crate::CrawlError;
use crate::config::Config;
use crate::drive::way_out::WayOut;
use crate::shared::Stop;
use crate::steps::{Roots, walk_from};
use orb_page::RunId;
use orb_store::{Membership, ProjectDir, SeedToPlant, SharedSeed, StoreError};
use orb_urls::Address;

/// A walk along the steps of a project.
pub(super) struct StepWalk<'a> {
    pub(super) dir: &'a ProjectDir,
    pub(super) config: &'a Config,
    pub(super) way_out: &'a WayOut,
    pub(super) run: RunId,
    pub(super) member: &'a Membership,
    pub(super) asked: &'a Stop,
}

impl StepWalk<'_> {
    /// Walks; where the steps lead to, for each of them.
    pub(super) fn lead(&self, planted: &[SharedSeed]) -> Result<Vec<Vec<SeedToPlant>>, CrawlError> {
        let of_step = |seed: &SharedSeed| Some((seed.step?, seed.url.clone()));
        let known: Vec<(u32, String)> = planted.iter().filter_map(of_step).collect();
        let roots = self.alive(|stop| {
            let by = (self.config, self.way_out, None);
            walk_from(self.dir, self.config.settings(), by, (self.run, &known), stop)
        })?;
        let seeds = roots.iter().map(|Roots { step, addresses }| {
            let seed = |root: &Address| SeedToPlant { url: root.as_str().to_owned(), step: Some(*step) };
            addresses.iter().map(seed).collect()
        });
        Ok(seeds.collect())
    }

    /// Does something that can be stopped, as long as the lease lasts.
    fn alive<T: Send>(&self, walk: impl FnOnce(&Stop) -> Result<T, CrawlError> + Send) -> Result<T, CrawlError> {
        let (mut desk, lease, stop) = (self.member.clerk()?, self.member.lease(), Stop::new());
        let lost = || CrawlError::from(StoreError::Fenced { worker: self.member.name().to_owned() });
        let mut late = false;
        std::thread::scope(|threads| {
            let walking = threads.spawn(|| walk(&stop));
            let beaten = beat_until(&mut desk, ("logging in", lease), |silent| {
                late |= silent >= lease - lease / 5;
                if late || self.asked.is_set() {
                    stop.ask();
                }
                walking.is_finished()
            });
            if beaten.is_err() {
                stop.ask();
            }
            let walked = walking.join().map_err(|_| CrawlError::Panicked("walk"))?;
            beaten?;
            if late { Err(lost()) } else { walked }
        })
    }
}
