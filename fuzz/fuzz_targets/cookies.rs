//! Drives [`orb_fuzz::cookies`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::cookies(bytes));
