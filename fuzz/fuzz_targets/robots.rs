//! Drives [`orb_fuzz::robots`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::robots(bytes));
