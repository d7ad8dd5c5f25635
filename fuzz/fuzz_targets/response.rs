//! Drives [`orb_fuzz::response`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::response(bytes));
