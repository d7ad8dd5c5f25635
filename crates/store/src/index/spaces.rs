//! How is the tree below the index set up?
//!
//! Keys of `seen` and `digest` are hashes: every merge of a level rewrites all of the next one. They are almost never read, since the
//! tables in memory answer for them, so they are merged late: many tables of the first level at a time. Queues are read, from every table of the
//! first level, but a hundred entries at a time (`ahead`), so they are merged late, too. Filters are cut into pieces everywhere: whole ones are larger than the cache, and reading one again for each look-up
//! once cost more than everything else together.
//!
//! Only `host` is written through journal and memtable: the others get their tables ready made (`fold`).

use crate::error::{Result, StoreError};
use fjall::compaction::Leveled;
use fjall::config::PartitioningPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use std::path::Path;
use std::sync::Arc;

/// The cache of blocks.
const CACHE: u64 = 16 << 20;
/// What a crash leaves to be replayed, at most.
const JOURNALS: u64 = 96 << 20;

/// Hosts changed since they were last written to a table.
const MEMTABLE: u64 = 4 << 20;

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
    let space = |name: &str, tables: u8, table: u64| {
        let levels = Leveled::default().with_l0_threshold(tables).with_table_target_size(table);
        db.keyspace(name, || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(MEMTABLE)
                .filter_block_partitioning_policy(PartitioningPolicy::all(true))
                .index_block_partitioning_policy(PartitioningPolicy::all(true))
                .compaction_strategy(Arc::new(levels))
        })
        .map_err(fail)
    };
    let seen = space("seen", 48, 64 << 20)?;
    let digest = space("digest", 24, 32 << 20)?;
    let queue = space("queue", 48, 64 << 20)?;
    let host = space("host", 4, 16 << 20)?;
    Ok(Spaces { db, seen, digest, queue, host })
}
