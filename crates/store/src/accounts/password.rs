//! How is a password kept?
//!
//! As argon2id with 19 MiB, two passes and one lane, the least that OWASP's password storage cheat
//! sheet recommends. A check costs that much for a user who does not exist, too, so that the time
//! it takes tells nobody which names are taken.

use crate::error::{Result, StoreError};
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use std::sync::LazyLock;

/// The fewest characters of a password.
const SHORTEST: usize = 8;

/// The most bytes of a password.
const LONGEST: usize = 1_024;

/// The hash of a password that nobody has.
static NOBODYS: LazyLock<Option<String>> =
    LazyLock::new(|| super::secret::fresh().and_then(|password| hashed(&password)).ok());

fn hasher() -> Result<Argon2<'static>> {
    let params = Params::new(19 * 1_024, 2, 1, None).map_err(|e| failed(&e))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
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
    hasher()?.hash_password(password.as_bytes()).map(|hash| hash.to_string()).map_err(|e| failed(&e))
}

/// Whether it is the password that was stored. Without one it takes as long and is not.
pub(super) fn is_right(password: &str, stored: Option<&str>) -> Result<bool> {
    let Some(hash) = stored.or(NOBODYS.as_deref()) else { return Ok(false) };
    let hash = PasswordHash::new(hash).map_err(|e| failed(&e))?;
    let right = password.len() <= LONGEST && hasher()?.verify_password(password.as_bytes(), &hash).is_ok();
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
