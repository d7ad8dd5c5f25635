//! What is a page at each moment of its life?
//!
//! A page is discovered as a [`Link`], waits as a [`Discovered`] row, is granted as a [`Lease`],
//! comes back as an [`Outcome`], is read as a [`Document`] and ends as a [`Visit`]. This crate
//! holds those nouns and nothing that acts on them: no sockets, no files except the spooled
//! [`Body`], no SQL.

mod before;
mod block;
mod document;
mod found;
mod headers;
mod id;
mod idset;
mod kind;
mod lease;
mod link;
mod listing;
mod markup;
mod moment;
mod outcome;
mod response;
mod run;
mod skip;
mod submission;
mod visit;

pub use before::{PageHistory, Version};
pub use block::Block;
pub use document::{
    Document, FieldKind, Form, FormField, Heading, Image, LinkedItem, PageSection, Problem, RobotsMeta, Sends,
};
pub use found::{DiscoveredLink, Links, Verdict};
pub use headers::Headers;
pub use id::{HostId, PageId, RunId, UrlKey};
pub use idset::IdSet;
pub use kind::{Flag, PageKind};
pub use lease::{Lease, Purpose};
pub use link::{EntryFacts, Link, LinkKind};
pub use listing::{Listing, ListingEntry};
pub use markup::{escape_markup, markup_reference};
pub use moment::{CivilTime, Moment};
pub use outcome::{Failure, FailureKind, Outcome, Timings};
pub use response::{Body, Conversation, Response, ResponseKind, Truncation};
pub use run::{RunKind, RunState};
pub use skip::{SkipReason, Trap};
pub use submission::{RequestBody, Submission};
pub use visit::{Discovered, Pictured, Visit, WarcPosition};
