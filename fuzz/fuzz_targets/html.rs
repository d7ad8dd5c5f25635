//! Drives [`orb_fuzz::html`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::html(bytes));
