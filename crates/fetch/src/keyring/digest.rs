//! How is a password proven without being sent? (RFC 7616)

use super::challenge::{Challenge, value};
use md5::Md5;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha256,
}

impl Hash {
    /// In lower-case hexadecimal.
    fn of(self, text: &str) -> String {
        let mut out = String::with_capacity(64);
        let mut hex = |bytes: &[u8]| bytes.iter().for_each(|b| _ = write!(out, "{b:02x}"));
        match self {
            Self::Md5 => hex(&Md5::digest(text)),
            Self::Sha256 => hex(&Sha256::digest(text)),
        }
        out
    }
}

/// A server's challenge, and how often it was answered.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    /// As the server wrote it, if it did.
    algorithm: Option<String>,
    hash: Hash,
    /// Whether the password hash is bound to the nonce.
    session: bool,
    /// Whether answers are counted (`qop=auth`).
    counts: bool,
    count: u32,
}

impl Digest {
    /// The challenge, if it is supported.
    pub(super) fn of(challenge: &Challenge) -> Option<Self> {
        if challenge.scheme != "digest" {
            return None;
        }
        let algorithm = challenge.get("algorithm").map(str::to_owned);
        let (hash, session) = match algorithm.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("md5") => (Hash::Md5, false),
            Some("md5-sess") => (Hash::Md5, true),
            Some("sha-256") => (Hash::Sha256, false),
            Some("sha-256-sess") => (Hash::Sha256, true),
            Some(_) => return None,
        };
        let qop = challenge.get("qop");
        if qop.is_some_and(|qop| !qop.split(',').any(|q| q.trim().eq_ignore_ascii_case("auth"))) {
            return None;
        }
        Some(Self {
            realm: challenge.realm().to_owned(),
            nonce: challenge.get("nonce")?.to_owned(),
            opaque: challenge.get("opaque").map(str::to_owned),
            algorithm,
            hash,
            session,
            counts: qop.is_some(),
            count: 0,
        })
    }

    /// Its preference.
    pub(super) fn strength(&self) -> u8 {
        if self.hash == Hash::Sha256 { 3 } else { 2 }
    }

    /// Takes the `nextnonce` of an `Authentication-Info` field.
    pub(super) fn renew(&mut self, told: &str) {
        let next = told.split(',').find_map(|part| part.trim_start().strip_prefix("nextnonce="));
        if let Some(next) = next {
            (self.nonce, self.count) = (value(next).0, 0);
        }
    }

    /// The `Authorization` value for one more request.
    pub(super) fn answer(&mut self, user: &str, password: &str, method: &str, uri: &str) -> String {
        let random = |n: u32| RandomState::new().hash_one((n, &self.nonce));
        let client = format!("{:016x}{:016x}", random(self.count), random(!self.count));
        self.answer_with(&client, (user, password), method, uri)
    }

    fn answer_with(&mut self, client: &str, (user, password): (&str, &str), method: &str, uri: &str) -> String {
        self.count = self.count.saturating_add(1);
        let Self { realm, nonce, hash, count, .. } = &*self;
        let mut own = hash.of(&format!("{user}:{realm}:{password}"));
        if self.session {
            own = hash.of(&format!("{own}:{nonce}:{client}"));
        }
        let asked = hash.of(&format!("{method}:{uri}"));
        let response = match self.counts {
            true => hash.of(&format!("{own}:{nonce}:{count:08x}:{client}:auth:{asked}")),
            false => hash.of(&format!("{own}:{nonce}:{asked}")),
        };
        let (user, realm, nonce) = (quoted(user), quoted(realm), quoted(nonce));
        let mut out = format!("Digest username={user}, realm={realm}, nonce={nonce}, uri={}", quoted(uri));
        // Writing to a string cannot fail.
        let _ = write!(out, ", response=\"{response}\"");
        if let Some(algorithm) = &self.algorithm {
            let _ = write!(out, ", algorithm={algorithm}");
        }
        if self.counts {
            let _ = write!(out, ", qop=auth, nc={count:08x}");
        }
        if self.counts || self.session {
            let _ = write!(out, ", cnonce=\"{client}\"");
        }
        if let Some(opaque) = &self.opaque {
            let _ = write!(out, ", opaque={}", quoted(opaque));
        }
        out
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::super::challenge::parse;
    use super::*;

    const NONCE: &str = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
    const CLIENT: &str = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";

    fn asked(algorithm: &str) -> Digest {
        let field = format!(
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, nonce=\"{NONCE}\", \
             opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        );
        Digest::of(&parse(&field)[0]).unwrap()
    }

    /// The example of RFC 7616, 3.9.1.
    #[test]
    fn the_example_of_the_standard_is_answered_as_it_says() {
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let answer = asked(algorithm).answer_with(CLIENT, ("Mufasa", "Circle of Life"), "GET", "/dir/index.html");
            assert!(answer.contains(&format!("response=\"{response}\"")), "{answer}");
            assert!(answer.contains("qop=auth, nc=00000001, cnonce="), "{answer}");
        }
    }

    /// The example of RFC 2069, as corrected: no `qop`, no count.
    #[test]
    fn an_old_server_is_answered_without_a_count() {
        let field =
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c\"";
        let mut digest = Digest::of(&parse(field)[0]).unwrap();
        let answer = digest.answer_with("", ("Mufasa", "CircleOfLife"), "GET", "/dir/index.html");
        assert!(answer.contains("response=\"1949323746fe6a43ef61f9606e7febea\""), "{answer}");
        assert!(!answer.contains("nc=") && !answer.contains("cnonce"));
    }

    #[test]
    fn answers_are_counted_until_there_is_a_new_nonce() {
        let mut digest = asked("MD5");
        let mut nc = || {
            let answer = digest.answer("u", "p", "GET", "/");
            answer.split("nc=").nth(1).unwrap()[..8].to_owned()
        };
        assert_eq!([nc(), nc()], ["00000001", "00000002"]);
        digest.renew("qop=auth, nextnonce=\"new\", rspauth=\"x\"");
        assert!(digest.answer("u", "p", "GET", "/").contains("nonce=\"new\""));
        assert_eq!(digest.count, 1);
    }

    #[test]
    fn what_cannot_be_answered_is_no_question() {
        for field in [
            "Digest realm=\"r\"",
            "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256",
            "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"",
            "Basic realm=\"r\", nonce=\"n\"",
        ] {
            assert!(Digest::of(&parse(field)[0]).is_none(), "{field}");
        }
    }
}
