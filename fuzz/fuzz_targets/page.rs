//! Drives [`orb_fuzz::page`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::page(bytes));
