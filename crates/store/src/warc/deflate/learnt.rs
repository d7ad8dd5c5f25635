//! Which code will suit a record that has not been examined yet?
//!
//! Pages of one collection are similar: the code that is optimal for one is within one per cent for
//! the next. So a record is written while its matches are being found, with a code learnt from an
//! earlier record of its class, instead of being scanned, counted and only then written. A sample
//! of its bytes determines the class: how many are markup, and how many are non-Latin.

use super::bits::BitBuffer;
use super::block::DynamicHeader;
use super::codes::{Codes, DISTANCES, LITERALS_USED, SymbolCounts};
use super::matches::MatchFinder;

/// How often a code is used before another is learnt.
const USES: u32 = 32;
/// Size of the sample.
const SAMPLE: usize = 256;
/// Threshold for some non-Latin bytes, as in most languages with Latin letters.
const SOME: usize = SAMPLE / 16;
/// Threshold for many, as on pages that are half markup.
const MANY: usize = SAMPLE * 3 / 8;
/// Number of classes.
pub(super) const SORTS: usize = 8;
/// Maximum bytes of a header.
const HEAD: usize = 512;

/// A code learnt from an earlier record.
pub(super) struct Learnt {
    codes: Codes,
    /// The header of its block, and the bits that do not fill a byte.
    head: Vec<u8>,
    bits: BitBuffer,
    /// Length of the record it was learnt from, and its compressed length.
    raw: usize,
    packed: usize,
    uses: u32,
}

impl Learnt {
    /// Learns from a record with these symbols that was packed with its own code.
    pub(super) fn new(mut counts: SymbolCounts, raw: usize, packed: usize) -> Self {
        // The next record may have symbols that this one did not.
        let all = counts.literals[..LITERALS_USED].iter_mut().chain(&mut counts.distances[..DISTANCES]);
        all.for_each(|n| *n = *n * 4 + 1);
        let mut codes = Codes::default();
        codes.fit(&counts);
        let (mut head, mut bits) = (vec![0; HEAD], BitBuffer::default());
        DynamicHeader::new(&codes).write(true, &mut bits, &mut head);
        Self { codes, head, bits, raw, packed, uses: 0 }
    }

    /// Whether it may be used once more.
    pub(super) fn is_fresh(&self) -> bool {
        self.uses < USES
    }

    /// Appends a record as one block; nothing if it became so long that its own code is worthwhile.
    pub(super) fn pack(&mut self, raw: &[u8], finder: &mut MatchFinder, room: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        self.uses += 1;
        let need = HEAD + 2 * raw.len() + 64;
        if room.len() < need {
            room.resize(need, 0);
        }
        room[..HEAD].copy_from_slice(&self.head);
        let mut bits = finder.write(raw, &self.codes, self.bits.clone(), room);
        let len = bits.close(room);
        let expected = self.packed as u64 * raw.len() as u64 / self.raw as u64;
        let fits = len < raw.len() && len as u64 <= expected * 3 / 2;
        if fits {
            out.extend_from_slice(&room[..len]);
        }
        fits
    }
}

/// The class of a record, less than [`SORTS`].
pub(super) fn sort(raw: &[u8]) -> usize {
    let (mut markup, mut foreign) = (0, 0);
    for &byte in raw.iter().step_by(raw.len() / SAMPLE + 1) {
        markup += usize::from(byte == b'<');
        foreign += usize::from(byte >= 0x80);
    }
    let foreign = match foreign {
        0 => 0,
        1..SOME => 1,
        SOME..MANY => 2,
        _ => 3,
    };
    foreign + if markup > 1 { SORTS / 2 } else { 0 }
}
