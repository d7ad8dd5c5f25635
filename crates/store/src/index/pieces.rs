//! Where do the pieces of a long table lie?
//!
//! A table of hundreds of megabytes is looked into at random. On pages of 4 kB nearly every look misses the processor's buffer of translations
//! as well as its caches, and goes through page tables that are megabytes themselves. So pieces are cut from long stretches of memory for which the
//! system is asked for large pages. It need not have any: a stretch is then the same on small ones, and without a mapping it is taken
//! from the heap. Pieces are given back all together.

use super::bucket::{LINE, Line};
use memmap2::MmapMut;
use std::ops::{Deref, DerefMut};

/// Buckets of a piece.
pub(super) const PIECE: usize = 64;
/// Pieces of a stretch: 32 MB, of which memory is taken when it is written.
const STRETCH: usize = 8_192;

/// The pieces of one table, all zero when they are new.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    stretches: Vec<Stretch>,
    used: usize,
}

#[derive(Debug)]
enum Stretch {
    Mapped(MmapMut),
    Heap(Box<[u8]>),
}

impl Stretch {
    fn new() -> Self {
        let bytes = STRETCH * PIECE * LINE;
        let Ok(mapped) = MmapMut::map_anon(bytes) else { return Self::Heap(vec![0; bytes].into_boxed_slice()) };
        // A system without large pages says so, and goes on with small ones.
        #[cfg(target_os = "linux")]
        let _ = mapped.advise(memmap2::Advice::HugePage);
        Self::Mapped(mapped)
    }
}

impl Deref for Stretch {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl DerefMut for Stretch {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl Pieces {
    /// The number of a new piece.
    pub(super) fn add(&mut self) -> u32 {
        if self.used == self.stretches.len() * STRETCH {
            self.stretches.push(Stretch::new());
        }
        self.used += 1;
        // Sixteen terabytes of them.
        u32::try_from(self.used - 1).unwrap_or(u32::MAX)
    }

    /// A bucket of a piece.
    pub(super) fn line(&self, piece: u32, at: usize) -> &Line {
        let (stretch, line) = place(piece, at);
        &self.stretches[stretch].as_chunks().0[line]
    }

    /// A bucket of a piece, to be changed.
    pub(super) fn line_mut(&mut self, piece: u32, at: usize) -> &mut Line {
        let (stretch, line) = place(piece, at);
        &mut self.stretches[stretch].as_chunks_mut().0[line]
    }
}

/// The stretch of a bucket, and its place there.
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
