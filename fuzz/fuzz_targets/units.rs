//! Drives [`orb_fuzz::units`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::units(bytes));
