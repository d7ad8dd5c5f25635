//! Where does everything live?
//!
//! Two truths: the bytes in the archive (WARC), the facts in the catalogue (SQL). The frontier index (seen set, queues) is derived from
//! the catalogue and can be thrown away. Nothing outside this crate speaks SQL, WARC or the index's key layout.

mod batch;
mod queues;

pub use batch::{Batch, HostFact, NewHost};
pub use queues::{HostRecord, Queued, Queues, RobotsRecord};
