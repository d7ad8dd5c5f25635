//! Is this host one of half a million domains, or a subdomain of one?
//!
//! All names lie back to back in one string; a hash table holds their offsets. A host is looked up
//! whole, then without its first label, and so on: a handful of probes whatever the size of the
//! list, and no allocation.

use super::ScopeError;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Maximum length of a domain name in the DNS.
const LONGEST_NAME: usize = 253;

/// A set of domains, each of which covers itself and all its subdomains.
#[derive(Clone, Debug, Default)]
pub struct DomainSet {
    names: String,
    places: HashTable<NameRange>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug)]
struct NameRange {
    start: u32,
    len: u8,
}

impl DomainSet {
    /// Reads a file with one name per line. Blank lines and `#` comments are skipped.
    pub fn read_file(path: &Path) -> Result<Self, ScopeError> {
        let failed = |source| ScopeError::DomainsFile { path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut set = Self::default();
        for (index, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(failed)?;
            let line = line.trim_start_matches('\u{feff}');
            let name = line.split('#').next().unwrap_or_default().trim();
            if !name.is_empty() {
                set.insert(name).map_err(|name| ScopeError::DomainsLine {
                    path: path.into(),
                    line: index + 1,
                    name,
                })?;
            }
        }
        Ok(set)
    }

    /// Adds a name in any case, international or not, with or without a leading dot or `*.`.
    /// Returns the name if it is invalid.
    pub fn insert(&mut self, name: &str) -> Result<(), String> {
        let bare = name.trim().trim_start_matches('*').trim_start_matches('.').trim_end_matches('.');
        let plain = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_');
        if bare.bytes().all(plain) && bare.bytes().any(|b| b.is_ascii_lowercase()) {
            self.insert_plain(bare).ok_or_else(|| name.to_owned())
        } else {
            let is_ipv6 = bare.contains(':') && !bare.starts_with('[');
            let written = if is_ipv6 { format!("[{bare}]") } else { bare.to_owned() };
            let host = url::Host::parse(&written).map_err(|_| name.to_owned())?.to_string();
            self.insert_plain(host.trim_matches(['[', ']'])).ok_or_else(|| name.to_owned())
        }
    }

    /// Whether a host is one of the domains or a subdomain of one. Expects the host as
    /// [`crate::Address::host`] returns it.
    pub fn contains(&self, host: &str) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let mut rest = host;
        loop {
            if rest.len() <= LONGEST_NAME && self.has(rest) {
                return true;
            }
            match memchr::memchr(b'.', rest.as_bytes()) {
                Some(dot) => rest = &rest[dot + 1..],
                None => return false,
            }
        }
    }

    /// Number of domains.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn has(&self, name: &str) -> bool {
        self.places.find(self.hasher.hash_one(name), |place| place.of(&self.names) == name).is_some()
    }

    fn insert_plain(&mut self, name: &str) -> Option<()> {
        let len = u8::try_from(name.len()).ok().filter(|&len| len > 0 && usize::from(len) <= LONGEST_NAME)?;
        let place = NameRange { start: u32::try_from(self.names.len()).ok()?, len };
        if !self.has(name) {
            self.names.push_str(name);
            let (names, hasher) = (&self.names, &self.hasher);
            self.places.insert_unique(hasher.hash_one(name), place, |p| hasher.hash_one(p.of(names)));
        }
        Some(())
    }
}

impl NameRange {
    fn of(self, names: &str) -> &str {
        let start = self.start as usize;
        &names[start..start + usize::from(self.len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> DomainSet {
        let mut set = DomainSet::default();
        for name in names {
            set.insert(name).unwrap();
        }
        set
    }

    #[test]
    fn a_domain_holds_itself_and_what_is_below_it() {
        let set = set(&["example.com", ".It", "*.gov.si", "bücher.example", "10.0.0.1", "::1", "1and1.de"]);
        for host in
            ["example.com", "a.b.example.com", "x.it", "it", "www.gov.si", "xn--bcher-kva.example", "10.0.0.1", "::1"]
        {
            assert!(set.contains(host), "{host}");
        }
        for host in ["com", "badexample.com", "example.com.evil", "x.itt", "si", "1.10.0.0", "", "."] {
            assert!(!set.contains(host), "{host}");
        }
    }

    #[test]
    fn what_is_no_name_is_given_back() {
        let mut set = DomainSet::default();
        for name in ["", ".", "a b", "http://x/", "[::1", &"a.".repeat(200)] {
            assert_eq!(set.insert(name), Err(name.to_owned()));
        }
        assert!(set.is_empty());
    }

    #[test]
    fn half_a_million_domains_are_all_found_and_nothing_else() {
        let mut set = DomainSet::default();
        for i in 0..500_000 {
            set.insert(&format!("site{i}.example")).unwrap();
            set.insert(&format!("SITE{i}.example")).unwrap();
        }
        assert_eq!(set.len(), 500_000);
        for i in (0..500_000).step_by(7) {
            assert!(set.contains(&format!("www.site{i}.example")));
            assert!(!set.contains(&format!("www.site{i}.test")));
        }
        assert!(!set.contains("site500000.example"));
    }

    #[test]
    fn a_host_of_thousands_of_labels_is_answered_at_once() {
        assert!(set(&["example"]).contains(&format!("{}example", "a.".repeat(4000))));
    }
}
