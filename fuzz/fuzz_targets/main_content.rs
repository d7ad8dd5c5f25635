//! Drives [`orb_fuzz::main_content`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::main_content(bytes));
