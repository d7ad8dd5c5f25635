//! Is this the web at all?
//!
//! Pages link to mailboxes, scripts, chat rooms and telephones. One table tells them apart before
//! anything else looks at a link. To crawl one more protocol, change its line.

use crate::Refused;
use std::borrow::Cow;

/// How addresses of a scheme are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// Fetched; holds the default port.
    Fetched(u16),
    /// A protocol that serves documents but is not crawled.
    Unsupported,
    /// Not something a server would answer with a document.
    NotWeb,
}

/// Every recognised scheme, frequent ones first.
pub const SCHEMES: &[(&str, Treatment)] = &[
    ("https", Treatment::Fetched(443)),
    ("http", Treatment::Fetched(80)),
    ("javascript", Treatment::NotWeb),
    ("mailto", Treatment::NotWeb),
    ("data", Treatment::NotWeb),
    ("tel", Treatment::NotWeb),
    ("about", Treatment::NotWeb),
    ("blob", Treatment::NotWeb),
    ("ftp", Treatment::Unsupported),
    ("ftps", Treatment::Unsupported),
    ("sftp", Treatment::Unsupported),
    ("nntp", Treatment::Unsupported),
    ("nntps", Treatment::Unsupported),
    ("file", Treatment::Unsupported),
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
    SCHEMES.iter().copied().find(|(name, _)| name.eq_ignore_ascii_case(scheme))
}

/// The default port of a fetched scheme, or why its addresses are refused.
pub fn check(scheme: &str) -> Result<u16, Refused> {
    match lookup(scheme) {
        Some((_, Treatment::Fetched(port))) => Ok(port),
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
                Treatment::Fetched(port) => assert_eq!(said, Ok(*port)),
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
}
