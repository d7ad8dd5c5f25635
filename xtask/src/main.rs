//! Test, bench and tidy.

fn main() {}
