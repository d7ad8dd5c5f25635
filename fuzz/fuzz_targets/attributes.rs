//! Drives [`orb_fuzz::attributes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::attributes(bytes));
