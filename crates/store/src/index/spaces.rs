//! How is the tree below the index configured?
//!
//! The keys of `seen` and `digest` are hashes: every compaction of a level rewrites the entire next
//! one. They are almost never read, since the tables in memory answer for them, so they are
//! compacted late: many tables of the first level at a time. Queues are read from every table of
//! the first level, but a hundred entries at a time (`ahead`), so they are compacted late, too.
//! Bloom filters are partitioned everywhere: full ones are larger than the cache, and rereading one
//! for each look-up once cost more than everything else together.
//!
//! Only `host` is written through journal and memtable with every batch: the others ingest finished
//! tables, unless there are few changes (`fold`).

use crate::error::{Result, StoreError};
use fjall::compaction::Leveled;
use fjall::config::PartitioningPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use std::path::Path;
use std::sync::Arc;

/// Size of the block cache.
const CACHE: u64 = 16 << 20;
/// Maximum journal size, and so what a crash leaves to be replayed.
const JOURNALS: u64 = 96 << 20;

/// Memtable size of the hosts.
const MEMTABLE: u64 = 4 << 20;

/// The database and its four keyspaces.
#[derive(Clone)]
pub(super) struct Spaces {
    pub(super) db: Database,
    pub(super) seen: Keyspace,
    pub(super) digest: Keyspace,
    pub(super) queue: Keyspace,
    pub(super) host: Keyspace,
}

/// Opens the database in a directory, creating it if there is none.
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
