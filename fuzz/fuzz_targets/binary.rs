//! Drives [`orb_fuzz::binary`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::binary(bytes));
