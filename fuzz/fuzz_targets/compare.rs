//! Drives [`orb_fuzz::compare`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::compare(bytes));
