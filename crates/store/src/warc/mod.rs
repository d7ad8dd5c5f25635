//! How are bytes kept so that others' tools can read them?
//!
//! WARC 1.1 (ISO 28500:2017), one gzip member a record, with a CDXJ line for each answer. An
//! exchange is a `response` record followed by its `request`; a document by another protocol is a
//! `resource`, with the conversation as `metadata`. The payload digest is sha256 over the bytes
//! after the head as they came over the wire, chunk framing included: the standard excludes
//! the framing, but warcio and the tools built on it, the de facto validators, include it.
//! The block digest is left out: it would hash every body a second time, and the member's own CRC
//! guards the block.

mod body;
mod cdxj;
mod deflate;
mod density;
mod encoder;
mod header;
mod http;
#[cfg(feature = "fuzzing")]
mod rehearsal;
mod scan;
mod stored;
#[cfg(test)]
mod tests;

pub use body::StoredBody;
pub(crate) use cdxj::{line_offset, write_sorted};
pub(crate) use encoder::warcinfo;
pub use encoder::{Encoded, Encoder, Exchange, RecordedAs, Revisit};
pub use header::RecordId;
pub(crate) use header::WarcType;
#[cfg(feature = "fuzzing")]
pub use rehearsal::RecordCompressor;
pub(crate) use scan::{Scan, Scanned};
pub(crate) use stored::content;
pub use stored::{ArchiveReader, RemoveCoding, StoredExchange, VIEW};
