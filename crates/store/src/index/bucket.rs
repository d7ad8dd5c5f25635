//! How do six keys lie in a cache line?
//!
//! As bytes, so that a bucket can lie in memory of any origin: their numbers, which are 0 where there is none, the lower 32 bits of the keys, the
//! middle 16, and in the last word the four upper bits of each. They are filled from the front, and a line of zeros is an empty bucket.

/// Bytes of a bucket: one cache line.
pub(super) const LINE: usize = 64;
/// A bucket as bytes.
pub(super) type Line = [u8; LINE];
/// Keys in a bucket.
pub(super) const KEYS: usize = 6;
/// Bits of a key that are kept.
pub(super) const KEPT_BITS: u32 = 52;
/// The bits of a key that are kept.
pub(super) type Kept = u64;

/// The places of a line's words: the first number, the first of the keys' lower bits, the upper bits.
const NUMBERS: usize = 0;
const LOW: usize = KEYS;
const HIGH: usize = LINE / 4 - 1;
/// The place of the first of the keys' middle bits, in words of 16 bits.
const MIDDLE: usize = 4 * KEYS;

fn word(line: &Line, at: usize) -> u32 {
    u32::from_ne_bytes(line.as_chunks().0[at])
}

fn set_word(line: &mut Line, at: usize, word: u32) {
    line.as_chunks_mut().0[at] = word.to_ne_bytes();
}

/// The number at a place, or 0.
pub(super) fn number(line: &Line, i: usize) -> u32 {
    word(line, NUMBERS + i)
}

/// The key at a place.
pub(super) fn key_at(line: &Line, i: usize) -> Kept {
    let high = u64::from(word(line, HIGH) >> (4 * i) & 15);
    let middle = u16::from_ne_bytes(line.as_chunks().0[MIDDLE + i]);
    high << 48 | u64::from(middle) << 32 | u64::from(word(line, LOW + i))
}

/// The place of a key.
pub(super) fn find(line: &Line, key: Kept) -> Option<usize> {
    // All at once: where a key stands is chance, and a processor that guesses wrong loses more than it takes to look.
    let mut alike = (0..KEYS).fold(0u32, |bits, i| bits | u32::from(word(line, LOW + i) == key as u32) << i);
    while alike != 0 {
        let i = alike.trailing_zeros() as usize;
        if number(line, i) != 0 && key_at(line, i) == key {
            return Some(i);
        }
        alike &= alike - 1;
    }
    None
}

/// Whether there is no place left.
pub(super) fn is_full(line: &Line) -> bool {
    number(line, KEYS - 1) != 0
}

/// Puts a key with its number at a place.
pub(super) fn set(line: &mut Line, i: usize, key: Kept, number: u32) {
    set_word(line, NUMBERS + i, number);
    set_word(line, LOW + i, key as u32);
    line.as_chunks_mut().0[MIDDLE + i] = ((key >> 32) as u16).to_ne_bytes();
    let (shift, high) = (4 * i, word(line, HIGH));
    set_word(line, HIGH, high & !(15 << shift) | ((key >> 48) as u32 & 15) << shift);
}

/// Something that is had only by reading the line.
pub(super) fn touch(line: &Line) -> u32 {
    word(line, HIGH)
}
