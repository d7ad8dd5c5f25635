//! How does a file look that was cut off or damaged on its way?

/// The beginning of a file, cut off at the `n`th of `of` places.
pub(crate) fn cut(bytes: &[u8], n: u64, of: u64) -> Vec<u8> {
    let len = bytes.len() as u64 * n / of;
    bytes.iter().take(usize::try_from(len).unwrap_or(0)).copied().collect()
}

/// A copy with 1 to 12 bytes changed, the same for the same number.
pub(crate) fn changed(bytes: &[u8], n: u64) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    if copy.is_empty() {
        return copy;
    }
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(bytes.len() as u64) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..=random() % 12 {
        // Half of the changes hit the first kilobyte, where the headers are.
        let within = if random() % 2 == 0 { copy.len() } else { copy.len().min(1_024) };
        let place = usize::try_from(random() % within as u64).unwrap_or(0);
        copy[place] = u8::try_from(random() & 0xFF).unwrap_or(0);
    }
    copy
}
