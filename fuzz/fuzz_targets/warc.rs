//! Drives [`orb_fuzz::warc`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::warc(bytes));
