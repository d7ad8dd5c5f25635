//! Drives [`orb_fuzz::coding`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::coding(bytes));
