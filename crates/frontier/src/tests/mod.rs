//! The frontier under a paused clock.

mod memory;
mod property;
mod scenarios;
mod world;

use memory::Memory;
use world::{Answer, World};
