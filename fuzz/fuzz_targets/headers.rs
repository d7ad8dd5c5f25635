//! Drives [`orb_fuzz::headers`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::headers(bytes));
