//! Drives [`orb_fuzz::linear`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::linear(bytes));
