//! What occurred before?
//!
//! One hash table from five bytes to their last position, modulo 2^16. A position is never trusted
//! but always compared, so entries need no empty marker and no expiry.

use super::bits::BitBuffer;
use super::codes::{Codes, END, LENGTH_SYMBOL, SymbolCounts, distance_symbol};

/// Bits of a hash: 8,192 entries of two bytes.
const HASH_BITS: u32 = 13;
/// Maximum length of a match.
const LONGEST: usize = 258;
/// Maximum distance of a match.
const FURTHEST: usize = 32 << 10;

/// Positions inside a match that are also entered: their bytes are in registers.
const WITHIN: usize = 3;

/// Some literals, then a match: `length` is 0 if the block ends after them.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchStep {
    pub(super) literals: u16,
    pub(super) length: u16,
    pub(super) distance: u16,
}

/// The parse of a block.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) steps: Vec<MatchStep>,
    pub(super) counts: SymbolCounts,
}

/// Last position of each hash.
type HashTable = [u16; 1 << HASH_BITS];

/// The match finder.
pub(super) struct MatchFinder {
    last: Box<HashTable>,
    walked: Walked,
}

impl MatchFinder {
    pub(super) fn new() -> Self {
        Self { last: Box::new([0; 1 << HASH_BITS]), walked: Walked::default() }
    }

    /// Starts another text.
    pub(super) fn forget(&mut self) {
        self.last.fill(0);
    }

    /// The literals and matches of `raw[from..to]`, which may refer back before it.
    ///
    /// The end of a match is known only after two dependent look-ups; counting fills the latency.
    pub(super) fn walk(&mut self, raw: &[u8], from: usize, to: usize) -> &Walked {
        let Walked { steps, counts } = &mut self.walked;
        steps.clear();
        counts.literals.fill(0);
        counts.distances.fill(0);
        let raw = &raw[..to];
        let (mut at, mut literals_from) = (from, from);
        while let Some(here) = sixteen_at(raw, at) {
            let Some((length, back)) = repeated(&mut self.last, raw, at, here) else {
                counts.literals[usize::from(here as u8)] += 1;
                at += 1;
                continue;
            };
            let step = MatchStep::new(at - literals_from, length, back);
            counts.literals[257 + usize::from(LENGTH_SYMBOL[usize::from((step.length - 3) as u8)])] += 1;
            counts.distances[distance_symbol(step.distance).0] += 1;
            steps.push(step);
            at += length;
            literals_from = at;
        }
        raw[at..].iter().for_each(|&byte| counts.literals[usize::from(byte)] += 1);
        counts.literals[END] = 1;
        steps.push(MatchStep::new(to - literals_from, 0, 0));
        &self.walked
    }

    /// Writes the literals and matches of a whole text, and the end, as they are found. There must
    /// be room for two bytes per byte, plus eight.
    pub(super) fn write(&mut self, raw: &[u8], codes: &Codes, mut bits: BitBuffer, out: &mut [u8]) -> BitBuffer {
        let mut at = 0;
        while let Some(here) = sixteen_at(raw, at) {
            if let Some((length, back)) = repeated(&mut self.last, raw, at, here) {
                let step = MatchStep::new(0, length, back);
                codes.add_match(step.length, step.distance, &mut bits);
                at += length;
            } else {
                codes.add_literal(usize::from(here as u8), &mut bits);
                at += 1;
            }
            bits.flush(out);
        }
        for &byte in &raw[at..] {
            codes.add_literal(usize::from(byte), &mut bits);
            bits.flush(out);
        }
        codes.add_literal(END, &mut bits);
        bits.flush(out);
        bits
    }
}

/// Length and distance of an earlier occurrence of the text at `at`, which begins with `here`.
#[inline(always)]
fn repeated(last: &mut HashTable, raw: &[u8], at: usize, here: u128) -> Option<(usize, usize)> {
    let place = &mut last[hash(here)];
    let back = usize::from((at as u16).wrapping_sub(*place));
    *place = at as u16;
    // Nothing is before the beginning, and the distance is limited.
    let before = at.wrapping_sub(back);
    let there = if back.wrapping_sub(1) < FURTHEST { sixteen_at(raw, before)? } else { return None };
    let differing = here ^ there;
    if differing as u32 != 0 {
        return None;
    }
    let length = if differing == 0 { length(raw, at, before) } else { (differing.trailing_zeros() / 8) as usize };
    for within in 1..=WITHIN {
        last[hash(here >> (8 * within))] = (at + within) as u16;
    }
    Some((length, back))
}

impl MatchStep {
    #[inline]
    fn new(literals: usize, length: usize, back: usize) -> Self {
        // A block is shorter than 2^16, a match than 2^9.
        Self { literals: literals as u16, length: length as u16, distance: back.wrapping_sub(1) as u16 }
    }
}

/// Length of the match between `at` and `before`, whose first sixteen bytes are known to be equal.
#[inline(never)]
fn length(raw: &[u8], at: usize, before: usize) -> usize {
    let most = LONGEST.min(raw.len() - at);
    let (here, there) = (&raw[at..at + most], &raw[before..before + most]);
    let mut len = 16;
    while let (Some(a), Some(b)) = (sixteen_at(here, len), sixteen_at(there, len)) {
        if a != b {
            return len + ((a ^ b).trailing_zeros() / 8) as usize;
        }
        len += 16;
    }
    while len < most && here[len] == there[len] {
        len += 1;
    }
    len
}

#[inline]
fn sixteen_at(raw: &[u8], at: usize) -> Option<u128> {
    let sixteen = raw.get(at..)?.first_chunk()?;
    Some(u128::from_le_bytes(*sixteen))
}

#[inline]
fn hash(here: u128) -> usize {
    (((here as u64) << 24).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - HASH_BITS)) as usize
}
