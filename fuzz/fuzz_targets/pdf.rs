//! Drives [`orb_fuzz::pdf`].
#![no_main]

use std::panic::{set_hook, take_hook};

// The extractor catches what panics in the library that reads the structure of a PDF; libFuzzer
// would end at it. Panics of ours are findings.
libfuzzer_sys::fuzz_target!(
    init: {
        let ends = take_hook();
        set_hook(Box::new(move |panic| {
            if panic.location().is_none_or(|at| !at.file().contains("/hayro-")) {
                ends(panic);
            }
        }));
    },
    |bytes: &[u8]| orb_fuzz::pdf(bytes)
);
