//! Is this the web at all?
//!
//! Pages link to mailboxes, scripts, chat rooms and telephones. One table tells them apart before
//! anything else looks at a link, and says for the schemes that are fetched how their servers are
//! treated. To crawl one more protocol, change its line. A program that brings a protocol of its
//! own adds the scheme at run time ([`register`]).

use crate::Refused;
use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

/// How addresses of a scheme are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Fetched, with these manners.
    Fetched(Manners),
    /// A protocol that serves documents but is not crawled.
    Unsupported,
    /// Not something a server would answer with a document.
    NotWeb,
}

/// How the servers of a fetched scheme are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// The default port.
    pub port: u16,
    /// Whether a server may have a robots.txt, which is then read before anything else.
    pub robots: bool,
    /// Whether the host is a name that must be resolved before a request.
    pub resolve: bool,
}

impl Manners {
    /// The manners on this machine: there is nobody to be polite to.
    pub const fn local() -> Self {
        Self { port: 0, robots: false, resolve: false }
    }

    /// Whether the scheme names things of this machine.
    pub const fn is_local(&self) -> bool {
        !self.resolve
    }

    /// The manners of the web: robots.txt is obeyed and names are resolved.
    pub const fn web(port: u16) -> Self {
        Self { port, robots: true, resolve: true }
    }
}

/// Every recognised scheme, frequent ones first.
pub const SCHEMES: &[(&str, Treatment)] = &[
    ("https", Treatment::Fetched(Manners::web(443))),
    ("http", Treatment::Fetched(Manners::web(80))),
    ("javascript", Treatment::NotWeb),
    ("mailto", Treatment::NotWeb),
    ("data", Treatment::NotWeb),
    ("tel", Treatment::NotWeb),
    ("about", Treatment::NotWeb),
    ("blob", Treatment::NotWeb),
    ("ftp", Treatment::Fetched(Manners::web(21))),
    ("ftps", Treatment::Fetched(Manners::web(990))),
    ("sftp", Treatment::Unsupported),
    ("nntp", Treatment::Fetched(Manners { robots: false, ..Manners::web(119) })),
    ("nntps", Treatment::Fetched(Manners { robots: false, ..Manners::web(563) })),
    ("file", Treatment::Fetched(Manners::local())),
    ("ws", Treatment::Unsupported),
    ("wss", Treatment::Unsupported),
    ("news", Treatment::NotWeb),
    ("snews", Treatment::NotWeb),
    ("irc", Treatment::NotWeb),
    ("ircs", Treatment::NotWeb),
    ("telnet", Treatment::NotWeb),
    ("wais", Treatment::NotWeb),
    ("gopher", Treatment::NotWeb),
    ("sms", Treatment::NotWeb),
    ("callto", Treatment::NotWeb),
    ("skype", Treatment::NotWeb),
    ("whatsapp", Treatment::NotWeb),
    ("xmpp", Treatment::NotWeb),
    ("magnet", Treatment::NotWeb),
    ("urn", Treatment::NotWeb),
    ("cid", Treatment::NotWeb),
    ("mid", Treatment::NotWeb),
    ("vbscript", Treatment::NotWeb),
    ("view-source", Treatment::NotWeb),
    ("chrome", Treatment::NotWeb),
    ("resource", Treatment::NotWeb),
    ("intent", Treatment::NotWeb),
    ("android-app", Treatment::NotWeb),
    ("ldap", Treatment::NotWeb),
    ("geo", Treatment::NotWeb),
    ("ssh", Treatment::NotWeb),
    ("git", Treatment::NotWeb),
    ("rtsp", Treatment::NotWeb),
    ("mms", Treatment::NotWeb),
];

/// The schemes added at run time. Append-only, and read only for schemes that the table does not
/// settle, so ordinary links never take the lock.
static REGISTERED: RwLock<Vec<(&str, Manners)>> = RwLock::new(Vec::new());

/// Adds a scheme to those that are fetched, for this process. The name must be in lower case. A
/// scheme that the table already fetches keeps its manners; one that is not of the web stays out.
pub fn register(name: &'static str, manners: Manners) -> Result<(), Refused> {
    match lookup(name) {
        Some((_, Treatment::Fetched(_))) => Ok(()),
        Some((name, Treatment::NotWeb)) => Err(Refused::NotWeb { scheme: name.into() }),
        Some((_, Treatment::Unsupported)) | None => {
            REGISTERED.write().unwrap_or_else(PoisonError::into_inner).push((name, manners));
            Ok(())
        }
    }
}

/// The manners owed to the servers of a scheme. An unknown scheme gets those of the web, which are
/// the most careful.
pub fn manners_of(scheme: &str) -> Manners {
    match lookup(scheme) {
        Some((_, Treatment::Fetched(manners))) => manners,
        _ => Manners::web(0),
    }
}

/// The scheme at the start of a reference, as written; `None` for a relative reference.
///
/// Leading white space must already be trimmed. Tabs and newlines inside a scheme, which browsers
/// ignore, are not detected here: check such a reference with [`check`] after parsing.
pub fn of(reference: &str) -> Option<&str> {
    let bytes = reference.as_bytes();
    if !bytes.first()?.is_ascii_alphabetic() {
        return None;
    }
    let end = bytes.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')))?;
    (bytes[end] == b':').then(|| &reference[..end])
}

/// The table entry for a scheme, ignoring case.
pub fn lookup(scheme: &str) -> Option<(&'static str, Treatment)> {
    let listed = SCHEMES.iter().copied().find(|(name, _)| name.eq_ignore_ascii_case(scheme));
    match listed {
        Some((_, Treatment::Fetched(_) | Treatment::NotWeb)) => listed,
        Some((_, Treatment::Unsupported)) | None => registered(scheme).or(listed),
    }
}

fn registered(scheme: &str) -> Option<(&'static str, Treatment)> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    let found = registered.iter().find(|(name, _)| name.eq_ignore_ascii_case(scheme));
    found.map(|(name, manners)| (*name, Treatment::Fetched(*manners)))
}

/// The default port of a fetched scheme, or why its addresses are refused.
pub fn check(scheme: &str) -> Result<u16, Refused> {
    match lookup(scheme) {
        Some((_, Treatment::Fetched(manners))) => Ok(manners.port),
        Some((name, Treatment::Unsupported)) => Err(Refused::Unsupported { scheme: name.into() }),
        Some((name, Treatment::NotWeb)) => Err(Refused::NotWeb { scheme: name.into() }),
        None => Err(Refused::NotWeb { scheme: Cow::Owned(shortened(scheme)) }),
    }
}

/// At most 32 bytes of an unknown scheme in lower case. It is shown to people, and a page may
/// contain a megabyte of it.
fn shortened(scheme: &str) -> String {
    scheme.chars().take(32).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_ends_at_its_colon_and_is_never_guessed() {
        assert_eq!(of("https://x/"), Some("https"));
        assert_eq!(of("MAILTO:joe@x"), Some("MAILTO"));
        assert_eq!(of("a/b:c"), None);
        assert_eq!(of("?a=http://x"), None);
        assert_eq!(of("//x/y"), None);
        assert_eq!(of("1a:b"), None);
        assert_eq!(of(""), None);
        assert_eq!(of("http"), None);
        assert_eq!(of("ünï:x"), None);
    }

    #[test]
    fn each_scheme_of_the_table_is_treated_as_it_says() {
        for (name, treatment) in SCHEMES {
            let said = check(&name.to_ascii_uppercase());
            match treatment {
                Treatment::Fetched(manners) => assert_eq!(said, Ok(manners.port)),
                Treatment::Unsupported => assert_eq!(said, Err(Refused::Unsupported { scheme: (*name).into() })),
                Treatment::NotWeb => assert_eq!(said, Err(Refused::NotWeb { scheme: (*name).into() })),
            }
        }
    }

    #[test]
    fn an_unknown_scheme_is_no_web_and_its_name_is_kept_short() {
        let Err(Refused::NotWeb { scheme }) = check(&"X".repeat(1_000_000)) else { panic!("it was taken for the web") };
        assert_eq!(scheme, "x".repeat(32));
    }

    #[test]
    fn a_registered_scheme_is_fetched_and_what_is_no_web_cannot_be_registered() {
        let manners = Manners { port: 70, robots: false, resolve: true };
        assert_eq!(register("x-scheme", manners), Ok(()));
        assert_eq!((check("X-Scheme"), manners_of("x-scheme")), (Ok(70), manners));
        assert!(register("mailto", manners).is_err() && check("mailto").is_err());
        assert_eq!((register("http", manners), manners_of("http")), (Ok(()), Manners::web(80)));
    }

    #[test]
    fn an_unknown_scheme_gets_the_manners_of_the_web() {
        let manners = manners_of("y-scheme");
        assert!(manners.robots && manners.resolve);
    }
}
