//! Which page has this URL, without reading all of them?
//!
//! The seen set knows, but it belongs to the process that crawls. This table is for everybody else:
//! the first half of each URL's key with the page's number, in sorted runs, one file each
//! (`keys/<first page>-<last page>.run`). A run is written under a temporary name, renamed, and
//! immutable from then on, so readers need no lock. Runs are merged by size, as in a log-structured
//! merge tree: a look-up visits a few dozen of them at fifty million pages and reads one or two
//! blocks of each.
//!
//! Keys are hashes and therefore spread evenly: the block that holds one is found by interpolation
//! (Perl, Itai and Avni, 1978). Two URLs may share a key, so the catalogue confirms every
//! candidate. Page numbers are given out in order; what no run covers yet is the tail of
//! the catalogue, at most some 100,000 pages, and is scanned.
//!
//! The table is derived. A run that is missing, damaged or of another history costs a scan of its
//! pages, never a wrong answer; the process that opens the project for writing rebuilds it.

mod follow;
mod merge;
mod run;
mod table;

pub(crate) use follow::KeyFollower;
#[cfg(test)]
pub(crate) use run::RunMaker;
pub(crate) use run::{KeyEntry, KeyRun, PageRange, short_key};
pub(crate) use table::KeyTable;
