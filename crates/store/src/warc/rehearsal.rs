//! How does the deflater treat these records?
//!
//! The door for fuzzing, which exists with the feature `fuzzing` alone and never in the program.

use super::deflate::Deflater;

/// Compresses records one after the other, as the threads that encode exchanges do.
pub struct RecordCompressor(Deflater);

impl Default for RecordCompressor {
    /// One that has learnt nothing yet.
    fn default() -> Self {
        Self(Deflater::new())
    }
}

impl RecordCompressor {
    /// Appends one gzip member.
    pub fn gzip(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        self.0.gzip(raw, out);
    }
}
