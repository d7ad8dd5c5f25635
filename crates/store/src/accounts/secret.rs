//! How is a secret made, and how is it kept?
//!
//! A session id or token is 256 random bits. The store keeps its SHA-256 digest: whoever reads the
//! database learns no secret, and guessing one is hopeless, so a slow hash would protect nothing.
//! It is looked up by its digest, so how long the look-up takes says nothing about a secret.

use crate::error::{Result, StoreError};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A new secret of 256 random bits, in hexadecimal digits.
pub fn fresh() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| StoreError::BadAccount(format!("there are no random numbers: {e}")))?;
    Ok(bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// What is stored of a secret.
pub(super) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_different() {
        let (a, b) = (fresh().unwrap(), fresh().unwrap());
        assert!(a.len() == 64 && a != b && digest(&a) != digest(&b));
    }
}
