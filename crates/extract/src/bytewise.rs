//! How do we compare eight bytes at once?
//!
//! SWAR (SIMD within a register) arithmetic on eight bytes in a `u64`, for the loops that inspect
//! every byte of a text. A comparison sets the high bit of each byte for which it holds. Everything
//! here is exact for all 256 values: the sums of the low seven bits never carry into the next byte
//! (Warren, Hacker's Delight, section 6-1).

const HIGH: u64 = 0x8080_8080_8080_8080;
const LOW: u64 = 0x0101_0101_0101_0101;

/// Sixteen bytes starting at `at`, zero-padded beyond the end.
#[inline]
pub(crate) fn sixteen(bytes: &[u8], at: usize) -> u128 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    match rest.first_chunk::<16>() {
        Some(sixteen) => u128::from_le_bytes(*sixteen),
        None => rest.iter().rev().fold(0, |word, &byte| (word << 8) | u128::from(byte)),
    }
}

/// Marks the bytes that are at most `most`, which must be ASCII.
#[inline]
pub(crate) const fn low(word: u64, most: u8) -> u64 {
    let sums = (word & !HIGH) + LOW * (0x7F - most as u64);
    !(sums | word) & HIGH
}

/// Marks the bytes equal to `byte`.
#[inline]
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    low(word ^ (LOW * byte as u64), 0)
}

/// Packs 64 booleans into a bit mask, the first one lowest.
///
/// A multiplication gathers eight at a time. The booleans come from vectorised comparisons, which
/// beat SWAR on eight bytes.
#[inline]
pub(crate) fn bits(marks: &[bool; 64]) -> u64 {
    let (eights, _) = marks.as_chunks::<8>();
    (0..).step_by(8).zip(eights).fold(0, |bits, (shift, eight)| {
        let word = u64::from_le_bytes(eight.map(u8::from));
        bits | (word.wrapping_mul(0x0102_0408_1020_4080) >> 56 << shift)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn comparisons_are_what_they_are_for_single_bytes(bytes: [u8; 8], most in 0u8..0x80, byte: u8) {
            let word = u64::from_le_bytes(bytes);
            for (i, b) in bytes.into_iter().enumerate() {
                prop_assert_eq!(low(word, most) >> (8 * i + 7) & 1 == 1, b <= most);
                prop_assert_eq!(equal(word, byte) >> (8 * i + 7) & 1 == 1, b == byte);
            }
            prop_assert_eq!(low(word, most) & !HIGH, 0);
        }

        #[test]
        fn bits_are_where_the_answers_are(marks: [bool; 32], more: [bool; 32]) {
            let marks: Vec<bool> = marks.into_iter().chain(more).collect();
            let bits = bits(marks.first_chunk().unwrap_or(&[false; 64]));
            for (i, mark) in marks.into_iter().enumerate() {
                prop_assert_eq!(bits >> i & 1 == 1, mark);
            }
        }

        #[test]
        fn a_word_at_the_end_is_filled_with_zeros(bytes: Vec<u8>, at in 0usize..40) {
            let mut wanted = [0; 16];
            for (place, byte) in wanted.iter_mut().zip(bytes.iter().skip(at)) {
                *place = *byte;
            }
            prop_assert_eq!(sixteen(&bytes, at), u128::from_le_bytes(wanted));
        }
    }
}
