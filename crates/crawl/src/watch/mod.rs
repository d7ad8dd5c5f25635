//! How is the run going, and how did it go?
//!
//! Nothing here changes a crawl. `ledger` adds up how long every stage took, `progress` is what a
//! display reads, `why` explains what the driver waits for, `pace` how the speed developed,
//! `journal` and `summary` are what remains of a run, `machine` reports what the process uses.

pub(crate) mod journal;
pub(crate) mod ledger;
pub mod machine;
pub(crate) mod pace;
pub(crate) mod progress;
pub(crate) mod summary;
pub(crate) mod why;
