//! A synthetic web, for demo, tests and benches.
