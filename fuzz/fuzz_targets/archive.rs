//! Drives [`orb_fuzz::archive`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::archive(bytes));
