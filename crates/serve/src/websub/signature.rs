//! Did the hub send this?

use ring::hmac::{self, Algorithm, Key};

/// The ways to sign (WebSub, 7.1).
static WAYS: [(&str, &Algorithm); 4] = [
    ("sha1", &hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
    ("sha256", &hmac::HMAC_SHA256),
    ("sha384", &hmac::HMAC_SHA384),
    ("sha512", &hmac::HMAC_SHA512),
];

/// Whether a value of `X-Hub-Signature` is that of this body; the comparison takes as long for
/// every wrong one.
pub(crate) fn is_signed(secret: &str, signature: &str, body: &[u8]) -> bool {
    let Some((way, hex)) = signature.trim().split_once('=') else { return false };
    let Some((_, algorithm)) = WAYS.iter().find(|(name, _)| way.eq_ignore_ascii_case(name)) else { return false };
    let Some(tag) = bytes(hex) else { return false };
    hmac::verify(&Key::new(**algorithm, secret.as_bytes()), body, &tag).is_ok()
}

/// The bytes that hexadecimal digits stand for.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = hex.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let pair = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high << 4 | low).ok(),
        _ => None,
    };
    digits.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_by_a_known_way_is_believed_and_nothing_else() {
        // RFC 4231, test case 2, and RFC 2202, test case 2.
        let (secret, body) = ("Jefe", b"what do ya want for nothing?");
        let right = [
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "SHA256=5BDCC146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        ];
        assert!(right.iter().all(|signature| is_signed(secret, signature, body)));
        let first = right[0];
        for wrong in ["", "sha256=", "sha256=00", "md5=750c783e6ab0b503eaa86e310a5db738", "sha256=x", &first[7..]] {
            assert!(!is_signed(secret, wrong, body), "{wrong}");
        }
        assert!(!is_signed("jefe", first, body) && !is_signed(secret, first, b"what do ya want"));
    }
}
