//! What was there before?
//!
//! One table from the hash of five bytes to the last place they stood at, modulo 2^16. A place read from it is never trusted but compared,
//! so that it needs no mark for emptiness and no care for what has grown too old.

/// Bits of a hash: 8,192 entries of two bytes.
const HASH_BITS: u32 = 13;
/// The longest match that can be written.
pub(super) const LONGEST: usize = 258;
/// The furthest that can be pointed back.
const FURTHEST: usize = 32 << 10;

/// Some literals, then a match: `length` 0 where the block ends after them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) literals: u16,
    pub(super) length: u16,
    pub(super) distance: u16,
}

/// Literals, the end of the block, lengths.
pub(super) const LITERALS: usize = 288;
/// Distances.
pub(super) const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub(super) const END: usize = 256;

/// For each length less three: its symbol less 257.
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

/// The symbol of a distance less one, and how many extra bits it has.
#[inline]
pub(super) fn distance_symbol(distance: u16) -> (usize, u32) {
    if distance < 2 {
        return (usize::from(distance), 0);
    }
    let log = distance.ilog2();
    ((2 * log + (u32::from(distance) >> (log - 1) & 1)) as usize, log - 1)
}

/// How often each symbol occurs.
pub(super) struct Counts {
    pub(super) literals: [u32; LITERALS],
    pub(super) distances: [u32; DISTANCES],
}

/// What a block consists of.
pub(super) struct Walked {
    pub(super) steps: Vec<Step>,
    pub(super) counts: Counts,
}

/// Finds what repeats.
pub(super) struct Finder {
    last: Box<[u16; 1 << HASH_BITS]>,
    walked: Walked,
}

impl Finder {
    pub(super) fn new() -> Self {
        let counts = Counts { literals: [0; LITERALS], distances: [0; DISTANCES] };
        Self { last: Box::new([0; 1 << HASH_BITS]), walked: Walked { steps: Vec::new(), counts } }
    }

    /// Begins another text.
    pub(super) fn forget(&mut self) {
        self.last.fill(0);
    }

    /// The literals and matches of `raw[from..to]`, which may point back before it.
    ///
    /// Where a match ends is known only after two look-ups that wait for each other; counting fills the time.
    pub(super) fn walk(&mut self, raw: &[u8], from: usize, to: usize) -> &Walked {
        let Walked { steps, counts } = &mut self.walked;
        let last: &mut [u16; 1 << HASH_BITS] = &mut self.last;
        steps.clear();
        counts.literals.fill(0);
        counts.distances.fill(0);
        let raw = &raw[..to];
        let (mut at, mut literals_from) = (from, from);
        while let Some(here) = sixteen_at(raw, at) {
            let place = &mut last[hash(here)];
            let back = usize::from((at as u16).wrapping_sub(*place));
            *place = at as u16;
            // Nothing lies before the beginning, nor can more than the furthest be said.
            let before = at.wrapping_sub(back);
            let there = if back.wrapping_sub(1) < FURTHEST { sixteen_at(raw, before) } else { None };
            let differing = there.map_or(1, |there| here ^ there);
            if differing as u32 != 0 {
                counts.literals[usize::from(here as u8)] += 1;
                at += 1;
                continue;
            }
            let length =
                if differing == 0 { length(raw, at, before) } else { (differing.trailing_zeros() / 8) as usize };
            let step = Step::new(at - literals_from, length, back);
            counts.literals[257 + usize::from(LENGTH_SYMBOL[usize::from((step.length - 3) as u8)])] += 1;
            counts.distances[distance_symbol(step.distance).0] += 1;
            steps.push(step);
            if let Some(within) = sixteen_at(raw, at + 1) {
                last[hash(within)] = (at + 1) as u16;
            }
            at += length;
            literals_from = at;
        }
        raw[at..].iter().for_each(|&byte| counts.literals[usize::from(byte)] += 1);
        counts.literals[END] = 1;
        steps.push(Step::new(to - literals_from, 0, 0));
        &self.walked
    }
}

impl Step {
    #[inline]
    fn new(literals: usize, length: usize, back: usize) -> Self {
        // A block is shorter than 2^16, a match than 2^9.
        Self { literals: literals as u16, length: length as u16, distance: back.wrapping_sub(1) as u16 }
    }
}

/// How long the text at `at` goes on like that at `before`, where the first sixteen bytes are known to.
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
