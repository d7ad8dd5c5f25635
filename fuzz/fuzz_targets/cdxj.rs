//! Drives [`orb_fuzz::cdxj`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::cdxj(bytes));
