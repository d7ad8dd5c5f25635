//! Does the frontier behave under a paused clock?

mod aliases;
mod hosts;
mod leases;
mod memory;
mod politeness;
mod property;
mod robots;
mod store;
mod why;
mod withdraw;
mod world;
