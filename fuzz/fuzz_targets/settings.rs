//! Drives [`orb_fuzz::settings`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::settings(bytes));
