//! How is the tree below the index set up?
//!
//! Keys of `seen` and `digest` are hashes: every merge of a level rewrites all of the next one. They are almost never read, since the
//! tables in memory answer for them, so they are merged late: twelve tables of the first level at a time. Filters are cut into pieces everywhere:
//! whole ones are larger than the cache, and reading one again for each look-up once cost more than everything else together.
//!
//! Memory: the memtables, whose entries take several times their bytes, and the cache. A journal holds what the memtables do and is replayed after a
//! crash; its bound is what a restart may cost.

use crate::error::{Result, StoreError};
use fjall::compaction::Leveled;
use fjall::config::PartitioningPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use std::path::Path;
use std::sync::Arc;

/// The cache of blocks.
const CACHE: u64 = 32 << 20;
/// What a crash leaves to be replayed, at most.
const JOURNALS: u64 = 96 << 20;

/// The database and its four key spaces.
#[derive(Clone)]
pub(super) struct Spaces {
    pub(super) db: Database,
    pub(super) seen: Keyspace,
    pub(super) digest: Keyspace,
    pub(super) queue: Keyspace,
    pub(super) host: Keyspace,
}

/// Opens the database in a directory, making it if there is none.
pub(super) fn open_spaces(dir: &Path) -> Result<Spaces> {
    let fail = |e| StoreError::index("open", dir, e);
    let db = Database::builder(dir)
        .cache_size(CACHE)
        .max_journaling_size(JOURNALS)
        .worker_threads(1)
        .max_cached_files(Some(256))
        .open()
        .map_err(fail)?;
    let space = |name: &str, memtable: u64, tables: u8, table: u64| {
        let levels = Leveled::default().with_l0_threshold(tables).with_table_target_size(table);
        db.keyspace(name, || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(memtable)
                .filter_block_partitioning_policy(PartitioningPolicy::all(true))
                .index_block_partitioning_policy(PartitioningPolicy::all(true))
                .compaction_strategy(Arc::new(levels))
        })
        .map_err(fail)
    };
    let seen = space("seen", 8 << 20, 12, 64 << 20)?;
    let digest = space("digest", 4 << 20, 12, 32 << 20)?;
    let queue = space("queue", 16 << 20, 8, 64 << 20)?;
    let host = space("host", 4 << 20, 4, 16 << 20)?;
    Ok(Spaces { db, seen, digest, queue, host })
}
