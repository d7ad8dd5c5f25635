//! Is there anything left to compress?
//!
//! Compressed bytes are uniformly distributed. Two random bytes of them are equal about once in 256
//! times; in text, markup and tables far more often (Friedman's index of coincidence, 1922). A
//! sample tells in two microseconds what a compressor would find out in fifty. Dense bytes become a
//! gzip member of stored blocks (RFC 1951, 3.2.4).

/// Size of the sample in bytes.
pub(super) const SAMPLE: usize = 2_048;
/// How much more likely than in noise two bytes may be equal: at 1.5 times, no code for single
/// bytes saves more than 7 %.
const LIKELIER: (u64, u64) = (3, 2);
/// Maximum bytes of one stored block.
const BLOCK: usize = 0xFFFF;

/// Whether compression would gain next to nothing, judging from a sample in the middle.
pub(super) fn is_dense(bytes: &[u8]) -> bool {
    let from = bytes.len().saturating_sub(SAMPLE) / 2;
    let sample = bytes.get(from..).unwrap_or(&[]);
    let Some(sample) = sample.get(..SAMPLE) else { return false };
    let mut counts = [0u16; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    let pairs: u64 = counts.iter().map(|&n| u64::from(n) * u64::from(n.saturating_sub(1))).sum();
    let n = SAMPLE as u64;
    pairs * 256 * LIKELIER.1 < n * (n - 1) * LIKELIER.0
}

/// Appends a gzip member that stores the bytes uncompressed.
pub(super) fn store(raw: &[u8], out: &mut Vec<u8>) {
    const HEAD: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 4, 0xFF];
    out.reserve(raw.len() + raw.len() / BLOCK * 5 + 32);
    out.extend_from_slice(&HEAD);
    let mut rest = raw;
    loop {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(after.is_empty()));
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&(!len).to_le_bytes());
        out.extend_from_slice(block);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let mut crc = libdeflater::Crc::new();
    crc.update(raw);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    // The format keeps the length modulo 2^32.
    out.extend_from_slice(&(raw.len() as u32).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn what_is_stored_comes_back_as_it_was() {
        for len in [0, 1, 2_047, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let raw = noise(len);
            let mut out = Vec::new();
            store(&raw, &mut out);
            let mut back = Vec::new();
            flate2::read::GzDecoder::new(out.as_slice()).read_to_end(&mut back).unwrap();
            assert_eq!(back, raw, "{len} bytes");
        }
    }

    #[test]
    fn compressed_bytes_are_dense_and_text_is_not() {
        let text = include_bytes!("density.rs");
        assert!(!is_dense(text));
        assert!(is_dense(&noise(5_000)));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        std::io::Write::write_all(&mut gzip, text).unwrap();
        for seed in 0..4_000u32 {
            std::io::Write::write_all(&mut gzip, format!("{} ", seed.wrapping_mul(2_654_435_761)).as_bytes()).unwrap();
        }
        assert!(is_dense(&gzip.finish().unwrap()));
    }

    #[test]
    fn what_is_short_or_of_few_values_is_not_dense() {
        assert!(!is_dense(&noise(SAMPLE - 1)));
        assert!(!is_dense(&noise(SAMPLE * 2).iter().map(|b| b & 0x3F).collect::<Vec<_>>()));
        assert!(!is_dense(b""));
    }
}
