//! Can a document be opened that is encrypted, but has no password of its own?
//!
//! Excel encrypts a workbook whose structure is protected, with a password that everybody knows. So
//! such a document is no secret, and everybody's Excel shows it. Only what Office 2007 wrote is
//! opened here ([MS-OFFCRYPTO] 2.3.4.5, ECMA-376 standard encryption).

use crate::compound::CompoundFile;
use crate::package::{u16_at, u32_at};
use aes::Aes128;
use aes::cipher::{Block, BlockCipherDecrypt as _, KeyInit as _};
use sha1::{Digest as _, Sha1};

/// The password that everybody knows.
const PASSWORD: &str = "VelvetSweatshop";
/// How often a password is digested.
const ROUNDS: u32 = 50_000;
/// The number of AES with a key of 128 bits.
const AES_128: u32 = 0x660E;

/// The zip file in an encrypted document; `None` if it takes a password to open it.
pub(crate) fn opened(file: &CompoundFile<'_>) -> Option<Vec<u8>> {
    let key = key(&file.stream("EncryptionInfo")?)?;
    let package = file.stream("EncryptedPackage")?;
    let size = usize::try_from(u64::from_le_bytes(*package.first_chunk()?)).ok()?;
    let mut plain = package.get(8..)?.to_vec();
    decrypt(&key, &mut plain);
    plain.truncate(size);
    plain.starts_with(b"PK").then_some(plain)
}

/// The key that the known password gives, if it is the right one.
fn key(info: &[u8]) -> Option<Aes128> {
    let (major, minor) = (u16_at(info, 0)?, u16_at(info, 2)?);
    if !(2..=4).contains(&major) || minor != 2 {
        return None;
    }
    let header = u32_at(info, 8)? as usize;
    if u32_at(info, 12 + 8)? != AES_128 {
        return None;
    }
    let rest = info.get(12usize.checked_add(header)?..)?;
    let (salt, verifier, digest) = (rest.get(4..20)?, rest.get(20..36)?, rest.get(40..72)?);
    let key = Aes128::new(&key_of(PASSWORD, salt).into());
    let (mut verifier, mut digest) = (verifier.to_vec(), digest.to_vec());
    decrypt(&key, &mut verifier);
    decrypt(&key, &mut digest);
    digest.starts_with(&sha1(&verifier)).then_some(key)
}

/// The key of a password.
fn key_of(password: &str, salt: &[u8]) -> [u8; 16] {
    let wide: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut digest = sha1(&[salt, &wide].concat());
    let mut message = [0; 24];
    for round in 0..ROUNDS {
        message[..4].copy_from_slice(&round.to_le_bytes());
        message[4..].copy_from_slice(&digest);
        digest = sha1(&message);
    }
    message[..20].copy_from_slice(&digest);
    message[20..].fill(0);
    let digest = sha1(&message);
    let mut mask = [0x36; 64];
    mask.iter_mut().zip(digest).for_each(|(byte, digest)| *byte ^= digest);
    let long = sha1(&mask);
    std::array::from_fn(|place| long[place])
}

fn sha1(message: &[u8]) -> [u8; 20] {
    Sha1::digest(message).into()
}

/// Decrypts block by block; what is left at the end stays as it is.
fn decrypt(key: &Aes128, bytes: &mut [u8]) {
    let (blocks, _) = Block::<Aes128>::slice_as_chunks_mut(bytes);
    key.decrypt_blocks(blocks);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compound::tests::compound;
    use crate::package::tests::zipped;
    use crate::{Content, extract};
    use aes::cipher::BlockCipherEncrypt as _;

    /// A document that is encrypted with a password.
    fn locked(password: &str, document: &[u8]) -> Vec<u8> {
        let salt = [7; 16];
        let key = Aes128::new(&key_of(password, &salt).into());
        let encrypted = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes.resize(bytes.len().next_multiple_of(16), 0);
            key.encrypt_blocks(Block::<Aes128>::slice_as_chunks_mut(&mut bytes).0);
            bytes
        };
        let mut info = vec![3, 0, 2, 0, 0x24, 0, 0, 0, 32, 0, 0, 0];
        for value in [0x24, 0, AES_128, 0x8004, 128, 0x18, 0, 0u32] {
            info.extend(value.to_le_bytes());
        }
        info.extend([16, 0, 0, 0]);
        info.extend(salt);
        info.extend(encrypted(&[9; 16]));
        info.extend([20, 0, 0, 0]);
        info.extend(encrypted(&sha1(&[9; 16])));
        let mut package = (document.len() as u64).to_le_bytes().to_vec();
        package.extend(encrypted(document));
        compound(&[("EncryptionInfo", &info), ("EncryptedPackage", &package)])
    }

    #[test]
    fn a_document_without_a_password_of_its_own_is_read() {
        let letter = zipped(&[
            ("[Content_Types].xml", b"<Types/>"),
            ("word/document.xml", b"<w:document><w:p><w:r><w:t>for everybody</w:t></w:r></w:p></w:document>"),
        ]);
        let read = |password| {
            extract(&Content {
                bytes: &locked(password, &letter),
                mime: None,
                charset: None,
                url: "http://a.example/x",
            })
        };
        let doc = read(PASSWORD);
        assert_eq!(doc.text, "for everybody");
        assert!(doc.mime.ends_with("wordprocessingml.document") && doc.problems.is_empty(), "{doc:?}");
        let doc = read("another");
        assert_eq!((doc.text.as_str(), doc.mime.as_str()), ("", "application/encrypted"));
        assert_eq!(doc.problems[0].code, "encrypted");
    }
}
