//! How are six keys laid out in a cache line?
//!
//! As bytes, so that a bucket can be in memory of any origin: their numbers, 0 for an empty slot,
//! the lower 32 bits of the keys, the middle 16, and in the last word the four upper bits of each.
//! Slots are filled from the front, and a line of zeros is an empty bucket.

/// Bytes per bucket: one cache line.
pub(super) const LINE: usize = 64;
/// A bucket as bytes.
pub(super) type BucketBytes = [u8; LINE];
/// Keys per bucket.
pub(super) const KEYS: usize = 6;
/// Bits stored of a key.
pub(super) const KEPT_BITS: u32 = 52;
/// The stored bits of a key.
pub(super) type Kept = u64;

/// Offsets of a line's parts in words: the numbers, the keys' lower bits, the upper bits.
const NUMBERS: usize = 0;
const LOW: usize = KEYS;
const HIGH: usize = LINE / 4 - 1;
/// Offset of the keys' middle bits, in words of 16 bits.
const MIDDLE: usize = 4 * KEYS;

fn word(line: &BucketBytes, at: usize) -> u32 {
    u32::from_ne_bytes(line.as_chunks().0[at])
}

fn set_word(line: &mut BucketBytes, at: usize, word: u32) {
    line.as_chunks_mut().0[at] = word.to_ne_bytes();
}

/// The number in a slot, or 0.
pub(super) fn number(line: &BucketBytes, i: usize) -> u32 {
    word(line, NUMBERS + i)
}

/// The key in a slot.
pub(super) fn key_at(line: &BucketBytes, i: usize) -> Kept {
    let high = u64::from(word(line, HIGH) >> (4 * i) & 15);
    let middle = u16::from_ne_bytes(line.as_chunks().0[MIDDLE + i]);
    high << 48 | u64::from(middle) << 32 | u64::from(word(line, LOW + i))
}

/// The slot of a key.
pub(super) fn find(line: &BucketBytes, key: Kept) -> Option<usize> {
    // Branch-free over all slots: the slot of a key is random, and a branch misprediction costs
    // more than the comparisons.
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

/// Whether no slot is free.
pub(super) fn is_full(line: &BucketBytes) -> bool {
    number(line, KEYS - 1) != 0
}

/// Stores a key with its number in a slot.
pub(super) fn set(line: &mut BucketBytes, i: usize, key: Kept, number: u32) {
    set_word(line, NUMBERS + i, number);
    set_word(line, LOW + i, key as u32);
    line.as_chunks_mut().0[MIDDLE + i] = ((key >> 32) as u16).to_ne_bytes();
    let (shift, high) = (4 * i, word(line, HIGH));
    set_word(line, HIGH, high & !(15 << shift) | ((key >> 48) as u32 & 15) << shift);
}

/// A value that can only be obtained by loading the line.
pub(super) fn touch(line: &BucketBytes) -> u32 {
    word(line, HIGH)
}
