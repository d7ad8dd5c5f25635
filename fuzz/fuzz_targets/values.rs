//! Drives [`orb_fuzz::values`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::values(bytes));
