//! Drives [`orb_fuzz::dates`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::dates(bytes));
