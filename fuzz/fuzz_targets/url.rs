//! Drives [`orb_fuzz::url`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::url(bytes));
