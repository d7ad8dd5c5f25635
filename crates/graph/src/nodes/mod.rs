//! Which page is which node?
//!
//! Nodes are numbered in byte order of their URLs. Pages of one host, and of one directory, become
//! neighbours that link to the same targets, which is what makes a graph compressible. The numbers
//! are dense, belong to one build, and never leave this crate. Pages and hosts each have two files:
//! the names in order ([`names`]), and the mapping between catalogue numbers and nodes
//! ([`numbers`]).

mod names;
mod numbers;
mod order;

pub(crate) use names::NameList;
pub(crate) use numbers::{NONE, NodeNumbers};
pub(crate) use order::{BUFFER, NameSorter};
