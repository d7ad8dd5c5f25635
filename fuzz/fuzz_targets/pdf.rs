//! Drives [`orb_fuzz::pdf`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::pdf(bytes));
