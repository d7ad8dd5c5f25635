//! Drives [`orb_fuzz::sftp_listing`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orb_fuzz::sftp_listing(bytes));
