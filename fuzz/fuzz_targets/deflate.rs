//! Drives [`orb_fuzz::deflate`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::deflate(bytes));
