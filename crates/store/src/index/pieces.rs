//! Where are the pieces of a large table?
//!
//! A table of hundreds of megabytes is accessed at random. With 4 kB pages nearly every access
//! costs a TLB miss on top of a cache miss, and the page walk goes through page tables that are
//! megabytes themselves. So pieces are cut from large mappings for which the kernel is asked for
//! huge pages. If it has none, the mapping uses small ones, and without a mapping memory comes from
//! the heap. Pieces are freed all together.

use super::bucket::{BucketBytes, LINE};
use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// Buckets per piece.
pub(super) const PIECE: usize = 64;
/// Pieces per mapping: 32 MB, whose memory is allocated when first written.
const STRETCH: usize = 8_192;

/// The pieces of one table, zeroed when new.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    stretches: Vec<Mapping>,
    used: usize,
}

#[derive(Debug)]
enum Mapping {
    Mapped(MmapMut),
    Heap(Box<[u8]>),
}

impl Mapping {
    fn new() -> Self {
        let bytes = STRETCH * PIECE * LINE;
        let Ok(mapped) = MmapMut::map_anon(bytes) else { return Self::Heap(vec![0; bytes].into_boxed_slice()) };
        // Without huge pages this fails, and small ones are used.
        #[cfg(target_os = "linux")]
        let _ = mapped.advise(memmap2::Advice::HugePage);
        Self::Mapped(mapped)
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl DerefMut for Mapping {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl Pieces {
    /// Allocates a piece and returns its number.
    pub(super) fn add(&mut self) -> u32 {
        if self.used == self.stretches.len() * STRETCH {
            self.stretches.push(Mapping::new());
        }
        self.used += 1;
        // Enough for sixteen terabytes.
        u32::try_from(self.used - 1).unwrap_or(u32::MAX)
    }

    /// A bucket of a piece.
    pub(super) fn line(&self, piece: u32, at: usize) -> &BucketBytes {
        let (stretch, line) = place(piece, at);
        &self.stretches[stretch].as_chunks().0[line]
    }

    /// A bucket of a piece, to be changed.
    pub(super) fn line_mut(&mut self, piece: u32, at: usize) -> &mut BucketBytes {
        let (stretch, line) = place(piece, at);
        &mut self.stretches[stretch].as_chunks_mut().0[line]
    }
}

/// The mapping of a bucket, and its offset there.
fn place(piece: u32, at: usize) -> (usize, usize) {
    let piece = piece as usize;
    (piece / STRETCH, piece % STRETCH * PIECE + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_a_place_of_its_own_and_empty_at_first() {
        let mut pieces = Pieces::default();
        let many = STRETCH + 3;
        for n in 0..many {
            let piece = pieces.add();
            assert_eq!(piece as usize, n);
            for at in [0, PIECE - 1] {
                assert_eq!(*pieces.line(piece, at), [0; LINE]);
                pieces.line_mut(piece, at)[at % 2] = piece as u8 | 1;
            }
        }
        assert_eq!(pieces.stretches.len(), 2);
        for piece in 0..many as u32 {
            assert_eq!([pieces.line(piece, 0)[0], pieces.line(piece, PIECE - 1)[1]], [piece as u8 | 1; 2]);
            assert_eq!(*pieces.line(piece, 1), [0; LINE]);
        }
    }
}
