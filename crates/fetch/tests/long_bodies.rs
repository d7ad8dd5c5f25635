//! Is a coded body streamed in bounded memory?
//!
//! A test binary of its own: the peak memory of its process is the measure.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use orb_fetch::decode_stream;
use std::io::{self, Read};

/// Decoded bytes of a body.
const LENGTH: u64 = 200_000_000;

/// What may be in memory of it: windows, tables and buffers.
const BOUND: u64 = 24_000_000;

/// Incompressible bytes: a megabyte of them, which is farther than the windows below reach, over
/// and over. So what is coded is as long as what it says.
struct Noise {
    block: Vec<u8>,
    at: usize,
}

impl Noise {
    fn new() -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        Self { block: std::iter::repeat_with(next).take(1 << 17).flatten().collect(), at: 0 }
    }
}

impl Read for Noise {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.block[self.at..].as_ref().read(out)?;
        self.at = (self.at + n) % self.block.len();
        Ok(n)
    }
}

/// Peak memory of this process, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_000
}

#[test]
fn two_hundred_megabytes_are_never_in_memory() {
    let before = peak();
    let level = flate2::Compression::fast();
    let said = || Noise::new().take(LENGTH);
    let coded: [(&str, Box<dyn Read + Send>); 4] = [
        ("gzip", Box::new(flate2::read::GzEncoder::new(said(), level))),
        ("deflate", Box::new(flate2::read::ZlibEncoder::new(said(), level))),
        ("br", Box::new(brotli::CompressorReader::new(said(), 1 << 16, 0, 18))),
        ("zstd", Box::new(zstd::stream::read::Encoder::new(said(), 1).unwrap())),
    ];
    for (name, body) in coded {
        let mut decoded = decode_stream(body, name).unwrap();
        let read = io::copy(&mut decoded, &mut io::sink()).unwrap();
        let grown = peak() - before;
        assert!(read == LENGTH && grown < BOUND, "{name}: {read} bytes, {grown} more in memory");
    }
}
