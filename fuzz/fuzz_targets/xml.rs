//! Drives [`orb_fuzz::xml`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::xml(bytes));
