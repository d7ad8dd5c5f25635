//! Drives [`orb_fuzz::charset`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::charset(bytes));
