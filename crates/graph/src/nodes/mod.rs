//! Which page is which node?
//!
//! Nodes are numbered in the order of the URLs' bytes: pages of one host, and of one directory of it, become neighbours, which point to the
//! same places, and that is what makes a graph compress. The numbers are dense and belong to one build: nobody outside this crate
//! sees them. Two files say what is what, for pages and, in the same form, for hosts: the names in order ([`names`]), and the catalogue's
//! number of each node and back ([`numbers`]).

mod names;
mod numbers;
mod order;

pub(crate) use names::Names;
pub(crate) use numbers::{NONE, Numbers};
pub(crate) use order::{BUFFER, NameSorter};
