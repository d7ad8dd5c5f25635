//! Which bits stand for what?
//!
//! The two codes of a block (RFC 1951, 3.2.2 to 3.2.6): one for literals, lengths and the end, one
//! for distances.

use super::bits::BitBuffer;
use super::huffman::{self, Code};

/// Number of literals, end of block, and lengths.
pub(super) const LITERALS: usize = 288;
/// Those of them that a dynamic code may use.
pub(super) const LITERALS_USED: usize = 286;
/// Number of distance symbols.
pub(super) const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub(super) const END: usize = 256;
/// Four literals of this length and seven pending bits fit in a word.
const LONGEST_LITERAL: u8 = 14;
const LONGEST_DISTANCE: u8 = 15;

/// For each length minus three: its symbol minus 257.
pub(super) const LENGTH_SYMBOL: [u8; 256] = {
    let mut symbols = [0; 256];
    let mut length = 0;
    while length < 256 {
        symbols[length] = match length {
            0..8 => length as u8,
            255 => 28,
            _ => {
                let log = (length as u32).ilog2();
                ((log - 1) * 4 + (length as u32 >> (log - 2) & 3)) as u8
            }
        };
        length += 1;
    }
    symbols
};

/// Extra bits of a length symbol.
const fn length_extra(symbol: u8) -> u32 {
    if symbol < 8 || symbol == 28 { 0 } else { symbol as u32 / 4 - 1 }
}

/// The symbol of a distance minus one, and its number of extra bits.
#[inline]
pub(super) fn distance_symbol(distance: u16) -> (usize, u32) {
    if distance < 2 {
        return (usize::from(distance), 0);
    }
    let log = distance.ilog2();
    ((2 * log + (u32::from(distance) >> (log - 1) & 1)) as usize, log - 1)
}

/// Symbol frequencies.
#[derive(Clone)]
pub(super) struct SymbolCounts {
    pub(super) literals: [u32; LITERALS],
    pub(super) distances: [u32; DISTANCES],
}

impl Default for SymbolCounts {
    fn default() -> Self {
        Self { literals: [0; LITERALS], distances: [0; DISTANCES] }
    }
}

impl SymbolCounts {
    /// The total extra bits of lengths and distances.
    pub(super) fn extra_bits(&self) -> usize {
        let lengths = (0u8..).zip(&self.literals[257..LITERALS_USED]);
        let lengths: usize = lengths.map(|(s, &n)| n as usize * length_extra(s) as usize).sum();
        let distances = self.distances.iter().enumerate();
        let distances: usize = distances.map(|(s, &n)| n as usize * (s / 2).saturating_sub(1)).sum();
        lengths + distances
    }

    /// The bits that the symbols take in the fixed code, without extra bits.
    pub(super) fn known_size(&self) -> usize {
        let literals = self.literals.iter().enumerate().map(|(s, &n)| n as usize * usize::from(known_len(s)));
        let distances: usize = self.distances.iter().map(|&n| n as usize * 5).sum();
        literals.sum::<usize>() + distances
    }
}

/// The codes of a block.
pub(super) struct Codes {
    pub(super) literals: [Code; LITERALS],
    pub(super) distances: [Code; DISTANCES],
    /// For each length minus three: its code with the extra bits, and their number of bits.
    lengths: [(u32, u8); 256],
}

impl Default for Codes {
    fn default() -> Self {
        Self { literals: [Code::default(); LITERALS], distances: [Code::default(); DISTANCES], lengths: [(0, 0); 256] }
    }
}

impl Codes {
    /// The optimal codes for these frequencies; symbols that do not occur get none.
    pub(super) fn fit(&mut self, counts: &SymbolCounts) {
        huffman::code(&counts.literals[..LITERALS_USED], LONGEST_LITERAL, &mut self.literals[..LITERALS_USED]);
        huffman::code(&counts.distances, LONGEST_DISTANCE, &mut self.distances);
        self.join_lengths();
    }

    /// The fixed codes (RFC 1951, 3.2.6).
    pub(super) fn known() -> Self {
        let mut codes = Self::default();
        let mut lengths = [0u16; 16];
        for (symbol, code) in codes.literals.iter_mut().enumerate() {
            code.len = known_len(symbol);
            lengths[usize::from(code.len)] += 1;
        }
        huffman::assign(&mut codes.literals, &lengths);
        for (code, symbol) in codes.distances.iter_mut().zip(0u16..) {
            *code = Code { bits: symbol.reverse_bits() >> 11, len: 5 };
        }
        codes.join_lengths();
        codes
    }

    /// Bits that the symbols take, without extra bits.
    pub(super) fn size(&self, counts: &SymbolCounts) -> usize {
        let sum = |counts: &[u32], codes: &[Code]| -> usize {
            counts.iter().zip(codes).map(|(&n, c)| n as usize * usize::from(c.len)).sum()
        };
        sum(&counts.literals, &self.literals) + sum(&counts.distances, &self.distances)
    }

    /// Adds a literal, or the end.
    #[inline]
    pub(super) fn add_literal(&self, symbol: usize, bits: &mut BitBuffer) {
        let code = self.literals[symbol];
        bits.add(u64::from(code.bits), u32::from(code.len));
    }

    /// Adds a match: at most 47 bits. The distance is given minus one.
    #[inline]
    pub(super) fn add_match(&self, length: u16, distance: u16, bits: &mut BitBuffer) {
        let (length, len) = self.lengths[usize::from((length - 3) as u8)];
        bits.add(u64::from(length), u32::from(len));
        let (symbol, extra) = distance_symbol(distance);
        let code = self.distances[symbol];
        bits.add(u64::from(code.bits), u32::from(code.len));
        bits.add(u64::from(distance) & ((1 << extra) - 1), extra);
    }

    fn join_lengths(&mut self) {
        for ((length, symbol), place) in (0u32..).zip(LENGTH_SYMBOL).zip(&mut self.lengths) {
            let code = self.literals[257 + usize::from(symbol)];
            let extra = length_extra(symbol);
            let value = (length & ((1 << extra) - 1)) << code.len;
            *place = (u32::from(code.bits) | value, code.len + extra as u8);
        }
    }
}

/// The length of a literal's code in the fixed code.
fn known_len(symbol: usize) -> u8 {
    match symbol {
        0..144 => 8,
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    }
}
