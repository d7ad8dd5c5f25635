//! How does a receiver know that it was us?
//!
//! By a signature as Standard Webhooks has it (standardwebhooks.com, version 1): HMAC-SHA256 of name, time and body with a shared secret. The time
//! lets the receiver refuse what somebody recorded and plays back; the name is the same for the same delivery, so that it is taken once.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What a secret in the form that Standard Webhooks' tools print begins with; base64 follows.
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
    // A key of any length will do.
    format!("v1,{}", BASE64_STANDARD.encode(mac.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_standard() {
        // The example that the libraries of Standard Webhooks are tested with.
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
