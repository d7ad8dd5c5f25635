//! Drives [`orb_fuzz::news`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::news(bytes));
