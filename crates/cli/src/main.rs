//! The program `orb`.

fn main() {}
