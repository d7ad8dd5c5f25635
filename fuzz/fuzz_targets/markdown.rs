//! Drives [`orb_fuzz::markdown`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::markdown(bytes));
