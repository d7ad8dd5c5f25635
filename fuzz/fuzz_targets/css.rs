//! Drives [`orb_fuzz::css`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::css(bytes));
