//! Drives [`orb_fuzz::surt`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::surt(bytes));
