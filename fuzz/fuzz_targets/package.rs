//! Drives [`orb_fuzz::package`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::package(bytes));
