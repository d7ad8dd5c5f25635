//! Drives [`orb_fuzz::session`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::session(bytes));
