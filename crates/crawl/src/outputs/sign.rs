//! How does a receiver know that it was us?
//!
//! By a Standard Webhooks signature (standardwebhooks.com, version 1): HMAC-SHA256 of id, time and
//! body with a shared secret. The time lets the receiver reject replays; the id is the same for the
//! same delivery, so that it is processed once.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Prefix of a secret as Standard Webhooks' tools print it; base64 follows.
const PREFIX: &str = "whsec_";

/// The value of `webhook-signature`.
pub(super) fn signature(secret: &str, id: &str, seconds: i64, body: &[u8]) -> String {
    let key = secret.strip_prefix(PREFIX).and_then(|text| BASE64_STANDARD.decode(text).ok());
    let key = key.unwrap_or_else(|| secret.as_bytes().to_vec());
    let mac = Hmac::<Sha256>::new_from_slice(&key).map(|mut mac| {
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        mac.finalize().into_bytes()
    });
    // HMAC accepts a key of any length.
    format!("v1,{}", BASE64_STANDARD.encode(mac.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_standard() {
        // The test vector of the Standard Webhooks libraries.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let body = br#"{"test": 2432232314}"#;
        let signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_ne!(
            signed,
            signature("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body)
        );
    }
}
