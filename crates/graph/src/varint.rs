//! How is a number written in few bytes?
//!
//! As LEB128: seven bits per byte, lowest first; the high bit says that more follow.

use std::io::{self, BufRead};

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Removes a number from the front of `bytes`; `None` if it is incomplete.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut n, mut shift) = (0u64, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        n |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(n);
        }
        shift += 7;
    }
}

/// Reads a number; `None` at the end of the input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let buffered = input.fill_buf()?;
    if buffered.is_empty() {
        return Ok(None);
    }
    // Fast path: the whole number is nearly always in the buffer.
    if buffered.len() >= 10 || buffered.last().is_some_and(|b| *b < 0x80) {
        let mut rest = buffered;
        let n = take(&mut rest).ok_or(io::ErrorKind::InvalidData)?;
        let used = buffered.len() - rest.len();
        input.consume(used);
        return Ok(Some(n));
    }
    let mut bytes = Vec::with_capacity(10);
    while bytes.len() < 10 && bytes.last().is_none_or(|b| *b >= 0x80) {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        bytes.push(byte[0]);
    }
    take(&mut bytes.as_slice()).map(Some).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn numbers_come_back_whatever_the_buffer() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), 1 << 40, u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|n| put(&mut bytes, *n));
        for capacity in 1..20 {
            let mut input = BufReader::with_capacity(capacity, bytes.as_slice());
            let mut back = Vec::new();
            while let Some(n) = read(&mut input).unwrap() {
                back.push(n);
            }
            assert_eq!(back, numbers);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert!(read(&mut BufReader::new([0x80u8; 20].as_slice())).is_err());
        assert!(read(&mut BufReader::new([0x80u8; 3].as_slice())).is_err());
        assert_eq!(take(&mut [0xffu8; 4].as_slice()), None);
    }
}
