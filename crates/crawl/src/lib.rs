//! The story, told once: the only crate that knows the order of things.
