//! Which key may a server have?
//!
//! One that a file of the user's lists (`sftp.known_hosts`), or else the one that was seen first:
//! it is pinned in the project, reported once, and no other is accepted from then on. The files
//! are those of OpenSSH, which reads and writes them; we only look up what they say.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The keys of servers that are known.
#[derive(Debug, Default)]
pub struct HostKeys {
    /// The user's file. If there is one, only what it lists is accepted.
    trusted: Option<PathBuf>,
    /// The project's file, for keys seen for the first time.
    pinned: Option<PathBuf>,
    seen: Mutex<Vec<String>>,
}

impl HostKeys {
    /// The keys of a user's file, or those pinned in a project.
    pub const fn new(trusted: Option<PathBuf>, pinned: Option<PathBuf>) -> Self {
        Self { trusted, pinned, seen: Mutex::new(Vec::new()) }
    }

    /// The keys that were seen for the first time, one line each.
    pub fn first_seen(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file that OpenSSH goes by.
    pub(super) fn file(&self) -> Option<&Path> {
        self.trusted.as_deref().or(self.pinned.as_deref())
    }

    /// Whether a key is accepted that the file does not have.
    pub(super) const fn takes_new(&self) -> bool {
        self.trusted.is_none() && self.pinned.is_some()
    }

    /// The fingerprints of the keys that are known of a server, as OpenSSH writes them.
    pub(super) fn known(&self, alias: &str) -> Vec<String> {
        let text = self.file().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        text.lines().filter_map(|line| fingerprint(line, alias)).collect()
    }

    /// Reports a server of which no key was known before.
    pub(super) fn note(&self, alias: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for key in self.known(alias) {
            let line = format!("{alias} has the host key {key}, seen for the first time and pinned from now on");
            if !seen.contains(&line) {
                seen.push(line);
            }
        }
    }
}

/// The name by which a server is listed.
pub(super) fn alias_of(host: &str, port: u16) -> String {
    if port == 22 { host.to_owned() } else { format!("[{host}]:{port}") }
}

/// The fingerprint of the key in `names type base64`, if it is this server's.
fn fingerprint(line: &str, alias: &str) -> Option<String> {
    let mut words = line.split_ascii_whitespace();
    let (names, kind, key) = (words.next()?, words.next()?, words.next()?);
    if !names.split(',').any(|name| name == alias) {
        return None;
    }
    let digest = Sha256::digest(BASE64_STANDARD.decode(key).ok()?);
    Some(format!("{kind} SHA256:{}", BASE64_STANDARD_NO_PAD.encode(digest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_by_the_name_of_its_server() {
        assert_eq!(alias_of("h.test", 22), "h.test");
        assert_eq!(alias_of("h.test", 2222), "[h.test]:2222");
        let line = format!("[h.test]:2222,other ssh-rsa {} comment", BASE64_STANDARD.encode(b"key"));
        // printf key | sha256sum | xxd -r -p | base64
        let expected = "ssh-rsa SHA256:LHDhK3oGRvkiefQnx7OOczTY5Tic/xZ6HcMOc/gmtoM";
        assert_eq!(fingerprint(&line, "[h.test]:2222").as_deref(), Some(expected));
        assert_eq!(fingerprint(&line, "h.test"), None);
        assert_eq!(fingerprint("h.test ssh-rsa ***", "h.test"), None);
    }

    #[test]
    fn a_users_file_takes_no_new_keys() {
        let keys = HostKeys::new(Some("a".into()), Some("b".into()));
        assert_eq!((keys.file(), keys.takes_new()), (Some(Path::new("a")), false));
        let keys = HostKeys::new(None, Some("b".into()));
        assert_eq!((keys.file(), keys.takes_new()), (Some(Path::new("b")), true));
        assert!(HostKeys::default().file().is_none() && !HostKeys::default().takes_new());
    }
}
