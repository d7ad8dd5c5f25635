//! Which code makes these symbols shortest?
//!
//! A Huffman code by the two-queue method over sorted weights (van Leeuwen 1976), its lengths
//! limited to what the format allows and the code made complete again by lengthening the cheapest
//! shorter symbols; canonical, with bits reversed as DEFLATE sends them.

/// A symbol's bits, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) bits: u16,
    pub(super) len: u8,
}

/// Maximum size of an alphabet.
const MOST: usize = 288;

/// The code for symbols with these frequencies, none longer than `longest` bits.
///
/// At least two symbols get one, since decoders disagree about codes of a single symbol.
pub(super) fn code(counts: &[u32], longest: u8, codes: &mut [Code]) {
    let mut sorted = [0u32; MOST];
    let mut used = 0;
    for (symbol, &count) in counts.iter().enumerate() {
        if count > 0 {
            // A block has less than 2^22 symbols, so weight and symbol fit in one word.
            sorted[used] = count.min((1 << 22) - 1) << 9 | symbol as u32;
            used += 1;
        }
    }
    for symbol in 0.. {
        if used >= 2 {
            break;
        }
        if counts[symbol as usize] == 0 {
            sorted[used] = 1 << 9 | symbol;
            used += 1;
        }
    }
    let sorted = &mut sorted[..used];
    sorted.sort_unstable();
    let mut lengths = [0u16; 16];
    count_lengths(sorted, usize::from(longest), &mut lengths);
    codes.fill(Code::default());
    // The rarest symbols get the longest codes.
    let mut rest = sorted.iter();
    for len in (1..=longest).rev() {
        for entry in rest.by_ref().take(usize::from(lengths[usize::from(len)])) {
            codes[(entry & 511) as usize].len = len;
        }
    }
    assign(codes, &lengths);
}

/// Number of codes of each length.
fn count_lengths(sorted: &[u32], longest: usize, lengths: &mut [u16; 16]) {
    let n = sorted.len();
    let mut weights = [0u32; MOST];
    let mut parents = [0u16; 2 * MOST];
    // Leaves come first, then the inner nodes in order of creation, which is that of their weights.
    let (mut leaf, mut inner) = (0, 0);
    for made in 0..n - 1 {
        let mut take = || {
            let from_leaves = leaf < n && (inner == made || sorted[leaf] >> 9 <= weights[inner]);
            let (node, weight) = if from_leaves { (leaf, sorted[leaf] >> 9) } else { (n + inner, weights[inner]) };
            *(if from_leaves { &mut leaf } else { &mut inner }) += 1;
            parents[node] = (n + made) as u16;
            weight
        };
        weights[made] = take() + take();
    }
    let mut depths = [0u8; 2 * MOST];
    for node in (0..2 * n - 2).rev() {
        depths[node] = depths[usize::from(parents[node])].saturating_add(1);
        if node < n {
            lengths[usize::from(depths[node]).min(longest)] += 1;
        }
    }
    shorten(longest, lengths);
}

/// Repairs a code whose longest lengths were limited: each step lengthens a code, which frees slots
/// of the maximum length.
fn shorten(longest: usize, lengths: &mut [u16; 16]) {
    let taken = |lengths: &[u16; 16]| -> u32 { (1..=longest).map(|l| u32::from(lengths[l]) << (longest - l)).sum() };
    let mut over = taken(lengths).saturating_sub(1 << longest);
    while over > 0 {
        let Some(len) = (1..longest).rev().find(|&l| lengths[l] > 0) else { return };
        // One code of this length becomes one a bit longer, together with one of the longest: that
        // frees one slot.
        lengths[len] -= 1;
        lengths[len + 1] += 2;
        lengths[longest] -= 1;
        over -= 1;
    }
}

/// Canonical codes by length, then by symbol (RFC 1951, 3.2.2).
pub(super) fn assign(codes: &mut [Code], lengths: &[u16; 16]) {
    let mut next = [0u16; 16];
    for len in 1..16 {
        next[len] = (next[len - 1] + if len == 1 { 0 } else { lengths[len - 1] }) << 1;
    }
    for code in codes.iter_mut().filter(|c| c.len > 0) {
        let place = &mut next[usize::from(code.len)];
        code.bits = place.reverse_bits() >> (16 - code.len);
        *place = place.wrapping_add(1);
    }
}
