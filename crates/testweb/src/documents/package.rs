//! How are several files put into one?
//!
//! As a zip file without compression (PKWARE's APPNOTE 4.3) or as a tar file of the POSIX kind.

use crate::press::crc;

/// Files with their names, one after the other.
pub(super) type NamedFiles<N> = [(N, Vec<u8>)];

/// What the two headers of an entry of a zip file have in common: version, flags, method, time,
/// date, checksum, both sizes, the length of the name and that of the extra field.
fn facts(name: &str, bytes: &[u8]) -> Vec<u8> {
    let size = (bytes.len() as u32).to_le_bytes();
    // 1980-01-01, at midnight.
    let fixed = [20_u16, 0, 0, 0, 0x21].map(u16::to_le_bytes).concat();
    [&fixed, &crc(bytes).to_le_bytes()[..], &size, &size, &(name.len() as u16).to_le_bytes(), &[0, 0]].concat()
}

/// A zip file.
pub(super) fn zipped<N: AsRef<str>>(entries: &NamedFiles<N>) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let name = name.as_ref();
        let (facts, at) = (facts(name, bytes), out.len() as u32);
        directory.extend([b"PK\x01\x02\x14\0", &facts[..], &[0; 10], &at.to_le_bytes(), name.as_bytes()].concat());
        out.extend([b"PK\x03\x04", &facts[..], name.as_bytes(), bytes].concat());
    }
    let count = (entries.len() as u16).to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), (out.len() as u32).to_le_bytes());
    out.extend(directory);
    out.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &size, &at, &[0, 0]].concat());
    out
}

/// A tar file.
pub(super) fn tarred<N: AsRef<str>>(entries: &NamedFiles<N>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in entries {
        let mut head = [0_u8; 512];
        let mut put = |at: usize, text: &str| {
            head.iter_mut().skip(at).zip(text.bytes()).for_each(|(place, byte)| *place = byte);
        };
        put(0, name.as_ref());
        put(100, "0000644\0");
        put(124, &format!("{:011o}\0", bytes.len()));
        put(136, "00000000000\0");
        // The checksum counts as spaces while it is computed.
        put(148, "        0");
        put(257, "ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        let sum = format!("{sum:06o}\0 ");
        head.iter_mut().skip(148).zip(sum.bytes()).for_each(|(place, byte)| *place = byte);
        out.extend(head);
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1_024, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zip_file_ends_with_the_directory_of_its_entries() {
        let bytes = zipped(&[("a.txt", b"one".to_vec()), ("b.txt", b"two".to_vec())]);
        assert!(bytes.starts_with(b"PK\x03\x04"));
        let end = bytes.len() - 22;
        assert_eq!(bytes[end..end + 4], *b"PK\x05\x06");
        let at = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) as usize;
        assert_eq!(bytes[at..at + 4], *b"PK\x01\x02");
        assert_eq!(memchr::memmem::find_iter(&bytes, b"a.txt").count(), 2);
    }

    #[test]
    fn a_tar_file_consists_of_blocks_and_ends_with_two_empty_ones() {
        let bytes = tarred(&[("a.txt", b"one".to_vec())]);
        assert_eq!(bytes.len(), 4 * 512);
        assert_eq!((&bytes[257..262], &bytes[512..515]), (&b"ustar"[..], &b"one"[..]));
    }
}
