//! The frontier under a paused clock.
