//! How is a password kept?
//!
//! As argon2id with 19 MiB, two passes and one lane, the least that OWASP's password storage cheat
//! sheet recommends. A check costs that much for a user who does not exist, too, so that the time
//! it takes tells nobody which names are taken.

use crate::error::{Result, StoreError};
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use std::sync::LazyLock;

/// The fewest characters of a password.
const SHORTEST: usize = 8;

/// The most bytes of a password.
const LONGEST: usize = 1_024;

/// How much memory is reserved for a hash; no more of it is used than the hash takes. glibc keeps
/// what was freed for later, and in every thread that has hashed something, but an allocation above
/// 32 MiB goes back to the system whatever went before.
const RESERVED: usize = 33 << 20;

/// The hash of a password that nobody has.
static NOBODYS: LazyLock<Option<String>> =
    LazyLock::new(|| super::secret::fresh().and_then(|password| hashed(&password)).ok());

fn params() -> Result<Params> {
    Params::new(19 * 1_024, 2, 1, None).map_err(|e| failed(&e))
}

/// The hash of a password with this salt.
fn derived(password: &str, salt: &[u8], params: &Params) -> Result<Output> {
    let mut memory = Vec::with_capacity(params.block_count().max(RESERVED / Block::SIZE));
    memory.resize(params.block_count(), Block::new());
    let mut out = [0; Params::DEFAULT_OUTPUT_LEN];
    let hasher = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
    let hash = hasher.hash_password_into_with_memory(password.as_bytes(), salt, &mut out, &mut memory);
    hash.map_err(|e| failed(&e))?;
    Output::new(&out).map_err(|e| failed(&e))
}

fn failed(error: &dyn std::fmt::Display) -> StoreError {
    StoreError::BadAccount(format!("the password cannot be hashed: {error}"))
}

/// What is stored of a password.
pub(super) fn hash(password: &str) -> Result<String> {
    if password.chars().count() < SHORTEST {
        return Err(StoreError::BadAccount(format!("a password has at least {SHORTEST} characters")));
    }
    if password.len() > LONGEST {
        return Err(StoreError::BadAccount(format!("a password has at most {LONGEST} bytes")));
    }
    hashed(password)
}

fn hashed(password: &str) -> Result<String> {
    let mut salt = [0; Salt::RECOMMENDED_LENGTH];
    getrandom::fill(&mut salt).map_err(|e| failed(&e))?;
    let (params, salt) = (params()?, Salt::new(&salt).map_err(|e| failed(&e))?);
    let hash = PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(&params).map_err(|e| failed(&e))?,
        hash: Some(derived(password, &salt, &params)?),
        salt: Some(salt),
    };
    Ok(hash.to_string())
}

/// Whether it is the password that was stored. Without one it takes as long and is not.
pub(super) fn is_right(password: &str, stored: Option<&str>) -> Result<bool> {
    let Some(hash) = stored.or(NOBODYS.as_deref()) else { return Ok(false) };
    let hash = PasswordHash::new(hash).map_err(|e| failed(&e))?;
    let params = Params::try_from(&hash).map_err(|e| failed(&e))?;
    let (Some(salt), Some(wanted)) = (hash.salt, hash.hash) else { return Ok(false) };
    // Outputs are compared in the same time wherever they differ.
    let right = password.len() <= LONGEST && derived(password, &salt, &params)? == wanted;
    Ok(right && stored.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_again_and_no_other() {
        let stored = hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(is_right("correct horse", Some(&stored)).unwrap());
        assert!(!is_right("correct horsf", Some(&stored)).unwrap());
        assert!(!is_right("correct horse", None).unwrap());
        assert_ne!(stored, hash("correct horse").unwrap(), "the salt is the same");
    }

    #[test]
    fn short_and_endless_passwords_are_refused() {
        assert!(hash("1234567").is_err() && hash(&"x".repeat(1_025)).is_err());
        assert!(hash("äöüßäöüß").is_ok());
    }
}
