//! Drives [`orb_fuzz::ftp_replies`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::ftp_replies(bytes));
