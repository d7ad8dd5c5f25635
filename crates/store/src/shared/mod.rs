//! How do many machines share one collection?
//!
//! PostgreSQL decides which batches have happened, an object store keeps their bytes, and each
//! worker has a scratch catalogue and a frontier index of the shards it holds, which it may lose at
//! any time. Hosts belong to shards by their registrable domain; a worker holds shards as long as
//! its row in `worker` is alive, and every commit is a compare-and-set on that row. A link into
//! another shard is a letter, committed with its page and consumed with what becomes of it.
//!
//! [`SharedProject`] is a project for whoever makes, plants, ends or reads it; [`Membership`] is
//! one incarnation of a worker, and [`crate::Project::join`] what its recorder writes to.

mod acks;
mod addresses;
mod ask;
mod burial;
mod commit;
mod connect;
mod copied;
mod copying;
mod ending;
mod facts;
mod fetching;
mod join;
mod letters;
mod link_rows;
mod load;
mod numbers;
mod objects;
mod overview;
mod prepare;
mod project;
mod pull;
mod refusal;
mod removal;
mod rowing;
mod rows;
mod runs;
mod schedule;
mod schema;
mod scratch;
mod seeds;
mod splits;
mod stitching;
mod stock;
mod tickets;
mod tracking;
mod upgrade;
mod writer;

pub use addresses::{AddressAnswer, AddressDesk, AddressGrant, AddressRelease};
pub use connect::{S3Options, SharedAddress};
pub(crate) use copied::ElsewhereArchive;
pub use copied::{CopyOrigin, reach_s3};
pub use ending::DepthRule;
pub use join::{HeartbeatReply, Membership, ShardClerk, WorkerCard, WorkerReport};
pub use letters::{DigestLetter, FoundLetter, Letter, LetterBundle, LetterId, Mailbox, NearerLetter, SameLetter};
pub use load::Adopted;
pub(crate) use load::{chosen, digests, load};
pub(crate) use objects::ObjectArchive;
pub use overview::{AddressDispute, ShardOverview, SharedOverview, WorkerOverview};
pub use prepare::{StorePreparation, prepare_store};
pub use project::{SharedListing, SharedMaking, SharedProject};
pub use pull::{CopyChange, PulledCopy};
pub use runs::{PlantedRun, RunTerms, SharedRun};
pub use schedule::{ScheduleDesk, SharedTimetable};
pub(crate) use scratch::wipe;
pub use seeds::{SeedToPlant, SharedSeed};
pub use splits::{CopySplits, CopyTurn, SplitDesk, SplitRow};
pub use stitching::StitchAccount;
pub use stock::{ArchiveStock, LostObject, OrphanObject};
pub(crate) use writer::SharedWriter;

use orb_page::{LinkKind, PageId};
use xxhash_rust::xxh3::xxh3_64;

/// A part of a project: the hosts of some registrable domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub u16);

/// One incarnation of a worker; it never comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub i64);

/// A link into a shard of ours that a letter told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldLink {
    /// The page that links.
    pub src: PageId,
    /// Its shard.
    pub shard: ShardId,
    /// The target.
    pub dst: PageId,
    /// The kind of link.
    pub kind: LinkKind,
    /// Its anchor text.
    pub anchor: String,
    /// Its `rel`.
    pub rel: String,
    /// How often it occurs on the page.
    pub count: u32,
}

/// The most shards a project may have.
pub const MAX_SHARDS: u16 = 1_024;

/// The fewest.
pub(crate) const MIN_SHARDS: u16 = 16;

/// How many it has where nobody says otherwise.
pub(crate) const DEFAULT_SHARDS: u16 = 256;

/// Whether a project may have so many shards.
pub(crate) fn may_be_shards(number: u16) -> bool {
    number.is_power_of_two() && (MIN_SHARDS..=MAX_SHARDS).contains(&number)
}

/// The shard of a host, named as in a URL, without brackets.
pub fn shard_of(host: &str, shards: u16) -> ShardId {
    place(xxh3_64(orb_urls::site::registrable(host).as_bytes()), shards)
}

impl ShardId {
    /// The shard that remembers who was first with this content.
    pub fn of_digest(digest: &[u8; 32], shards: u16) -> Self {
        place(xxh3_64(digest), shards)
    }

    /// As PostgreSQL keeps it.
    pub(crate) fn sql(self) -> i16 {
        i16::try_from(self.0).unwrap_or(i16::MAX)
    }

    pub(crate) fn from_sql(number: i16) -> Self {
        Self(u16::try_from(number).unwrap_or(0))
    }
}

fn place(hash: u64, shards: u16) -> ShardId {
    ShardId(u16::try_from(hash % u64::from(shards.max(1))).unwrap_or(0))
}

/// What must be the same in every worker: the canonical form of URLs and the function of shards.
/// Samples of both are hashed, so that a change of either shows without anybody's remembering to
/// count a version up.
pub(crate) fn fingerprint() -> String {
    const SAMPLES: [&str; 8] = [
        "http://WWW.Example.co.uk:80/a/../b?x=1&y=#f",
        "https://b\u{fc}cher.example/%7euser/%c3%bc",
        "http://user.github.io/",
        "http://s3.amazonaws.com/x",
        "http://192.0.2.1/",
        "http://a.b.kawasaki.jp/",
        "https://[2001:db8::1]/",
        "http://localhost/;p?q",
    ];
    let (mut said, canonical) = (String::new(), orb_urls::Canonicaliser::default());
    for sample in SAMPLES {
        let Ok(address) = canonical.parse(sample) else { continue };
        said.push_str(address.as_str());
        said.push(' ');
        said.push_str(orb_urls::site::registrable(address.host()));
        said.push('\n');
    }
    format!("1-{:016x}", xxh3_64(said.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_domain_share_a_shard_and_domains_spread() {
        assert_eq!(shard_of("www.example.co.uk", 256), shard_of("example.co.uk", 256));
        assert_eq!(shard_of("192.0.2.1", 256), shard_of("192.0.2.1", 256));
        let used: std::collections::HashSet<_> = (0..2_000).map(|n| shard_of(&format!("site{n}.org"), 256)).collect();
        assert!(used.len() > 250 && used.iter().all(|shard| shard.0 < 256));
    }

    #[test]
    fn the_fingerprint_is_the_same_every_time() {
        assert_eq!(fingerprint(), fingerprint());
        assert_eq!(fingerprint().len(), 18);
    }
}
