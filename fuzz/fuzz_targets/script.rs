//! Drives [`orb_fuzz::script`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::script(bytes));
